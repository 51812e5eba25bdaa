import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import type { ScheduledHandler } from 'aws-lambda';
import { openRollupMarks } from '../../data/ledger/rollup-marks.ts';
import { openRollup } from '../../data/spend/rollup.ts';
import { openTable } from '../../data/table/table.ts';
import { metricsEnvironment } from '../../environment.ts';
import { openPlanChecks } from '../observers.ts';
import { checkPlans } from '../plan-alerts.ts';
import { rollUpDuePeriods } from './roll-up-due-periods.ts';

const table = openTable(metricsEnvironment.parse(process.env).TABLE_NAME);
const logger = new Logger({ serviceName: 'usage-rollup' });
const metrics = new Metrics({ serviceName: 'usage-rollup' });
const marks = openRollupMarks(table);
const checkAllPlans = checkPlans({ marks, checkPlan: openPlanChecks(table), logger });
const rollUpDue = rollUpDuePeriods({
  marks,
  rollup: openRollup(table),
  logger,
  metrics,
});

/** Plans are checked first, since a rollup removes the marks of usage; rollups keep most of the time. */
const CHECK_SHARE = 0.3;

/**
 * Runs every hour: checks the plans of accounts with recent usage, and writes the summaries of closed days and months, and again those of
 * periods that changed since.
 */
export const handler: ScheduledHandler = async (_event, context) => {
  logger.addContext(context);
  try {
    const runMs = context.getRemainingTimeInMillis();
    await checkAllPlans(() => context.getRemainingTimeInMillis() < (1 - CHECK_SHARE) * runMs);
    await rollUpDue(() => context.getRemainingTimeInMillis());
  } finally {
    metrics.publishStoredMetrics();
  }
};
