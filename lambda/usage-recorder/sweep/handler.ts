import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import type { ScheduledHandler } from 'aws-lambda';
import { openOutbox } from '../../data/ledger/outbox.ts';
import { openTable } from '../../data/table/table.ts';
import { parseRecorderEnvironment } from '../environment.ts';
import { openRecorder } from '../recorder.ts';
import { countingTraffic } from '../traffic.ts';
import { sweepOutbox } from './sweep.ts';

const table = openTable(parseRecorderEnvironment(process.env).tableName);
const logger = new Logger({ serviceName: 'usage-sweep' });
const metrics = new Metrics({ namespace: 'AiSpendGateway', serviceName: 'usage-sweep' });
const sweep = sweepOutbox({
  parked: openOutbox(table),
  record: countingTraffic(
    openRecorder(table, { logger }),
    () => new Metrics({ namespace: 'AiSpendGateway', serviceName: 'gateway' }),
  ),
  logger,
  metrics,
  now: Date.now,
});

/** Every minute: usage events parked in the table while the queue was down. */
export const handler: ScheduledHandler = async (_event, context) => {
  logger.addContext(context);
  try {
    await sweep(() => context.getRemainingTimeInMillis());
  } finally {
    metrics.publishStoredMetrics();
  }
};
