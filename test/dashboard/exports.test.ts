import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { readExports } from '../../lambda/dashboard/exports/list-exports.ts';
import * as operations from '../../lambda/dashboard/exports/operations.ts';
import type { DayExports } from '../../lambda/data/exports/day-exports.ts';
import type { RollupMarks } from '../../lambda/data/ledger/rollup-marks.ts';
import { routes } from '../../lambda/http/operation.ts';
import { callAs, serve } from '../http/invoke.ts';

const names = ['cost-and-usage/parquet', 'cost-and-usage/csv', 'requests/parquet', 'requests/csv'];
const sums = { requests: 3, costNanoUsd: 1_234, unpricedRequests: 1 };
const exported = {
  at: '2026-11-20T01:30:00.000Z',
  ...sums,
  files: Object.fromEntries(names.map((name, n) => [name, { rows: n + 1, bytes: 100 * (n + 1) }])),
};

const list = jest.fn<DayExports['list']>();
const listMarks = jest.fn<RollupMarks['list']>();
const dependencies = {
  dayExports: { list },
  marks: { list: listMarks },
  objects: { signGet: async (key: string, seconds: number) => `https://bucket.example.com/${key}?expires=${seconds}` },
  now: () => new Date('2026-11-20T16:00:00Z'),
} as unknown as Parameters<typeof readExports>[0];
const handler = serve(routes(operations, readExports(dependencies)));

const get = (query: Record<string, string | string[]> = {}, role: 'owner' | 'billing' = 'owner', path = '/exports') =>
  callAs(handler, { accountId: 'account-1', userId: `user-${role}`, role })('GET', path, undefined, {}, query);

beforeEach(() => {
  list.mockReset();
  list.mockResolvedValue([{ day: '2026-11-19', exported, dueSince: null }]);
  listMarks.mockReset();
  listMarks.mockResolvedValue([]);
});

describe('GET /exports', () => {
  it('lists both datasets of the account, with links that expire', async () => {
    const { status, body } = await get();
    expect(status).toBe(200);
    expect(list).toHaveBeenCalledWith('account-1', '2026-10-21', '2026-11-20');
    const key = 'exports/account-1/cost-and-usage/parquet/2026-11-19/cost-and-usage-2026-11-19.parquet';
    const link = { url: `https://bucket.example.com/${key}?expires=900`, urlExpiresAt: '2026-11-20T16:15:00.000Z' };
    const file = { day: '2026-11-19', dataset: 'cost-and-usage', format: 'parquet', rows: 1, bytes: 100 };
    expect(body).toMatchObject({
      items: [
        { ...file, ...sums, ...link },
        { dataset: 'requests', rows: 3 },
      ],
    });
  });

  it('says which days are due, stale, late, or not rolled up yet', async () => {
    list.mockResolvedValue([
      { day: '2026-11-16', exported: null, dueSince: '2026-11-17T01:00:00.000Z' },
      { day: '2026-11-17', exported, dueSince: '2026-11-20T15:30:00.000Z' },
      { day: '2026-11-18', exported, dueSince: null },
    ]);
    // A change of prices marked the 15th, which was exported long ago, a moment ago.
    const marks = {
      '2026-11': '12-01T01',
      '2026-11-15': '11-20T15',
      '2026-11-17': '11-18T01',
      '2026-11-19': '11-20T01',
    };
    listMarks.mockResolvedValue(
      Object.entries({ ...marks, '2026-11-20': '11-21T01' }).map(([period, due]) => ({
        accountId: 'account-1',
        nonce: '',
        period,
        dueAt: `2026-${due}:00:00.000Z`,
      })),
    );
    const { items, waiting } = (await get()).body as { items: { day: string }[]; waiting: object[] };
    expect(new Set(items.map(({ day }) => day))).toEqual(new Set(['2026-11-17', '2026-11-18']));
    expect(waiting).toEqual([
      { day: '2026-11-15', since: '2026-11-20T15:00:00.000Z', isExported: false, isLate: false },
      { day: '2026-11-16', since: '2026-11-17T01:00:00.000Z', isExported: false, isLate: true },
      { day: '2026-11-17', since: '2026-11-20T15:30:00.000Z', isExported: true, isLate: false },
      { day: '2026-11-19', since: '2026-11-20T01:00:00.000Z', isExported: false, isLate: true },
    ]);
  });

  it('lists CSV, and one dataset', async () => {
    const { body } = await get({ format: ['csv'], dataset: ['requests'] });
    expect((body as { items: { url: string }[] }).items.map(({ url }) => url)).toEqual([
      'https://bucket.example.com/exports/account-1/requests/csv/2026-11-19/requests-2026-11-19.csv.gz?expires=900',
    ]);
  });

  it('lists no request records that the plan keeps no longer', async () => {
    const old = { ...exported, at: '2026-10-21T16:00:00.000Z', requestRetentionDays: 30 };
    list.mockResolvedValue([
      { day: '2026-10-20', exported: old, dueSince: null },
      { day: '2026-10-21', exported: { ...old, at: '2026-10-21T16:00:00.001Z' }, dueSince: null },
    ]);
    const { items } = (await get()).body as { items: { day: string; dataset: string }[] };
    expect(items.map(({ day, dataset }) => [day, dataset])).toEqual([
      ['2026-10-20', 'cost-and-usage'],
      ['2026-10-21', 'cost-and-usage'],
      ['2026-10-21', 'requests'],
    ]);
  });

  it('gives no request records to a role that may not read requests', async () => {
    const { body } = await get({}, 'billing');
    expect((body as { items: { dataset: string }[] }).items.map(({ dataset }) => dataset)).toEqual(['cost-and-usage']);
    expect(await get({ dataset: ['requests'] }, 'billing')).toMatchObject({ body: { items: [] } });
  });

  it.each([
    { from: ['2026-11-20'], to: ['2026-11-19'] },
    { from: ['2026-08-18'], to: ['2026-11-19'] },
    { from: ['0001-01-01'] },
    { format: ['xlsx'] },
  ])('refuses %j', async (query) => {
    expect((await get(query)).status).toBe(400);
    expect(list).not.toHaveBeenCalled();
  });
});

