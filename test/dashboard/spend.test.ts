import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { readSpend as operation } from '../../lambda/dashboard/spend/operations.ts';
import { readSpend } from '../../lambda/dashboard/spend/read-spend.ts';
import type { FindDeclared } from '../../lambda/dashboard/spend/spend-query.ts';
import type { SpendCounter } from '../../lambda/domain/spend/counters.ts';
import type { ReadCounters } from '../../lambda/domain/spend/spend-question.ts';
import type { TrackingGap } from '../../lambda/domain/spend/tracking-gaps.ts';
import { route } from '../../lambda/http/operation.ts';
import { invoke, refusedWith, serve } from '../http/invoke.ts';

const caller = { accountId: 'account-1', userId: 'user' };
const counter: SpendCounter = {
  time: '2026-11-20',
  dimensions: { provider: 'openai', model: 'gpt-4o', tag: null, keyId: 'key-1', providerKey: 'p' },
  counters: { requests: 2, costProviderNanoUsd: 30, unpricedRequests: 1 },
};

const readCounters = jest.fn<ReadCounters>();
const findDeclared = jest.fn<FindDeclared>(async () => []);
const readTrackingGaps = jest.fn<(accountId: string, range: object) => Promise<TrackingGap[]>>(async () => []);
const handler = serve([
  route(
    operation,
    readSpend({ readCounters, readTrackingGaps, findDeclared, now: () => new Date('2026-11-20T16:30:00Z') }),
  ),
]);
const get = (query: Record<string, string[]> = {}) =>
  invoke(handler, { method: 'GET', path: '/api/spend', query, caller });

beforeEach(() => {
  readCounters.mockReset();
  readCounters.mockImplementation(async function* ({ range: { from } }) {
    if (from === '2026-11-01T00:00:00.000Z') yield counter;
  });
});

describe('GET /spend', () => {
  it("returns this month's spend of the caller's account and the preceding range", async () => {
    const { status, body } = await get();
    expect(status).toBe(200);
    expect(body).toMatchObject({
      from: '2026-11-01T00:00:00.000Z',
      to: '2026-11-21T00:00:00.000Z',
      granularity: 'day',
      totals: { requests: 2, costNanoUsd: 30, costUsd: '0.00000003', unpricedRequests: 1 },
      previous: { from: '2026-10-12T00:00:00.000Z', to: '2026-11-01T00:00:00.000Z', totals: { requests: 0 } },
      groups: [],
      otherGroups: null,
    });
    expect(body.series).toHaveLength(20);
    expect(readCounters.mock.calls.map(([{ accountId }]) => accountId)).toEqual(['account-1', 'account-1']);
  });

  it('groups and filters, with the service key named `key`', async () => {
    const { body } = await get({ groupBy: ['key', 'model', 'key'], tag: [''], key: ['key-1', 'key-2'] });
    expect(body.groupBy).toEqual(['key', 'model']);
    expect(body.groups).toEqual([expect.objectContaining({ key: 'key-1', model: 'gpt-4o', requests: 2 })]);
    expect(body.groups[0]).not.toHaveProperty('keyId');
    expect(body.series[19].groups).toEqual([expect.objectContaining({ key: 'key-1', costNanoUsd: 30 })]);
    expect(readCounters.mock.calls.map(([{ groupBy, filter }]) => [groupBy, filter])).toEqual([
      [['keyId', 'model'], { tag: [null], keyId: ['key-1', 'key-2'] }],
      [[], { tag: [null], keyId: ['key-1', 'key-2'] }],
    ]);
    expect((await get({ key: ['key-2'] })).body.totals.requests).toBe(0);
  });

  it('takes names separated by commas, but no commas in names of clients', async () => {
    expect((await get({ groupBy: ['key,model', 'tag'] })).body.groupBy).toEqual(['key', 'model', 'tag']);
    expect(await get({ groupBy: ['key,', 'model'] })).toMatchObject({ status: 400 });
    expect((await get({ provider: ['openai,anthropic'], tag: ['a,b'] })).status).toBe(200);
    expect((await get({ provider: ['openai,nobody'] })).status).toBe(400);
  });

  it('reports untracked requests and their times, with adjacent reports merged into one gap', async () => {
    readTrackingGaps.mockResolvedValueOnce([
      { from: '2026-11-03T10:00:05.000Z', to: '2026-11-03T10:00:40.000Z', requests: 7 },
      { from: '2026-11-03T10:00:00.000Z', to: '2026-11-03T10:00:20.000Z', requests: 5 },
      { from: '2026-11-09T00:00:00.000Z', to: '2026-11-09T00:00:00.000Z', requests: 1 },
    ]);
    const { body } = await get();
    expect(body.untracked).toEqual({
      requests: 13,
      gaps: [
        { from: '2026-11-03T10:00:00.000Z', to: '2026-11-03T10:00:40.000Z', requests: 12 },
        { from: '2026-11-09T00:00:00.000Z', to: '2026-11-09T00:00:00.000Z', requests: 1 },
      ],
    });
    expect(readTrackingGaps).toHaveBeenCalledWith(
      'account-1',
      expect.objectContaining({ from: '2026-11-01T00:00:00.000Z', to: '2026-11-21T00:00:00.000Z' }),
    );
    expect((await get()).body.untracked).toEqual({ requests: 0, gaps: [] });
  });

  it('has no preceding range if its hours are no longer kept', async () => {
    const { body } = await get({ granularity: ['hour'], from: ['2026-09-01'], to: ['2026-09-30'] });
    expect(body.previous).toBeNull();
    expect(readCounters).toHaveBeenCalledTimes(1);
  });

  it('rejects a range whose sum is too large to be exact', async () => {
    readCounters.mockImplementation(async function* () {
      for (const time of ['2026-11-19', '2026-11-20'])
        yield { ...counter, time, counters: { requests: 1, costComputedNanoUsd: Number.MAX_SAFE_INTEGER } };
    });
    const { status, body } = await get();
    expect([status, body.error.code, body.error.details[0].path]).toEqual([400, 'VALIDATION_ERROR', 'from']);
  });

  it('rejects a range where any sum it shows is too large to be exact', async () => {
    readCounters.mockImplementation(async function* () {
      for (const time of ['2026-11-19', '2026-11-20'])
        yield { ...counter, time, counters: { requests: 1, reasoningTokens: Number.MAX_SAFE_INTEGER } };
    });
    expect(await get()).toMatchObject(refusedWith(400, 'VALIDATION_ERROR'));
  });

  it('omits the preceding range if only its sum is too large', async () => {
    readCounters.mockImplementation(async function* ({ range: { from } }) {
      const cost = { costComputedNanoUsd: Number.MAX_SAFE_INTEGER, costProviderNanoUsd: 1 };
      yield { ...counter, counters: from < '2026-11' ? { requests: 1, ...cost } : { requests: 1 } };
    });
    const { status, body } = await get();
    expect([status, body.previous, body.totals.requests]).toEqual([200, null, 1]);
  });

  it.each([
    ['groupBy', { groupBy: ['user'] }],
    ['provider', { provider: ['openia'] }],
    ['granularity', { granularity: ['week'] }],
    ['from', { from: ['yesterday'] }],
    ['limit', { limit: ['0'] }],
    ['modle', { modle: ['gpt-4o'] }],
  ])('refuses a wrong %s', async (path, query) => {
    const { status, body } = await get(query);
    expect(status).toBe(400);
    expect(body.error.details[0].path.split('.')[0]).toBe(path);
    expect(readCounters).not.toHaveBeenCalled();
  });
});
