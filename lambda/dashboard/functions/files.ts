import { uuidv7 } from 'uuidv7';
import { openArchives } from '../../data/accounts/archives.ts';
import { openAuditLog } from '../../data/accounts/audit-log.ts';
import { openDayExports } from '../../data/exports/day-exports.ts';
import { openRollupMarks } from '../../data/ledger/rollup-marks.ts';
import { openBillConnections } from '../../data/reconciliation/bill-connections.ts';
import { openBills } from '../../data/reconciliation/bills.ts';
import { filesEnvironment } from '../../environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { routes } from '../../http/operation.ts';
import { openBillAccess } from '../../integrations/bills/bill-sources.ts';
import { openObjectReader } from '../../integrations/object-reader.ts';
import * as manageArchives from '../archives/manage-archives.ts';
import * as archives from '../archives/operations.ts';
import * as listExports from '../exports/list-exports.ts';
import * as exports from '../exports/operations.ts';
import { openFunction } from '../open-function.ts';
import * as bills from '../reconciliation/bill-connections.ts';
import { importBill } from '../reconciliation/import-bill.ts';
import * as reconciliation from '../reconciliation/operations.ts';
import { openReadReconciliation } from '../reconciliation/read-reconciliation.ts';

const environment = filesEnvironment.parse(process.env);
const { logger, table, options } = openFunction('dashboard-files', environment);
const opened = {
  archives: openArchives(table),
  audit: openAuditLog(table),
  bills: openBills(table),
  connections: openBillConnections(table),
  dayExports: openDayExports(table),
  marks: openRollupMarks(table),
  objects: openObjectReader(environment.OBJECT_BUCKET),
  ...openBillAccess(environment),
  newId: uuidv7,
  now: () => new Date(),
};

/** Serves files that leave or enter the service: archives, exports, and providers' bills with the credentials that read them. */
export const handler = httpStack(
  [
    ...routes(archives, manageArchives, opened),
    ...routes(exports, listExports, opened),
    ...routes(
      reconciliation,
      { ...bills, importBill, readReconciliation: () => openReadReconciliation(table, logger) },
      opened,
    ),
  ],
  options,
);
