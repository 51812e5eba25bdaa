import { beforeEach, describe, expect, it } from '@jest/globals';
import { compareSpend as operation } from '../../lambda/dashboard/spend/operations.ts';
import { compareSpend } from '../../lambda/dashboard/spend/read-spend.ts';
import { rangesOf } from '../../lambda/domain/calendar/range.ts';
import type { Counters, SpendCounter } from '../../lambda/domain/spend/counters.ts';
import { OTHER, UNKNOWN } from '../../lambda/domain/spend/dimensions.ts';
import { readCountersFrom } from '../../lambda/domain/spend/spend-question.ts';
import { route } from '../../lambda/http/operation.ts';
import { type ApiCall, invoke, refusedWith, serve } from '../http/invoke.ts';

const caller = { accountId: 'account', userId: 'user' };
const USD = 1_000_000_000;

const counter = (time: string, model: string, tag: string | null, counters: Counters, keyId = 'a'): SpendCounter => ({
  time,
  dimensions: { provider: 'openai', model, tag, keyId, providerKey: null },
  counters: { requests: 1, ...counters },
});
const usd = (amount: number, tokens: number): Counters => ({
  costComputedNanoUsd: amount * USD,
  inputTokens: tokens,
});

let spent: SpendCounter[];
let read: string[];
const readCounters = readCountersFrom({
  listKeys: async () => [
    { keyId: 'a', projectId: 'search' },
    { keyId: 'b', projectId: 'batch' },
  ],
  readStored: async function* ({ range, dimensions }) {
    for (const { granularity, from, to } of rangesOf(range)) {
      read.push(`${granularity} ${from.slice(0, 13)} ${to.slice(0, 13)} ${dimensions.join()}`);
      for (const each of spent) {
        const length = granularity === 'hour' ? 13 : 10;
        if (each.time.length === length && each.time >= from.slice(0, length) && each.time < to.slice(0, length))
          yield each;
      }
    }
  },
});
const handler = serve([
  route(
    operation,
    compareSpend({
      readCounters,
      readTrackingGaps: async (_, { from }) => (from.startsWith('2026-10') ? [{ from, to: from, requests: 3 }] : []),
      findDeclared: async () => [],
      findCurrency: async () => ({ code: 'EUR', rates: [{ from: '2026-11-09', perUsd: '0.9' }] }),
      now: () => new Date('2026-11-20T16:30:00Z'),
    }),
  ),
]);
const get = async (query: Record<string, string[]>, by: ApiCall['caller'] = caller) =>
  invoke(handler, { method: 'GET', path: '/api/spend/compare', query, caller: by });
const days = { from: ['2026-11-10'], to: ['2026-11-11'] };

beforeEach(() => {
  read = [];
  spent = [
    counter('2026-11-08', 'gpt-4o', 'extraction', usd(10, 1_000)),
    counter('2026-11-09', 'gpt-4o', null, usd(5, 500)),
    counter('2026-11-09', 'old', 'batch', usd(1, 100), 'b'),
    counter('2026-11-10', 'gpt-4o', 'extraction', usd(30, 2_000)),
    counter('2026-11-11', 'gpt-4o', null, usd(5, 500)),
    counter('2026-11-11', 'new', 'batch', usd(2, 100), 'b'),
    counter('2026-11-11', 'unheard-of', 'batch', { unpricedRequests: 1, inputTokens: 9_999 }, 'b'),
  ];
});

