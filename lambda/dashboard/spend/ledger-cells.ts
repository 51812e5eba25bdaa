import type { spendCellRepository } from '../../data/spend-cells.ts';
import { dayOf, hourOf } from '../../domain/spend/periods.ts';
import type { ReadCells } from './read-spend.ts';

/** The last instant that counts: the ledger's spans include both ends. */
const lastInstant = (to: string): string => new Date(Date.parse(to) - 1).toISOString();

/** Reads a span from the ledger's live counters. */
export const ledgerCells =
  (cells: Pick<ReturnType<typeof spendCellRepository>, 'days' | 'hours'>): ReadCells =>
  (accountId, { granularity, from, to }) =>
    granularity === 'hour'
      ? cells.hours(accountId, hourOf(from), hourOf(lastInstant(to)))
      : cells.days(accountId, dayOf(from), dayOf(lastInstant(to)));
