import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import type { Context } from 'aws-lambda';
import { exportSpend as exportOperation, readSpend as operation } from '../../lambda/dashboard/spend/operations.ts';
import { exportSpend, readSpend } from '../../lambda/dashboard/spend/read-spend.ts';
import type { SpendCounter } from '../../lambda/domain/spend/counters.ts';
import { OTHER } from '../../lambda/domain/spend/dimensions.ts';
import { readCountersFrom } from '../../lambda/domain/spend/spend-question.ts';
import { route } from '../../lambda/http/operation.ts';
import { type ApiCall, apiEvent, invoke, serve } from '../http/invoke.ts';

const caller = { accountId: 'account', userId: 'user' };
const keys = [
  { keyId: 'a', projectId: 'default' },
  { keyId: 'b', projectId: 'search', ownerUserId: 'ada' },
  { keyId: 'c', projectId: 'search' },
  { keyId: 'd', projectId: 'batch', ownerUserId: 'ada' },
];
const counter = (keyId: string | null, cost: number, tag: string | null = null): SpendCounter => ({
  time: '2026-11-20',
  dimensions: { provider: 'openai', model: 'm', tag, keyId, providerKey: null },
  counters: { requests: 1, costProviderNanoUsd: cost },
});
const counters = [
  counter('a', 1),
  counter('b', 10),
  counter('c', 100, 'night'),
  counter('d', 1_000),
  counter(null, 10_000),
  counter(OTHER, 100_000),
];
const readCounters = readCountersFrom({
  listKeys: async (accountId: string) => (accountId === 'account' ? keys : []),
  readStored: async function* ({ range: { from } }) {
    if (from === '2026-11-01T00:00:00.000Z') yield* counters;
  },
});
const now = () => new Date('2026-11-20T16:30:00Z');
const handler = serve([
  route(operation, readSpend({ readCounters, readTrackingGaps: async () => [], findDeclared: async () => [], now })),
  route(exportOperation, exportSpend({ readCounters, findDeclared: async () => [], now })),
]);
const get = async (query: Record<string, string[]>) =>
  (await invoke(handler, { method: 'GET', path: '/api/spend', query, caller })).body;
const costs = (groups: { project?: string | null; costNanoUsd: number }[]) =>
  groups.map(({ project, costNanoUsd }) => [project, costNanoUsd]);

describe('spend by project', () => {
  it('is the spend of its keys', async () => {
    const body = await get({ groupBy: ['project'] });
    expect(body.groupBy).toEqual(['project']);
    expect(costs(body.groups)).toEqual([
      [OTHER, 100_000],
      [null, 10_000],
      ['batch', 1_000],
      ['search', 110],
      ['default', 1],
    ]);
    expect(costs(body.series.at(-1).groups)).toEqual(costs(body.groups));
    expect(body.groups[0]).not.toHaveProperty('key');
    expect(body.totals).toEqual((await get({})).totals);
  });

  it('combines with other dimensions, but not with the key', async () => {
    const body = await get({ groupBy: ['project', 'tag'], project: ['search'] });
    expect(body.groups).toMatchObject([
      { project: 'search', tag: 'night', costNanoUsd: 100 },
      { project: 'search', tag: null, costNanoUsd: 10 },
    ]);
    expect((await get({ groupBy: ['project', 'key'] })).error.details).toEqual([
      { path: 'groupBy', message: 'key and project do not combine: a key belongs to one project' },
    ]);
  });

  it.each([
    [{ project: ['search'] }, 110],
    [{ project: ['search', 'batch'] }, 1_110],
    [{ project: ['search'], key: ['b', 'd'] }, 10],
    [{ project: ['search'], key: ['d'] }, 0],
    [{ project: ['nothing'] }, 0],
    [{ project: [''] }, 10_000],
    [{ project: ['', 'default'] }, 10_001],
  ])('filters by %j', async (query: Record<string, string[]>, cost) => {
    for (const groupBy of [[], ['key'], ['project'], ['model']]) {
      const { totals, mayAlsoMatch } = await get({ ...query, groupBy });
      expect([groupBy, totals.requests === 0 ? 0 : totals.costNanoUsd]).toEqual([groupBy, cost]);
      // Requests of overflowed keys may be of any project.
      expect(mayAlsoMatch).toMatchObject({ requests: 1, costNanoUsd: 100_000 });
    }
  });

  it('is the spend of a member, too: of the keys that are that member’s', async () => {
    const { groups } = await get({ groupBy: ['member'] });
    expect(
      groups.map(({ member, costNanoUsd }: { member: string | null; costNanoUsd: number }) => [member, costNanoUsd]),
    ).toEqual([
      [OTHER, 100_000],
      [null, 10_101],
      ['ada', 1_010],
    ]);
    const both = await get({ groupBy: ['member', 'project'], member: ['ada'] });
    expect(both.groups).toMatchObject([
      { member: 'ada', project: 'batch', costNanoUsd: 1_000 },
      { member: 'ada', project: 'search', costNanoUsd: 10 },
    ]);
    expect((await get({ member: [''] })).totals.costNanoUsd).toBe(10_101);
    expect((await get({ groupBy: ['key', 'member'] })).error.details).toEqual([
      { path: 'groupBy', message: 'key and member do not combine: a key belongs to one member' },
    ]);
  });

  const exported = async (query: Record<string, string[]>, by: ApiCall['caller'] = caller) => {
    const event = apiEvent({ method: 'GET', path: '/api/spend/export.csv', query, caller: by });
    const { body } = await handler(event, {} as Context);
    return (await text(body as Readable)).split('\r\n').map((line) => line.split(',').slice(0, 4).join());
  };

  it('is exported with a column of its own', async () => {
    const lines = await exported({ groupBy: ['provider', 'project'], project: ['search', 'default'] });
    expect(lines.slice(0, 3)).toEqual([
      'time,provider,project,requests',
      '2026-11-20,openai,search,2',
      '2026-11-20,openai,default,1',
    ]);
  });

  it('has no line of $0 where requests under (other) may be of who sees a part', async () => {
    const ada = { ...caller, userId: 'ada', role: 'developer', keyIds: new Set(['b', 'd']) } as const;
    const lines = await exported({ groupBy: ['key', 'model'] }, ada);
    expect(lines).toEqual(['time,key,model,requests', '2026-11-20,d,m,1', '2026-11-20,b,m,1', '']);
  });
});