describe('GET /exports/changes', () => {
  const at = (time: string) => ({ ...exported, at: `2026-11-20T${time}.000Z` });
  // biome-ignore lint/suspicious/noExplicitAny: tests read members without a cast.
  const changes = async (query: Record<string, string[]> = {}, role: 'owner' | 'billing' = 'owner'): Promise<any> =>
    (await get(query, role, '/exports/changes')).body;

  it('lists each day once, by its last export, and goes on from the cursor', async () => {
    const days = new Map([
      ['2026-11-17', at('10:00:00')],
      ['2026-11-18', at('09:00:00')],
      ['2026-11-19', at('10:00:00')],
    ]);
    list.mockImplementation(async () => [...days].map(([day, each]) => ({ day, exported: each, dueSince: null })));
    const first = await changes({ limit: ['2'] });
    expect(first).toMatchObject({ items: [{ day: '2026-11-18' }, { day: '2026-11-17' }], hasMore: true });
    const second = await changes({ cursor: [first.nextCursor] });
    expect(second).toMatchObject({ items: [{ day: '2026-11-19', requests: 3, costNanoUsd: 1_234 }], hasMore: false });
    expect(second.items[0].files).toHaveLength(4);
    const end = await changes({ cursor: [second.nextCursor] });
    expect(end).toEqual({ items: [], nextCursor: second.nextCursor, hasMore: false });
    days.set('2026-11-18', at('15:00:00'));
    expect(await changes({ cursor: [end.nextCursor] })).toMatchObject({
      items: [{ day: '2026-11-18', exportedAt: '2026-11-20T15:00:00.000Z' }],
    });
  });

  it('lists no export that another may still be stored before', async () => {
    list.mockResolvedValue([
      { day: '2026-11-18', exported: at('15:55:00'), dueSince: null },
      { day: '2026-11-19', exported: at('15:55:01'), dueSince: null },
    ]);
    expect((await changes()).items.map(({ day }: { day: string }) => day)).toEqual(['2026-11-18']);
  });

  it('has no request records for a role that may not read them, and refuses a cursor that is none', async () => {
    const { items } = await changes({}, 'billing');
    expect(new Set(items[0].files.map(({ dataset }: { dataset: string }) => dataset))).toEqual(
      new Set(['cost-and-usage']),
    );
    expect((await get({ cursor: ['x'] }, 'owner', '/exports/changes')).status).toBe(400);
  });
});
