import { describe, expect, it } from '@jest/globals';
import { openSpendCounters } from '../../../lambda/data/spend/spend-counters.ts';
import { update } from '../../../lambda/data/table/actions.ts';
import { spendCounterKey } from '../../../lambda/data/table/keys.ts';
import { write } from '../../../lambda/data/table/write.ts';
import {
  addCounters,
  CounterOverflowError,
  knownCostNanoUsd,
  type SpendCounter,
} from '../../../lambda/domain/spend/counters.ts';
import { tableForTests } from '../../table-for-tests.ts';

const table = tableForTests();

const dimensions = { provider: 'openai', model: 'gpt-4o', tag: null, keyId: null, providerKey: null };

const add = (accountId: string, granularity: 'DAY' | 'HOUR', time: string, costNanoUsd: number) =>
  write(
    table,
    update(
      spendCounterKey(accountId, granularity, time, dimensions),
      'ADD costComputedNanoUsd :cost, requests :one',
      null,
      { cost: costNanoUsd, one: 1 },
    ),
  );

const read = async (spendCounters: AsyncIterable<SpendCounter>) => {
  const found: SpendCounter[] = [];
  for await (const spendCounter of spendCounters) found.push(spendCounter);
  return found;
};

describe('openSpendCounters', () => {
  it('reads the spend counters of a range, both ends included, and none of another granularity', async () => {
    const accountId = 'svc_range';
    for (const day of ['2026-10-31', '2026-11-01', '2026-11-02', '2026-11-03']) await add(accountId, 'DAY', day, 5);
    await add(accountId, 'HOUR', '2026-11-02T00', 5);
    await add(accountId, 'HOUR', '2026-11-02T23', 7);
    const spendCounters = openSpendCounters(table);
    const counters = { requests: 1, costComputedNanoUsd: 5 };
    expect(await read(spendCounters.days(accountId, '2026-11-01', '2026-11-02'))).toEqual([
      { time: '2026-11-01', dimensions, counters },
      { time: '2026-11-02', dimensions, counters },
    ]);
    expect(
      (await read(spendCounters.hours(accountId, '2026-11-02T01', '2026-11-02T23'))).map(({ time }) => time),
    ).toEqual(['2026-11-02T23']);
    expect(await read(spendCounters.days('svc_nobody', '2026-11-01', '2026-11-02'))).toEqual([]);
  });

  it('refuses a sum that is no longer exact, and no other one', async () => {
    const accountId = 'svc_rich';
    const days = () => read(openSpendCounters(table).days(accountId, '2026-11-01', '2026-11-02'));
    const costs = async () => (await days()).map(({ time, counters }) => [time, knownCostNanoUsd(counters)]);
    await add(accountId, 'DAY', '2026-11-01', Number.MAX_SAFE_INTEGER);
    await add(accountId, 'DAY', '2026-11-02', 5);
    expect(await costs()).toEqual([
      ['2026-11-01', Number.MAX_SAFE_INTEGER],
      ['2026-11-02', 5],
    ]);
    await add(accountId, 'DAY', '2026-11-01', 2);
    const [first, second] = (await days()).map(({ counters }) => counters);
    expect(() => knownCostNanoUsd(first!)).toThrow(CounterOverflowError);
    expect(() => knownCostNanoUsd(addCounters(first!, second!))).toThrow(CounterOverflowError);
    expect(knownCostNanoUsd(second!)).toBe(5);
  });
});
