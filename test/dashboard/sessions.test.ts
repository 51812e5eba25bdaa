import { describe, expect, it } from '@jest/globals';
import { ownPricesKey } from '../../lambda/data/table/keys.ts';
import type { CloseEvent } from '../../lambda/domain/usage/usage-event.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { invoke, refusedWith } from '../http/invoke.ts';
import { tableForTests } from '../table-for-tests.ts';
import { closeEvent, openEvent, priceOfTokens } from '../usage-recorder/events.ts';
import { openDashboard } from './open-dashboard.ts';

const NOW = Date.parse('2026-11-20T16:30:00Z');
const now = () => NOW;

const table = tableForTests();
const handler = openDashboard(table, () => new Date(NOW));

let accounts = 0;
type Sent = Pick<CloseEvent, 'session' | 'client'> & { startedAt: string; tokens: number };

/** An account with finished requests, and one of session s1 whose end is not known. */
const accountWith = async (requests: readonly Sent[]) => {
  const accountId = `account-${++accounts}`;
  const record = openRecorder(table, { logger: { error: () => {} }, price: priceOfTokens, now });
  await record(requests.map((sent, n) => closeEvent({ accountId, n, ...sent })));
  const startedAt = '2026-11-20T09:00:00.000Z';
  await record([openEvent({ accountId, n: 99, startedAt, session: { id: 's1' }, client: 'claude-code' })]);
  const caller = { accountId, userId: `user-${accountId}` };
  return (path: string, query: Record<string, string[]> = {}) =>
    invoke(handler, { method: 'GET', path: `/api${path}`, query, caller });
};

const s1 = (startedAt: string, tokens: number, agent: { agentId?: string; parentAgentId?: string } = {}): Sent => ({
  ...{ session: { id: 's1', ...agent }, client: 'claude-code', startedAt, tokens },
});
const sent: Sent[] = [
  s1('2026-11-19T23:59:00.000Z', 1_000),
  s1('2026-11-20T08:00:00.000Z', 10),
  s1('2026-11-20T10:00:00.000Z', 200, { agentId: 'a1' }),
  s1('2026-11-20T10:30:00.000Z', 300, { agentId: 'a1' }),
  s1('2026-11-20T11:00:00.000Z', 4_000, { agentId: 'a2', parentAgentId: 'a1' }),
  { session: { id: 'ticket 7/8' }, startedAt: '2026-11-20T12:00:00.000Z', tokens: 7_000 },
  { startedAt: '2026-11-20T12:00:00.000Z', tokens: 50_000 },
];

describe('GET /sessions', () => {
  it('lists the costliest session first, with sums that say what is not known', async () => {
    const get = await accountWith(sent);
    const { status, body } = await get('/sessions', { from: ['2026-11-19'] });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      from: '2026-11-19T00:00:00.000Z',
      to: '2026-11-21T00:00:00.000Z',
      isComplete: true,
      sessions: 2,
      totals: { requests: 7, costNanoUsd: 7 * 12_510, unpricedRequests: 1, unfinishedRequests: 1 },
    });
    expect(body.items).toMatchObject([
      { id: 'ticket 7/8', agents: 1, clients: [], requests: 1, costNanoUsd: 49_000, costUsd: '0.000049' },
      {
        ...{ id: 's1', agents: 3, clients: ['claude-code'], requests: 6, costNanoUsd: 7 * 5_510, unpricedRequests: 1 },
        ...{ firstHour: '2026-11-19T23', lastHour: '2026-11-20T11', tokens: { inputTokens: 5_510 } },
      },
    ]);
  });

  it('counts the days of the range only, and lists those active last first', async () => {
    const get = await accountWith(sent);
    const { body } = await get('/sessions', { from: ['2026-11-20'], orderBy: ['time'], limit: ['1'] });
    expect(body).toMatchObject({ sessions: 2, totals: { requests: 6 }, items: [{ id: 'ticket 7/8' }] });
    const before = await get('/sessions', { from: ['2026-11-19'], to: ['2026-11-19'] });
    expect(before.body.items).toMatchObject([{ id: 's1', requests: 1, costNanoUsd: 7_000, lastHour: '2026-11-19T23' }]);
    expect((await get('/sessions', { orderBy: ['size'] })).status).toBe(400);
  });
});

