import { uuidv7 } from 'uuidv7';
import type * as z from 'zod/mini';
import { openArchives } from '../data/accounts/archives.ts';
import { openAuditLog } from '../data/accounts/audit-log.ts';
import { openDayExports } from '../data/exports/day-exports.ts';
import { openRollupMarks } from '../data/ledger/rollup-marks.ts';
import { openBillConnections } from '../data/reconciliation/bill-connections.ts';
import { openBills } from '../data/reconciliation/bills.ts';
import type { Table } from '../data/table/table.ts';
import type { filesEnvironment } from '../environment.ts';
import { openBillAccess } from '../integrations/bills/bill-sources.ts';
import { openObjectReader } from '../integrations/object-reader.ts';

/** The dependencies of the operations of files and bills. */
export const openFiles = (table: Table, environment: z.infer<typeof filesEnvironment>, now = () => new Date()) => ({
  archives: openArchives(table),
  audit: openAuditLog(table),
  bills: openBills(table),
  connections: openBillConnections(table),
  dayExports: openDayExports(table),
  marks: openRollupMarks(table),
  objects: openObjectReader(environment.OBJECT_BUCKET),
  ...openBillAccess(environment),
  newId: uuidv7,
  now,
});

export type Files = ReturnType<typeof openFiles>;
