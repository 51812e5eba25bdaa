import { openDeclaredDimensions } from '../data/accounts/declared-dimensions.ts';
import { openDisplayCurrency } from '../data/accounts/own-prices.ts';
import { openValueNames } from '../data/accounts/value-names.ts';
import { openRules } from '../data/alerts/rules.ts';
import { openTrackingGaps } from '../data/ledger/tracking-gaps.ts';
import { openReports } from '../data/reports/reports.ts';
import { openSpend } from '../data/spend/spend.ts';
import type { Table } from '../data/table/table.ts';
import type { Implementation } from '../http/operation.ts';
import type * as budgetOperations from './limits/budget-operations.ts';
import { listBudgets } from './limits/manage-budgets.ts';
import { readMetrics } from './metrics/read-metrics.ts';
import type * as spendOperations from './spend/operations.ts';
import { compareSpend, exportSpend, readSpend } from './spend/read-spend.ts';

/** The readers of spend over the table: pages, scripts, metrics and MCP tools show what is read here. */
export const openSpendReads = (table: Table, now: () => Date) => {
  const dependencies = {
    readCounters: openSpend(table, { isTimed: true }).read,
    readTrackingGaps: openTrackingGaps(table).gaps,
    findDeclared: openDeclaredDimensions(table).find,
    findCurrency: openDisplayCurrency(table),
    rules: openRules(table),
    now,
  };
  const report: Implementation<typeof spendOperations.readSpend> = readSpend(dependencies);
  const budgets: Implementation<typeof budgetOperations.listBudgets> = listBudgets(dependencies);
  return {
    readSpend: report,
    compareSpend: compareSpend(dependencies),
    // It is streamed, and may take longer than a response that is waited for.
    exportSpend: exportSpend({ ...dependencies, readCounters: openSpend(table).read }),
    listBudgets: budgets,
    readMetrics: readMetrics({
      readSpend: report,
      listBudgets: budgets,
      namesOf: openValueNames(table),
      findCalendar: openReports(table).calendar,
      now,
    }),
  };
};
