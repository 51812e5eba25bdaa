import { openTable } from '../data/table/table.ts';
import { exporterEnvironment } from '../environment.ts';
import { openObjectStore } from '../integrations/object-store.ts';
import { onSchedule } from '../on-schedule.ts';
import { exportDay } from './export-day.ts';
import { moveDay } from './move-day.ts';
import { openExporting } from './open-exporting.ts';
import { runDueDays } from './run-due-days.ts';

const environment = exporterEnvironment.parse(process.env);
const { logger, metrics, handlerOf } = onSchedule('exporter');
const exporting = openExporting(
  openTable(environment.TABLE_NAME),
  openObjectStore(environment.OBJECT_BUCKET),
  environment.REQUEST_TABLE_DAYS,
);
const exportDue = runDueDays({
  due: exporting.dayExports.due,
  work: exportDay(exporting),
  metricNames: { exported: 'ExportedDays', expired: 'ExpiredExports' },
  failure: 'Day not exported',
  logger,
  metrics,
});
const moveDue = runDueDays({
  due: exporting.dayFiles.due,
  work: moveDay(exporting),
  metricNames: { moved: 'MovedDays', kept: 'UnmovedDays' },
  failure: 'Day not moved',
  logger,
  metrics,
});

/** Runs every 20 minutes: exports the days that were rolled up since, again where they changed, and moves old records out of the table. */
export const handler = handlerOf(async (remainingMs) => {
  await exportDue(remainingMs);
  await moveDue(remainingMs);
});
