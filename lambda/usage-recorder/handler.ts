import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import type { SQSHandler } from 'aws-lambda';
import { openTable } from '../data/table/table.ts';
import { consumeMessages } from './consume-messages.ts';
import { parseRecorderEnvironment } from './environment.ts';
import { noteUse, openUseNotes } from './note-use.ts';
import { openRecorder } from './recorder.ts';
import { countTraffic } from './traffic.ts';

const { tableName } = parseRecorderEnvironment(process.env);
const logger = new Logger({ serviceName: 'usage-recorder' });
const metrics = new Metrics({ serviceName: 'usage-recorder' });
const table = openTable(tableName);
const record = countTraffic(
  noteUse(openRecorder(table, { logger }), openUseNotes(table, logger)),
  () => new Metrics({ serviceName: 'gateway' }),
);
const consume = consumeMessages({ record, logger, metrics });

/** Records usage events from the queue in the ledger. */
export const handler: SQSHandler = async (event, context) => {
  logger.addContext(context);
  try {
    return await consume(event);
  } finally {
    metrics.publishStoredMetrics();
  }
};
