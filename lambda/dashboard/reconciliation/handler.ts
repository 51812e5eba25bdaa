import { Logger } from '@aws-lambda-powertools/logger';
import * as z from 'zod/mini';
import { openTrackingGaps } from '../../data/ledger/tracking-gaps.ts';
import { openNewestBook } from '../../data/prices/newest-book.ts';
import { openPriceVersions } from '../../data/prices/price-versions.ts';
import { openBillConnections } from '../../data/reconciliation/bill-connections.ts';
import { openBills } from '../../data/reconciliation/bills.ts';
import { openSpend } from '../../data/spend/spend.ts';
import { openTable } from '../../data/table/table.ts';
import { billEnvironment } from '../../environment.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { openBillAccess } from '../../integrations/bills/bill-sources.ts';
import { stackOptions } from '../stack-options.ts';
import { connectBill, disconnectBill, listBillConnections } from './bill-connections.ts';
import { importBill } from './import-bill.ts';
import * as operations from './operations.ts';
import { readReconciliation } from './read-reconciliation.ts';

const environment = z.extend(dashboardEnvironment, billEnvironment.shape).parse(process.env);
const table = openTable(environment.TABLE_NAME);
const logger = new Logger({ serviceName: 'dashboard-reconciliation' });
const bills = openBills(table);
const connecting = { connections: openBillConnections(table), ...openBillAccess(environment), now: () => new Date() };
const read = route(
  operations.readReconciliation,
  readReconciliation({
    bills,
    readCounters: openSpend(table, { isTimed: true }).read,
    readTrackingGaps: openTrackingGaps(table).gaps,
    loadBook: openNewestBook({
      versions: openPriceVersions(table),
      onFallback: (error) => logger.error('Newest prices not read', { errorName: error.name }),
    }),
  }),
);

/** Everything under /api/bills, /api/bill-connections and /api/reconciliation, and the comparison for machines. */
export const handler = httpStack(
  [
    route(operations.importBill, importBill({ bills, now: () => new Date() })),
    route(operations.listBillConnections, listBillConnections(connecting)),
    route(operations.connectBill, connectBill(connecting)),
    route(operations.disconnectBill, disconnectBill(connecting)),
    read,
    { operation: operations.machineReadReconciliation, run: read.run },
  ],
  stackOptions(logger, table, environment),
);
