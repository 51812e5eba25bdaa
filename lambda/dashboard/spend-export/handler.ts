import { Logger } from '@aws-lambda-powertools/logger';
import { openDeclaredDimensions } from '../../data/accounts/declared-dimensions.ts';
import { openDisplayCurrency } from '../../data/accounts/own-prices.ts';
import { openSpend } from '../../data/spend/spend.ts';
import { openTable } from '../../data/table/table.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { streamingHttpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { stackOptions } from '../stack-options.ts';
import { exportSpend } from './export-spend.ts';
import * as operations from './operations.ts';

const environment = dashboardEnvironment.parse(process.env);
const table = openTable(environment.TABLE_NAME);
const exportCsv = route(
  operations.exportSpend,
  exportSpend({
    readCounters: openSpend(table).read,
    findDeclared: openDeclaredDimensions(table).find,
    findCurrency: openDisplayCurrency(table),
    now: () => new Date(),
  }),
);

/** GET /api/spend/export.csv, and the same for machines. Streamed, because a year by day and model may exceed the size limit of a buffered Lambda response. */
export const handler = streamingHttpStack(
  [exportCsv, { operation: operations.machineExportSpend, run: exportCsv.run }],
  stackOptions(new Logger({ serviceName: 'dashboard-spend-export' }), table, environment),
);
