import { describe, expect, it } from '@jest/globals';
import { passesRule, spendSeries } from '../../../lambda/domain/limits/spend-series.ts';
import type { SpendCounter } from '../../../lambda/domain/spend/counters.ts';
import { OTHER } from '../../../lambda/domain/spend/dimensions.ts';
import { readCountersFrom, type StoredQuery } from '../../../lambda/domain/spend/spend-question.ts';

const accountId = 'account';
const range = { granularity: 'day' as const, from: '2026-11-20', to: '2026-11-21' };
const keyIds = ['key-1', 'key-2', 'key-3', OTHER, null, 'of a former import'];

const all = (counters: AsyncIterable<SpendCounter>): Promise<SpendCounter[]> => Array.fromAsync(counters);

const opened = () => {
  const asked: StoredQuery[] = [];
  const listed: string[] = [];
  const read = readCountersFrom({
    readStored: async function* (query) {
      asked.push(query);
      for (const keyId of keyIds)
        yield {
          time: '2026-11-20',
          dimensions: { provider: 'openai', model: null, tag: null, keyId, providerKey: null },
          counters: { requests: 1, costComputedNanoUsd: 10, listDifferenceComputedNanoUsd: 2 },
        };
    },
    listKeys: async (account) => {
      listed.push(account);
      return [
        { keyId: 'key-1', projectId: 'search' },
        { keyId: 'key-2', projectId: 'search' },
        { keyId: 'key-3', projectId: 'default' },
      ];
    },
  });
  return { asked, listed, read };
};

describe('counters that are read by project', () => {
  it('have the project of their key, and are read by key once', async () => {
    const { asked, read } = opened();
    const counters = await all(read({ accountId, range, groupBy: ['project', 'keyId', 'model'] }));
    expect(counters.map(({ dimensions }) => dimensions.project)).toEqual([
      'search',
      'search',
      'default',
      OTHER,
      null,
      null,
    ]);
    expect(asked).toMatchObject([{ dimensions: ['keyId', 'model'], separate: [] }]);
    expect(counters.map(({ dimensions }) => passesRule(dimensions, { project: 'search', keyId: 'key-2' }))).toEqual([
      ...[false, true, false],
      ...[false, false, false],
    ]);
  });

  it('add up to what its keys spent, and those under `(other)` may belong to it', async () => {
    const series = spendSeries({ granularity: 'day', filter: { project: 'search' } });
    for await (const counter of opened().read({ accountId, range, groupBy: ['project'] })) series.add(counter);
    const day = ['2026-11-20T00:00:00.000Z', '2026-11-21T00:00:00.000Z'] as const;
    expect(series.sum(...day)).toMatchObject({ requests: 2, costComputedNanoUsd: 20 });
    expect(series.mayAlsoMatch(...day)).toEqual({ requests: 1, costNanoUsd: 10, unpricedRequests: 0 });
  });

  it('cost no reading of keys where nobody asks for a project', async () => {
    const { asked, listed, read } = opened();
    await all(read({ accountId, range, groupBy: ['model'] }));
    const query = { accountId, range, dimensions: ['model'], separate: [], withDurations: false };
    expect([asked, listed]).toEqual([[query], []]);
  });
});

describe('a question', () => {
  it('keeps apart what it is filtered by, and in months the values that are not asked for as `(other)`', async () => {
    const { asked, read } = opened();
    const filter = { tag: ['night'], model: ['gpt-4o', OTHER], project: ['search'] };
    await all(read({ accountId, range, groupBy: ['model', 'client'], filter, latency: true }));
    expect(asked).toEqual([
      {
        ...{ accountId, range, withDurations: true },
        dimensions: ['model', 'client', 'tag', 'keyId'],
        separate: ['tag', 'keyId'],
      },
    ]);
  });

  it('is answered with costs at list prices where these are asked for', async () => {
    const { read } = opened();
    const question = { accountId, range, groupBy: [] };
    const costs = async (cost: 'effective' | 'list') =>
      (await all(read({ ...question, cost })))[0]?.counters.costComputedNanoUsd;
    expect([await costs('effective'), await costs('list')]).toEqual([10, 12]);
  });
});
