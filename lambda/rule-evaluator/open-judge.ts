import { uuidv7 } from 'uuidv7';
import type * as z from 'zod/mini';
import { openProjects } from '../data/accounts/projects.ts';
import { openServiceKeys } from '../data/accounts/service-keys.ts';
import { openUsers } from '../data/accounts/users.ts';
import { openAlertDeliveries } from '../data/alerts/alert-deliveries.ts';
import { openAlerts } from '../data/alerts/alerts.ts';
import { openBlocks } from '../data/alerts/blocks.ts';
import { openEvaluationProgress } from '../data/alerts/evaluation-progress.ts';
import { openMeasures } from '../data/alerts/measures.ts';
import { openRules } from '../data/alerts/rules.ts';
import { openReservations } from '../data/ledger/reservations.ts';
import { openReports } from '../data/reports/reports.ts';
import { openSessions } from '../data/spend/sessions.ts';
import { openSpend } from '../data/spend/spend.ts';
import type { Table } from '../data/table/table.ts';
import { type DeliveryDependencies, deliverAlert } from './deliver-alert.ts';
import { deliverPending, type PendingDependencies } from './deliver-pending.ts';
import { type EvaluationDependencies, evaluateAccount } from './evaluate-account.ts';
import type { jobSchema } from './job.ts';
import { type JudgeReport, judgeAccount } from './judge-rules.ts';
import { type JudgeDependencies, judgeShards } from './judge-shards.ts';

/** The repositories that judging an account reads and writes, over one table. */
export const evaluationDependencies = (table: Table) =>
  ({
    readCounters: openSpend(table).read,
    alerts: openAlerts(table),
    blocks: openBlocks(table),
    reservations: openReservations(table),
    measures: openMeasures(table),
    keys: openServiceKeys(table),
    projects: openProjects(table),
    readSessions: openSessions(table).read,
    newAlertId: uuidv7,
  }) satisfies EvaluationDependencies;

export type DeliveryOptions = Pick<DeliveryDependencies, 'sendMail' | 'postWebhook' | 'dashboardUrl' | 'now'> &
  Partial<Pick<DeliveryDependencies, 'users'>>;

/** Sends an alert or report of one table. The options say how mails and webhooks are sent. */
const openDelivery = (table: Table, { users = openUsers(table), ...options }: DeliveryOptions) =>
  deliverAlert({
    deliveries: openAlertDeliveries(table),
    rules: openRules(table),
    reports: openReports(table),
    users,
    ...options,
  });

/** Delivers the pending alerts and reports of one table. */
export const openPending = (table: Table, options: DeliveryOptions & Pick<PendingDependencies, 'logger'>) =>
  deliverPending({
    deliveries: openAlertDeliveries(table),
    deliver: openDelivery(table, options),
    now: options.now,
    logger: options.logger,
  });

/** Judges the rules of one table, by jobs of both kinds. The options say how what fires is sent, and where jobs go. */
export const openJudge = (table: Table, options: DeliveryOptions & Pick<JudgeDependencies, 'logger' | 'send'>) => {
  const shared = {
    rules: openRules(table),
    progress: openEvaluationProgress(table),
    measures: openMeasures(table),
    evaluate: evaluateAccount(evaluationDependencies(table)),
    deliver: openDelivery(table, options),
    now: options.now,
    logger: options.logger,
  };
  const ofShards = judgeShards({ ...shared, send: options.send });
  const ofAccount = judgeAccount(shared);
  return (job: z.infer<typeof jobSchema>, remainingMs: () => number): Promise<JudgeReport> =>
    'accountId' in job ? ofAccount(job) : ofShards(job, remainingMs);
};
