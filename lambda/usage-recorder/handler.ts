import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import type { SQSHandler } from 'aws-lambda';
import { openTable } from '../data/table/table.ts';
import { recorderEnvironment } from '../environment.ts';
import { textSender } from '../integrations/queue-sender.ts';
import { consumeMessages } from './consume-messages.ts';
import { openRecorderWithObservers } from './recorder-with-observers.ts';

const { TABLE_NAME, JOB_QUEUE_URL, DEAD_LETTER_QUEUE_URL } = recorderEnvironment.parse(process.env);
const logger = new Logger({ serviceName: 'usage-recorder' });
const metrics = new Metrics({ serviceName: 'usage-recorder' });
const consume = consumeMessages({
  record: openRecorderWithObservers(openTable(TABLE_NAME), JOB_QUEUE_URL, { logger, metrics }),
  giveUp: textSender(DEAD_LETTER_QUEUE_URL),
  logger,
  metrics,
});

/** Records usage events from the queue in the ledger. */
export const handler: SQSHandler = async (event, context) => {
  logger.addContext(context);
  try {
    return await consume(event);
  } finally {
    metrics.publishStoredMetrics();
  }
};
