import { uuidv7 } from 'uuidv7';
import { serviceKeyRepository } from '../data/accounts/service-keys.ts';
import { userRepository } from '../data/accounts/users.ts';
import { alertDeliveryRepository } from '../data/alerts/alert-deliveries.ts';
import { alertRepository } from '../data/alerts/alerts.ts';
import { ruleRepository } from '../data/alerts/rules.ts';
import { spendReader } from '../data/spend/spend.ts';
import type { Table } from '../data/table/table.ts';
import { type DeliveryDependencies, deliverAlert } from './deliver-alert.ts';
import { evaluateAccount } from './evaluate-account.ts';
import { type RunDependencies, runEvaluator } from './run.ts';

type EvaluatorOptions = Pick<DeliveryDependencies, 'sendMail' | 'postWebhook' | 'dashboardUrl' | 'now'> &
  Partial<Pick<DeliveryDependencies, 'users'>> &
  Pick<RunDependencies, 'logger'>;

/** The evaluator over one table: what the schedule starts, told how to send. */
export const openEvaluator = (
  table: Table,
  { now, logger, users = userRepository(table), ...sending }: EvaluatorOptions,
) => {
  const rules = ruleRepository(table);
  const deliveries = alertDeliveryRepository(table);
  return runEvaluator({
    rules,
    deliveries,
    evaluate: evaluateAccount({
      readCells: spendReader(table).cells,
      alerts: alertRepository(table),
      keys: serviceKeyRepository(table),
      newAlertId: uuidv7,
    }),
    deliver: deliverAlert({ deliveries, rules, users, now, ...sending }),
    now,
    logger,
  });
};
