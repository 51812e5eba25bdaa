import { openSpendCounters } from '../../lambda/data/spend/spend-counters.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import { addCounters, type Counters } from '../../lambda/domain/spend/counters.ts';
import type { SpendDimensions } from '../../lambda/domain/spend/dimensions.ts';

/** Every cell of an account by day and by hour, and its month counters: all the ledger says. */
export const ledgerSums = async (table: Table, accountId: string, months: readonly string[]) => {
  const cells = openSpendCounters(table);
  const read = async (granularity: 'days' | 'hours') => {
    const found: Record<string, Counters> = {};
    for await (const cell of cells[granularity](accountId, '2000', '2999'))
      found[cellText(cell.time, cell.dimensions)] = cell.counters;
    return found;
  };
  return {
    days: await read('days'),
    hours: await read('hours'),
    months: Object.fromEntries(
      await Promise.all(months.map(async (month) => [month, await cells.trackedRequests(accountId, month)])),
    ) as Record<string, number>,
  };
};

export const cellText = (time: string, { provider, model, tag, keyId, providerKey }: SpendDimensions): string =>
  JSON.stringify([time, provider, model, tag, keyId, providerKey]);

export const total = (cells: Record<string, Counters>): Counters => Object.values(cells).reduce(addCounters, {});
