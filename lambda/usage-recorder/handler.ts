import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import type { SQSHandler } from 'aws-lambda';
import { openAccountTerms } from '../data/accounts/account-terms.ts';
import { openModelUse } from '../data/prices/model-use.ts';
import { openPriceDrift } from '../data/prices/price-drift.ts';
import { openTable } from '../data/table/table.ts';
import { recorderEnvironment } from '../environment.ts';
import { queueSender, textSender } from '../integrations/queue-sender.ts';
import { consumeMessages } from './consume-messages.ts';
import { modelUse, reportedCosts, useObservers, withObservers } from './observers.ts';
import { newestBook, openRecorder } from './recorder.ts';
import { budgetJudging } from './request-judging.ts';
import { traffic } from './traffic.ts';
import { openValueAlerts } from './value-alerts.ts';

const { TABLE_NAME, JOB_QUEUE_URL, DEAD_LETTER_QUEUE_URL } = recorderEnvironment.parse(process.env);
const logger = new Logger({ serviceName: 'usage-recorder' });
const metrics = new Metrics({ serviceName: 'usage-recorder' });
const table = openTable(TABLE_NAME);
const accountTerms = openAccountTerms(table);
const loadBook = newestBook(table, { logger, metrics });
const record = withObservers(
  openRecorder(table, { logger, accountTerms, loadBook }),
  [
    budgetJudging({ accountTerms, send: queueSender(JOB_QUEUE_URL) }),
    openValueAlerts(table),
    ...useObservers(table),
    modelUse(openModelUse(table).note),
    reportedCosts(openPriceDrift(table).add, loadBook),
    traffic(() => new Metrics({ serviceName: 'gateway' })),
  ],
  logger,
);
const consume = consumeMessages({ record, giveUp: textSender(DEAD_LETTER_QUEUE_URL), logger, metrics });

/** Records usage events from the queue in the ledger. */
export const handler: SQSHandler = async (event, context) => {
  logger.addContext(context);
  try {
    return await consume(event);
  } finally {
    metrics.publishStoredMetrics();
  }
};
