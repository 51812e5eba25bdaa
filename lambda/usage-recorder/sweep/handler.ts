import { Metrics } from '@aws-lambda-powertools/metrics';
import { openAccountTerms } from '../../data/accounts/account-terms.ts';
import { openOutbox } from '../../data/ledger/outbox.ts';
import { openModelUse } from '../../data/prices/model-use.ts';
import { openTable } from '../../data/table/table.ts';
import { sweepEnvironment } from '../../environment.ts';
import { queueSender } from '../../integrations/queue-sender.ts';
import { onSchedule } from '../../on-schedule.ts';
import { modelUse, useObservers, withObservers } from '../observers.ts';
import { newestBook, openRecorder } from '../recorder.ts';
import { budgetJudging } from '../request-judging.ts';
import { traffic } from '../traffic.ts';
import { openValueAlerts } from '../value-alerts.ts';
import { sweepOutbox } from './sweep-outbox.ts';

const { TABLE_NAME, JOB_QUEUE_URL } = sweepEnvironment.parse(process.env);
const table = openTable(TABLE_NAME);
const accountTerms = openAccountTerms(table);
const { logger, metrics, handlerOf } = onSchedule('usage-sweep');
const sweep = sweepOutbox({
  outbox: openOutbox(table),
  record: withObservers(
    openRecorder(table, { logger, accountTerms, loadBook: newestBook(table, { logger, metrics }) }),
    [
      budgetJudging({ accountTerms, send: queueSender(JOB_QUEUE_URL) }),
      openValueAlerts(table),
      ...useObservers(table),
      modelUse(openModelUse(table).note),
      traffic(() => new Metrics({ serviceName: 'gateway' })),
    ],
    logger,
  ),
  logger,
  metrics,
  now: Date.now,
});

/** Runs every minute: records the usage events that the gateway wrote to the outbox while the queue was down. */
export const handler = handlerOf(sweep);
