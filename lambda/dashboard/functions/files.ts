import { filesEnvironment } from '../../environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { routes } from '../../http/operation.ts';
import { manageArchives } from '../archives/manage-archives.ts';
import * as archives from '../archives/operations.ts';
import { readExports } from '../exports/list-exports.ts';
import * as exports from '../exports/operations.ts';
import { openFiles } from '../open-files.ts';
import { openFunction } from '../open-function.ts';
import { manageBills } from '../reconciliation/bills.ts';
import * as reconciliation from '../reconciliation/operations.ts';
import { openReadReconciliation } from '../reconciliation/read-reconciliation.ts';

const environment = filesEnvironment.parse(process.env);
const { logger, table, options } = openFunction('dashboard-files', environment);
const opened = openFiles(table, environment);

/** Serves files that leave or enter the service: archives, exports, and providers' bills with the credentials that read them. */
export const handler = httpStack(
  [
    ...routes(archives, manageArchives(opened)),
    ...routes(exports, readExports(opened)),
    ...routes(reconciliation, { ...manageBills(opened), readReconciliation: openReadReconciliation(table, logger) }),
  ],
  options,
);
