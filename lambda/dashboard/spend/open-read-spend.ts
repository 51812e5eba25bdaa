import { openDeclaredDimensions } from '../../data/accounts/declared-dimensions.ts';
import { openDisplayCurrency } from '../../data/accounts/own-prices.ts';
import { openTrackingGaps } from '../../data/ledger/tracking-gaps.ts';
import { openSpend } from '../../data/spend/spend.ts';
import type { Table } from '../../data/table/table.ts';
import type { Implementation } from '../../http/operation.ts';
import { compareSpend } from './compare-spend.ts';
import type * as operations from './operations.ts';
import { readSpend } from './read-spend.ts';

/** GET /spend and GET /spend/compare over the table: what the API, metrics and MCP tools show is read here. */
export const openReadSpend = (
  table: Table,
): {
  readonly readSpend: Implementation<typeof operations.readSpend>;
  readonly compareSpend: Implementation<typeof operations.compareSpend>;
} => {
  const dependencies = {
    readCounters: openSpend(table, { isTimed: true }).read,
    readTrackingGaps: openTrackingGaps(table).gaps,
    findDeclared: openDeclaredDimensions(table).find,
    findCurrency: openDisplayCurrency(table),
    now: () => new Date(),
  };
  return { readSpend: readSpend(dependencies), compareSpend: compareSpend(dependencies) };
};
