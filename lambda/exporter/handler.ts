import { openAccountTerms } from '../data/accounts/account-terms.ts';
import { openAuditLog } from '../data/accounts/audit-log.ts';
import { openDayExports } from '../data/exports/day-exports.ts';
import { openRollupMarks } from '../data/ledger/rollup-marks.ts';
import { openDayFiles } from '../data/requests/day-files.ts';
import { openRequests } from '../data/requests/requests.ts';
import { openSpendCounters } from '../data/spend/spend-counters.ts';
import { openTable } from '../data/table/table.ts';
import { exporterEnvironment } from '../environment.ts';
import { openObjectStore } from '../integrations/object-store.ts';
import { onSchedule } from '../on-schedule.ts';
import { exportDay, openDescribeAccount } from './export-day.ts';
import { leavesAt, moveDay } from './move-day.ts';
import { runDueDays } from './run-due-days.ts';

const environment = exporterEnvironment.parse(process.env);
const table = openTable(environment.TABLE_NAME);
const { logger, metrics, handlerOf } = onSchedule('exporter');
const tableDays = environment.REQUEST_TABLE_DAYS;
const dayExports = openDayExports(table);
const dayFiles = openDayFiles(table);
const objects = openObjectStore(environment.OBJECT_BUCKET);
const shared = {
  accountTerms: openAccountTerms(table),
  requests: openRequests(table, Date.now, objects),
  spendCounters: openSpendCounters(table),
  objects,
  now: Date.now,
};
const exportDue = runDueDays({
  due: dayExports.due,
  work: exportDay({
    ...shared,
    dayExports,
    auditLog: openAuditLog(table),
    describeAccount: openDescribeAccount(table),
    marks: openRollupMarks(table),
    planMove: async (accountId, day, retentionDays) => {
      if (tableDays === null || retentionDays <= tableDays) return;
      await dayFiles.enter(accountId, day, leavesAt(day, tableDays));
    },
  }),
  metricNames: { exported: 'ExportedDays', expired: 'ExpiredExports' },
  failure: 'Day not exported',
  logger,
  metrics,
});
const moveDue = runDueDays({
  due: dayFiles.due,
  work: moveDay({ ...shared, table, dayFiles, tableDays }),
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