it('shows sessions in the display currency at the rates of their days, in which requests add up', async () => {
  const get = await accountWith(sent);
  const rates = [
    { from: '2026-11-01', perUsd: '0.5' },
    { from: '2026-11-20', perUsd: '2' },
  ];
  const json = JSON.stringify({ prices: [], currency: { code: 'EUR', rates } });
  const Item = { ...ownPricesKey(`account-${accounts}`), version: 1, json };
  await table.call('PutItem', { TableName: table.name, Item });
  const shown = (displayCost: string) => ({ displayCost, displayCurrency: 'EUR' });
  const { body } = await get('/sessions', { from: ['2026-11-19'], orderBy: ['time'] });
  expect(body).toMatchObject({ totals: shown('0.00016464'), items: [shown('0.000098'), shown('0.00006664')] });
  const { body: session } = await get('/sessions/s1');
  expect(session).toMatchObject(shown('0.00006664'));
  const [main] = session.agents;
  expect(main).toMatchObject(shown('0.00000364'));
  const costs = main.items.map(({ displayCost, displayCurrency }: Record<string, unknown>) => [
    ...[displayCost, displayCurrency],
  ]);
  expect(costs).toEqual([
    [null, 'EUR'],
    ['0.00000014', 'EUR'],
    ['0.0000035', 'EUR'],
  ]);
});

describe('GET /sessions/{sessionId}', () => {
  it('shows the tree: agents with their requests, whose costs add up to the sums', async () => {
    const get = await accountWith(sent);
    const { status, body } = await get('/sessions/s1');
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: 's1', requests: 6, costNanoUsd: 7 * 5_510, isComplete: true });
    expect(
      body.agents.map(({ agentId, parentAgentId, costNanoUsd }: Record<string, unknown>) => [
        ...[agentId, parentAgentId, costNanoUsd],
      ]),
    ).toEqual([
      [null, null, 7 * 1_010],
      ['a1', null, 7 * 500],
      ['a2', 'a1', 7 * 4_000],
    ]);
    for (const agent of body.agents) {
      expect(agent.items).toHaveLength(agent.requests);
      const costs = agent.items.map(({ costNanoUsd }: { costNanoUsd: number | null }) => costNanoUsd ?? 0);
      expect(costs.reduce((sum: number, cost: number) => sum + cost, 0)).toBe(agent.costNanoUsd);
    }
    // Newest first; the one in the middle has not ended.
    expect(body.agents[0].items.map(({ costNanoUsd }: { costNanoUsd: number | null }) => costNanoUsd)).toEqual([
      ...[null, 70, 7_000],
    ]);
  });

  it('finds an id with any characters, and says where there is none', async () => {
    const get = await accountWith(sent);
    expect((await get('/sessions/ticket%207%2F8')).body).toMatchObject({ id: 'ticket 7/8', requests: 1 });
    expect(await get('/sessions/s')).toMatchObject(refusedWith(404, 'NOT_FOUND'));
    expect((await get('/sessions/s1', { to: ['2026-11-18'] })).status).toBe(404);
    expect((await get('/sessions/s1', { to: ['2026-11-19'] })).body).toMatchObject({ requests: 1, isComplete: true });
  });

  it('lists the newest requests of a long session, and says that there are more', async () => {
    const at = (n: number) => new Date(NOW - 20_000_000 + n).toISOString();
    const get = await accountWith(Array.from({ length: 520 }, (_, n) => s1(at(n), 1)));
    const { body } = await get('/sessions/s1');
    expect(body).toMatchObject({ requests: 521, costNanoUsd: 7 * 520, isComplete: false });
    expect(body.agents[0].items).toHaveLength(500);
    expect(body.agents[0].items[0].startedAt).toBe(at(519));
  });
});