describe('GET /spend/compare', () => {
  it('names the groups that made the difference, new and vanished ones marked', async () => {
    const { status, body } = await get({ ...days, groupBy: ['model', 'tag'] });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      from: '2026-11-10T00:00:00.000Z',
      to: '2026-11-12T00:00:00.000Z',
      before: { from: '2026-11-08T00:00:00.000Z', to: '2026-11-10T00:00:00.000Z', untrackedRequests: 0 },
      groupBy: ['model', 'tag'],
      totals: { costBeforeNanoUsd: 16 * USD, costNanoUsd: 37 * USD, costChangeNanoUsd: 21 * USD, unpricedRequests: 1 },
      isComplete: true,
      otherGroups: null,
    });
    type Row = Record<string, string | number | null>;
    const rows = (body.groups as Row[]).map((row) => [
      row['model'],
      row['tag'],
      row['presence'],
      row['costChangeNanoUsd'],
    ]);
    expect(rows).toEqual([
      ['unheard-of', 'batch', 'new', null],
      ['gpt-4o', 'extraction', 'both', 20 * USD],
      ['new', 'batch', 'new', 2 * USD],
      ['old', 'batch', 'vanished', -1 * USD],
      ['gpt-4o', null, 'both', 0],
    ]);
  });

  it('explains the change by volume, mix and price of models, the same whatever the groups are', async () => {
    // 1,600 tokens before and 2,600 of known cost now; a token of gpt-4o costs 14 instead of 10 million nano-USD.
    const effects = { volumeNanoUsd: 10 * USD, mixNanoUsd: 1 * USD, priceNanoUsd: 10 * USD };
    for (const groupBy of [['model'], ['tag'], ['project'], ['key'], ['provider', 'tag']])
      expect((await get({ ...days, groupBy })).body.effects).toEqual(effects);
    expect((await get({ ...days, model: ['unheard-of'] })).body).toMatchObject({
      effects: null,
      totals: { costChangeNanoUsd: null, unpricedRequests: 1 },
    });
  });

  it('compares projects, and what a filter selects', async () => {
    const { body } = await get({ ...days, groupBy: ['project'], model: ['gpt-4o', 'old', 'new'] });
    expect(body.groupBy).toEqual(['project']);
    expect(body.groups).toEqual([
      expect.objectContaining({ project: 'search', costChangeNanoUsd: 20 * USD }),
      expect.objectContaining({ project: 'batch', costChangeNanoUsd: USD }),
    ]);
  });

  it('has the totals in the display currency, null where a day has no rate', async () => {
    expect((await get({ from: ['2026-11-10'], to: ['2026-11-10'] })).body.totals).toMatchObject({
      displayCostBefore: '5.4',
      displayCost: '27',
    });
    expect((await get(days)).body.totals).toMatchObject({ displayCostBefore: null, displayCost: '33.3' });
  });

  it('adds up the groups beyond the limit', async () => {
    const { body } = await get({ ...days, groupBy: ['model', 'tag'], limit: ['2'] });
    expect(body.groups).toHaveLength(2);
    expect(body.otherGroups).toMatchObject({ groups: 3, costChangeNanoUsd: USD });
  });

  it('compares the elapsed hours of a running period with as many', async () => {
    spent = [
      counter('2026-11-19', 'm', null, usd(7, 7)),
      counter('2026-11-20T15', 'm', null, usd(3, 3)),
      counter('2026-11-20T16', 'm', null, usd(100, 100)),
      counter('2026-11-18T15', 'm', null, usd(1, 1)),
      counter('2026-11-18T16', 'm', null, usd(100, 100)),
      counter('2026-11-17', 'm', null, usd(1, 1)),
    ];
    const { body } = await get({ from: ['2026-11-19'], to: ['2026-11-20'], compareFrom: ['2026-11-17'] });
    expect(body.totals).toMatchObject({ costBeforeNanoUsd: 2 * USD, costNanoUsd: 10 * USD });
    expect(body).toMatchObject({ to: '2026-11-20T16:00:00.000Z', before: { to: '2026-11-18T16:00:00.000Z' } });
    expect(read.toSorted()).toEqual([
      'day 2026-11-17T00 2026-11-18T00 model,provider',
      'day 2026-11-19T00 2026-11-20T00 model,provider',
      'hour 2026-11-18T00 2026-11-18T16 model,provider',
      'hour 2026-11-20T00 2026-11-20T16 model,provider',
    ]);
  });

  it.each([OTHER, UNKNOWN])('says that groups are not complete where some spend is under %s', async (tag) => {
    expect((await get({ ...days, groupBy: ['tag'] })).body.isComplete).toBe(true);
    spent.push(counter('2026-11-10', 'gpt-4o', tag, usd(4, 4)));
    expect((await get({ ...days, groupBy: ['tag'] })).body.isComplete).toBe(false);
  });

  it('says what no figure includes: untracked requests, and names under (other)', async () => {
    spent.push(counter('2026-11-10', 'gpt-4o', OTHER, usd(4, 4)));
    const { body } = await get({ ...days, tag: ['extraction'], compareFrom: ['2026-10-10'] });
    expect(body.isComplete).toBe(false);
    expect(body.mayAlsoMatch).toMatchObject({ requests: 1, costNanoUsd: 4 * USD });
    expect(body.before).toMatchObject({ untrackedRequests: 3, mayAlsoMatch: null });
    expect((await get({ ...days, groupBy: ['tag'] })).body.isComplete).toBe(false);
  });

  it('says to who sees a part that requests under (other) may be theirs, without a figure of them', async () => {
    const bob = { ...caller, userId: 'bob', role: 'developer', keyIds: new Set(['a']) } as const;
    expect((await get(days, bob)).body).toMatchObject({ isComplete: true, mayAlsoMatch: null });
    spent.push(counter('2026-11-10', 'gpt-4o', null, usd(4, 4), OTHER));
    expect((await get(days, bob)).body).toMatchObject({ isComplete: false, mayAlsoMatch: null });
  });

  it.each([
    ['compareTo', { compareFrom: ['2026-11-01'], compareTo: ['2026-10-01'] }],
    ['from', { from: ['2027-01-01'] }],
    ['groupBy', { groupBy: ['client', 'tag'] }],
    ['granularity', { granularity: ['day'] }],
  ])('refuses a wrong %s', async (path, query) => {
    const { status, body } = await get(query as Record<string, string[]>);
    expect([status, body.error.code, body.error.details[0].path]).toEqual([400, 'VALIDATION_ERROR', path]);
  });

  it('rejects sums that are too large to be exact', async () => {
    spent.push(counter('2026-11-10', 'm', null, { costComputedNanoUsd: Number.MAX_SAFE_INTEGER }));
    expect(await get(days)).toMatchObject(refusedWith(400, 'VALIDATION_ERROR'));
  });
});
