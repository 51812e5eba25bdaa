import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import type { SQSHandler } from 'aws-lambda';
import { openAccountTerms } from '../data/accounts/account-terms.ts';
import { openModelUse } from '../data/prices/model-use.ts';
import { openPriceDrift } from '../data/prices/price-drift.ts';
import { openTable } from '../data/table/table.ts';
import { queueSender, textSender } from '../integrations/queue-sender.ts';
import { compareReported } from './compare-reported.ts';
import { consumeMessages } from './consume-messages.ts';
import { parseQueueRecorderEnvironment } from './environment.ts';
import { newestBook } from './newest-book.ts';
import { noteModels } from './note-models.ts';
import { noteUse, openUseNotes } from './note-use.ts';
import { openRecorder } from './recorder.ts';
import { requestJudging } from './request-judging.ts';
import { countTraffic } from './traffic.ts';

const { tableName, jobQueueUrl, deadLetterQueueUrl } = parseQueueRecorderEnvironment(process.env);
const logger = new Logger({ serviceName: 'usage-recorder' });
const metrics = new Metrics({ serviceName: 'usage-recorder' });
const table = openTable(tableName);
const accountTerms = openAccountTerms(table);
const loadBook = newestBook(table, { logger, metrics });
const judged = requestJudging(openRecorder(table, { logger, accountTerms, loadBook }), {
  hasBudgets: async (accountId) => (await accountTerms.find(accountId)).hasBlocks,
  send: queueSender(jobQueueUrl),
  now: Date.now,
  logger,
});
const record = countTraffic(
  compareReported(noteModels(noteUse(judged, openUseNotes(table, logger)), openModelUse(table), logger), {
    add: openPriceDrift(table).add,
    loadBook,
    logger,
  }),
  () => new Metrics({ serviceName: 'gateway' }),
);
const consume = consumeMessages({ record, giveUp: textSender(deadLetterQueueUrl), logger, metrics });

/** Records usage events from the queue in the ledger. */
export const handler: SQSHandler = async (event, context) => {
  logger.addContext(context);
  try {
    return await consume(event);
  } finally {
    metrics.publishStoredMetrics();
  }
};
