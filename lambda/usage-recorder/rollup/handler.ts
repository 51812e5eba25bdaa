import { openRollupMarks } from '../../data/ledger/rollup-marks.ts';
import { openRollup } from '../../data/spend/rollup.ts';
import { openTable } from '../../data/table/table.ts';
import { metricsEnvironment } from '../../environment.ts';
import { onSchedule } from '../../on-schedule.ts';
import { openPlanChecks } from '../observers.ts';
import { checkPlans } from '../plan-alerts.ts';
import { rollUpDuePeriods } from './roll-up-due-periods.ts';

const table = openTable(metricsEnvironment.parse(process.env).TABLE_NAME);
const { logger, metrics, handlerOf } = onSchedule('usage-rollup');
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
export const handler = handlerOf(async (remainingMs) => {
  const runMs = remainingMs();
  await checkAllPlans(() => remainingMs() < (1 - CHECK_SHARE) * runMs);
  await rollUpDue(remainingMs);
});
