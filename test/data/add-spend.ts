import { markForRollup } from '../../lambda/data/ledger/rollup-marks.ts';
import { spendCounterKey } from '../../lambda/data/table/keys.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import { write } from '../../lambda/data/table/write.ts';
import type { Counters } from '../../lambda/domain/spend/counters.ts';
import type { SpendDimensions } from '../../lambda/domain/spend/dimensions.ts';

/** Adds to the hour and day counters of an instant, as the recorder does. */
export const addSpend = async (
  table: Table,
  accountId: string,
  at: string,
  counters: Counters,
  dimensions: Partial<SpendDimensions> = {},
): Promise<void> => {
  const all = { provider: 'openai', model: 'gpt-4o', tag: null, keyId: null, providerKey: null, ...dimensions };
  // A day without the mark is read from its rollup.
  await write(table, markForRollup(accountId, at.slice(0, 10), Date.parse(at)));
  const entries = Object.entries({ requests: 1, ...counters });
  for (const [granularity, time] of [
    ['DAY', at.slice(0, 10)],
    ['HOUR', at.slice(0, 13)],
  ] as const) {
    const { pk, sk } = spendCounterKey(accountId, granularity, time, all);
    await table.call('UpdateItem', {
      TableName: table.name,
      Key: { pk, sk },
      UpdateExpression: `ADD ${entries.map((_, index) => `#c${index} :c${index}`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(entries.map(([name], index) => [`#c${index}`, name])),
      ExpressionAttributeValues: Object.fromEntries(entries.map(([, value], index) => [`:c${index}`, value])),
    });
  }
};

/** A cost in USD as counters. */
export const costing = (usd: number): Counters => ({ costComputedNanoUsd: Math.round(usd * 1e9) });
