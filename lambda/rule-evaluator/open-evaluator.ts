import { uuidv7 } from 'uuidv7';
import { openServiceKeys } from '../data/accounts/service-keys.ts';
import { openUsers } from '../data/accounts/users.ts';
import { openAlertDeliveries } from '../data/alerts/alert-deliveries.ts';
import { openAlerts } from '../data/alerts/alerts.ts';
import { openEvaluationProgress } from '../data/alerts/evaluation-progress.ts';
import { openRules } from '../data/alerts/rules.ts';
import { openSpend } from '../data/spend/spend.ts';
import type { Table } from '../data/table/table.ts';
import { type DeliveryDependencies, deliverAlert } from './deliver-alert.ts';
import { evaluateAccount } from './evaluate-account.ts';
import { type RunDependencies, runEvaluator } from './run.ts';

type EvaluatorOptions = Pick<DeliveryDependencies, 'sendMail' | 'postWebhook' | 'dashboardUrl' | 'now'> &
  Partial<Pick<DeliveryDependencies, 'users'>> &
  Pick<RunDependencies, 'logger'>;

/** The evaluator over one table. The options say how it sends mail and webhooks. */
export const openEvaluator = (
  table: Table,
  { now, logger, users = openUsers(table), ...sending }: EvaluatorOptions,
) => {
  const rules = openRules(table);
  const deliveries = openAlertDeliveries(table);
  return runEvaluator({
    rules,
    deliveries,
    progress: openEvaluationProgress(table),
    evaluate: evaluateAccount({
      readCounters: openSpend(table).read,
      alerts: openAlerts(table),
      keys: openServiceKeys(table),
      newAlertId: uuidv7,
    }),
    deliver: deliverAlert({ deliveries, rules, users, now, ...sending }),
    now,
    logger,
  });
};
