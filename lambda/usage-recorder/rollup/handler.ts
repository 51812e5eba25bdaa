import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import type { ScheduledHandler } from 'aws-lambda';
import { openRollupMarks } from '../../data/ledger/rollup-marks.ts';
import { openRollup } from '../../data/spend/rollup.ts';
import { openTable } from '../../data/table/table.ts';
import { parseRecorderEnvironment } from '../environment.ts';
import { rollUpDuePeriods } from './roll-up-due-periods.ts';

const table = openTable(parseRecorderEnvironment(process.env).tableName);
const logger = new Logger({ serviceName: 'usage-rollup' });
const metrics = new Metrics({ serviceName: 'usage-rollup' });
const rollUpDue = rollUpDuePeriods({
  marks: openRollupMarks(table),
  rollup: openRollup(table),
  logger,
  metrics,
});

/** Runs every hour: writes the summaries of closed days and months, and again those of periods that changed since. */
export const handler: ScheduledHandler = async (_event, context) => {
  logger.addContext(context);
  try {
    await rollUpDue(() => context.getRemainingTimeInMillis());
  } finally {
    metrics.publishStoredMetrics();
  }
};
