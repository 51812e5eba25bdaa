import { openSpendCounters } from '../../lambda/data/spend/spend-counters.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import { addCounters, type Counters } from '../../lambda/domain/spend/counters.ts';
import type { SpendDimensions } from '../../lambda/domain/spend/dimensions.ts';

/** Every spend counter of an account by day and by hour, and its month counters: all sums of the ledger. */
export const ledgerSums = async (table: Table, accountId: string, months: readonly string[]) => {
  const spendCounters = openSpendCounters(table);
  const read = async (granularity: 'days' | 'hours') => {
    const found: Record<string, Counters> = {};
    for await (const spendCounter of spendCounters[granularity](accountId, '2000', '2999'))
      found[spendCounterText(spendCounter.time, spendCounter.dimensions)] = spendCounter.counters;
    return found;
  };
  return {
    days: await read('days'),
    hours: await read('hours'),
    months: Object.fromEntries(
      await Promise.all(months.map(async (month) => [month, await spendCounters.trackedRequests(accountId, month)])),
    ) as Record<string, number>,
  };
};

export const spendCounterText = (time: string, { provider, model, tag, keyId, providerKey }: SpendDimensions): string =>
  JSON.stringify([time, provider, model, tag, keyId, providerKey]);

export const total = (spendCounters: Record<string, Counters>): Counters =>
  Object.values(spendCounters).reduce(addCounters, {});
