import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { listExports } from '../../lambda/dashboard/exports/list-exports.ts';
import * as operations from '../../lambda/dashboard/exports/operations.ts';
import type { DayExports } from '../../lambda/data/exports/day-exports.ts';
import { httpStack } from '../../lambda/http/http-stack.ts';
import { route } from '../../lambda/http/operation.ts';
import { invoke, membershipOf, silentLogger } from '../http/invoke.ts';

const exported = {
  at: '2026-11-20T01:30:00.000Z',
  requests: 3,
  costNanoUsd: 1_234,
  unpricedRequests: 1,
  files: Object.fromEntries(
    ['cost-and-usage/parquet', 'cost-and-usage/csv', 'requests/parquet', 'requests/csv'].map((name, n) => [
      name,
      { rows: n + 1, bytes: 100 * (n + 1) },
    ]),
  ),
};

const list = jest.fn<DayExports['list']>();
const handler = httpStack(
  [
    route(
      operations.listExports,
      listExports({
        dayExports: { list },
        objects: { signGet: async (key, seconds) => `https://bucket.example.com/${key}?expires=${seconds}` },
        now: () => new Date('2026-11-20T16:00:00Z'),
      }),
    ),
  ],
  { logger: silentLogger(), corsOrigins: [], membershipOf },
);

const get = (query: Record<string, string[]> = {}, role: 'owner' | 'billing' = 'owner') =>
  invoke(handler, {
    method: 'GET',
    path: '/api/exports',
    query,
    caller: { accountId: 'account-1', userId: `user-${role}`, role },
  });

beforeEach(() => {
  list.mockReset();
  list.mockResolvedValue([{ day: '2026-11-19', exported }]);
});

describe('GET /exports', () => {
  it('lists both datasets of the account, with links that expire', async () => {
    const { status, body } = await get();
    expect(status).toBe(200);
    expect(list).toHaveBeenCalledWith('account-1', '2026-10-21', '2026-11-20');
    expect(body).toMatchObject({
      items: [
        {
          day: '2026-11-19',
          dataset: 'cost-and-usage',
          format: 'parquet',
          rows: 1,
          bytes: 100,
          requests: 3,
          costNanoUsd: 1_234,
          unpricedRequests: 1,
          url: 'https://bucket.example.com/exports/account-1/cost-and-usage/parquet/2026-11-19/cost-and-usage-2026-11-19.parquet?expires=900',
          urlExpiresAt: '2026-11-20T16:15:00.000Z',
        },
        { dataset: 'requests', rows: 3 },
      ],
    });
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
      { day: '2026-10-20', exported: old },
      { day: '2026-10-21', exported: { ...old, at: '2026-10-21T16:00:00.001Z' } },
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
    { from: ['2026-01-01'], to: ['2026-11-19'] },
    { from: ['0001-01-01'] },
    { format: ['xlsx'] },
  ])('refuses %j', async (query) => {
    expect((await get(query)).status).toBe(400);
    expect(list).not.toHaveBeenCalled();
  });
});
