import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import type { ScheduledHandler } from 'aws-lambda';
import { dueMarks } from '../../data/ledger/rollup-marks.ts';
import { openRollup } from '../../data/spend/rollup.ts';
import { openTable } from '../../data/table/table.ts';
import { parseRecorderEnvironment } from '../environment.ts';
import { rollUpDuePeriods } from './rollup-run.ts';

const table = openTable(parseRecorderEnvironment(process.env).tableName);
const logger = new Logger({ serviceName: 'usage-rollup' });
const metrics = new Metrics({ namespace: 'AiSpendGateway', serviceName: 'usage-rollup' });
const rollUpDue = rollUpDuePeriods({
  dueMarks: (shard) => dueMarks(table, shard, Date.now()),
  seal: openRollup(table),
  logger,
  metrics,
});

/** Every hour: summaries of days and months that are over, and of those that something was recorded in since. */
export const handler: ScheduledHandler = async (_event, context) => {
  logger.addContext(context);
  try {
    await rollUpDue(() => context.getRemainingTimeInMillis());
  } finally {
    metrics.publishStoredMetrics();
  }
};
