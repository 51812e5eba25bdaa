import { beforeEach, describe, expect, it } from '@jest/globals';
import { auditEntry } from '../../lambda/data/accounts/audit-log.ts';
import { openOwnPrices } from '../../lambda/data/accounts/own-prices.ts';
import { openSavingDecisions } from '../../lambda/data/reports/saving-decisions.ts';
import { openSavings } from '../../lambda/data/reports/savings.ts';
import { requestCursor } from '../../lambda/data/requests/request-pages.ts';
import { openRequests } from '../../lambda/data/requests/requests.ts';
import { savingKey } from '../../lambda/data/table/keys.ts';
import { findItem } from '../../lambda/data/table/read.ts';
import { loadBundledBook } from '../../lambda/domain/price/price-book.ts';
import { priceRequest } from '../../lambda/domain/price/price-request.ts';
import type { Membership } from '../../lambda/http/operation.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { openRepricer } from '../../lambda/usage-recorder/reprice.ts';
import { callAs, silentLogger } from '../http/invoke.ts';
import { closeEvent } from '../usage-recorder/events.ts';
import { dashboardForTests, openDashboard } from './open-dashboard.ts';

const NOW = Date.parse('2026-11-20T16:30:00Z');
const { table, clock, caller, call, audited } = dashboardForTests();
const requests = openRequests(table, () => clock.getTime());

type As = Partial<Membership>;
const ask = (body: object, as?: As) => call('POST', '/spend/what-if', body, as);
const list = async (as?: As) => (await call('GET', '/savings', undefined, as)).body;

/** Of these, half were given up by their client, and are of the account's key. */
const sent = (many: number, before: number, facts: object = {}) =>
  Array.from({ length: many }, (_, n) =>
    closeEvent({
      accountId: caller.accountId,
      keyId: n % 2 ? caller.keyId : 'another-key',
      n,
      tag: n % 2 ? 'chat' : 'sort',
      startedAt: new Date(before - (n + 1) * 3_600_000).toISOString(),
      outcome: n % 2 ? 'client_aborted' : 'completed',
      ...facts,
      reading: {
        usage: { prompt_tokens: 10_000, completion_tokens: 1_000, total_tokens: 11_000 },
        modelRequested: 'gpt-4o',
        modelServed: 'gpt-4o',
      },
    }),
  );
const record = (events: ReturnType<typeof sent>) =>
  openRecorder(table, { logger: silentLogger(), now: () => NOW })(events);

beforeEach(() => record(sent(60, NOW)));

describe('POST /spend/what-if', () => {
  it('gives 0 for the same model, and half for a batch', async () => {
    const { body: same } = await ask({ change: { model: 'gpt-4o' } });
    expect(same).toMatchObject({ requests: 60, differenceNanoUsd: 0, oldNanoUsd: 60 * 35e6, isComplete: true });
    expect(same.recordedNanoUsd).toBe(same.oldNanoUsd);
    const { body } = await ask({ filter: { tag: 'chat' }, change: { tier: 'batch' } });
    expect(body).toMatchObject({ requests: 30, oldNanoUsd: 30 * 35e6, newNanoUsd: 15 * 35e6 });
  });

  it('has as old cost what repricing gives', async () => {
    const book = await loadBundledBook();
    const twice = (query: Parameters<typeof book>[0]) => {
      const found = book(query);
      const rates = Object.fromEntries(Object.entries(found?.rates ?? {}).map(([kind, rate]) => [kind, rate * 2n]));
      return found && { ...found, rates };
    };
    const reprice = openRepricer(table, (event) => priceRequest(event, twice));
    const { items } = await requests.page(caller.accountId, {
      from: '2026-11-01T00:00:00Z',
      to: '2026-11-21T00:00:00Z',
      limit: 100,
    });
    const { changes } = await reprice(items, { dryRun: true });
    const repriced = changes.reduce((sum, { after }) => sum + (after?.costNanoUsd ?? 0), 0);
    const { whatIf } = await import('../../lambda/domain/savings/what-if.ts');
    const pricing = { book: twice, accountPrices: { prices: [], projectOf: new Map(), months: {} } };
    expect(whatIf(items, {}, pricing, new Date(NOW))).toMatchObject({
      recordedNanoUsd: 60 * 35e6,
      oldNanoUsd: repriced,
    });
    expect(repriced).toBe(120 * 35e6);
  });

  it('says where a commitment breaks even', async () => {
    const price = { provider: 'openai', terms: { kind: 'commitment', usd: 5, per: 'month' } };
    const { body } = await ask({ from: '2026-11-05', to: '2026-11-19', change: { price } });
    const days = 15;
    expect(body.breakEvenNanoUsd).toBe(Math.round((body.oldNanoUsd * 30) / days));
    // Each request's share is rounded.
    expect(Math.abs(body.newNanoUsd - (5e9 * days) / 30)).toBeLessThan(60);
  });

  it('charges a commitment for the days whose requests it read, where these are too many', async () => {
    const range = { from: '2026-11-05', to: '2026-11-19' };
    const readFrom = '2026-11-15T00:00:00.000Z';
    const { items } = await requests.page(caller.accountId, { from: readFrom, to: '2026-11-20T00:00:00Z', limit: 100 });
    const opened = openSavings(table, requests, silentLogger());
    const readRecords = async () => ({ records: [...items], isComplete: false, readFrom });
    const busy = openDashboard(table, () => clock, { savings: async () => ({ ...opened, readRecords }) });
    const price = { terms: { kind: 'commitment', usd: 30, per: 'month' } };
    const { body } = await callAs(busy, caller)('POST', '/spend/what-if', { ...range, change: { price } });
    // Five of thirty days. Each request's share is rounded.
    expect(Math.abs(body.newNanoUsd - 5e9)).toBeLessThan(60);
    expect(body.from).toBe(readFrom);
  });

  it('refuses a change of nothing, and more than 31 days', async () => {
    expect((await ask({ change: {} })).status).toBe(400);
    expect((await ask({ from: '2026-10-01', change: { tier: 'batch' } })).status).toBe(400);
  });
});

describe('the requests that are read', () => {
  const range = { from: '2026-10-21T00:00:00.000Z', to: '2026-11-20T00:00:00.000Z' };
  const read = async (unreadableRequests: number, nextCursor: string | null) => {
    const page = async () => ({ items: [], unreadableRequests, nextCursor });
    const { records, ...rest } = await openSavings(table, { page }, silentLogger()).readRecords('a', range, {});
    return rest;
  };

  it('are complete where all could be read', async () => {
    expect(await read(0, null)).toEqual({ isComplete: true, readFrom: range.from });
    expect(await read(1, null)).toEqual({ isComplete: false, readFrom: range.from });
  });

  it('begin where the pages end, also where few of them pass a filter', async () => {
    const at = (day: string, requestId: string | null) => read(0, requestCursor.write('a', { day, requestId }));
    expect(await at('2026-11-15', null)).toEqual({ isComplete: false, readFrom: '2026-11-16T00:00:00.000Z' });
    const { requestId, startedAt } = closeEvent({ n: 1, startedAt: '2026-11-15T10:00:00.000Z' });
    expect((await at('2026-11-15', requestId)).readFrom).toBe(startedAt);
  });
});

describe('GET /savings', () => {
  const chat = { kind: 'interrupted_responses' as const, scope: { provider: 'openai', model: 'gpt-4o', tag: 'chat' } };

  it('lists findings with the requests behind them', async () => {
    const body = await list();
    expect(body).toMatchObject({ requests: 60, displayCurrency: null, items: [{ ...chat, requests: 30 }] });
    expect(body.items[0].requestIds).toHaveLength(10);
  });

  it('shows who sees a part what its keys waste, and prices the requests of its keys', async () => {
    const price = {
      ...{ priceId: 'p1', name: 'Max', from: '2026-09-01T00:00:00.000Z', until: null },
      ...{ terms: { kind: 'subscription' as const, usdPerMonth: 90 } },
      ...{ createdAt: '2026-09-01T00:00:00.000Z', updatedAt: '2026-09-01T00:00:00.000Z' },
    };
    const audit = auditEntry(caller.accountId, {}, { action: 'price.created' }, clock);
    await openOwnPrices(table).change(caller.accountId, (own) => ({ own: { ...own, prices: [price] }, audit }));
    const kinds = async (as?: As) => (await list(as)).items.map(({ kind }: { kind: string }) => kind);
    expect(await kinds()).toEqual(['unused_subscription', chat.kind]);
    expect(await kinds({ role: 'developer', keyIds: new Set([caller.keyId]) })).toEqual([chat.kind]);
    expect(await kinds({ role: 'viewer', projects: ['p'], keyIds: new Set(['another-key']) })).toEqual([]);
    expect(await kinds({ role: 'developer' })).toEqual([]);
    const ofPart = await ask({ change: { tier: 'batch' } }, { role: 'developer', keyIds: new Set(['another-key']) });
    expect(ofPart.body).toMatchObject({ requests: 30, recordedNanoUsd: 30 * 35e6 });
  });

  it('shows who sees a part nothing of the limits of all', async () => {
    const reserved = { budgetId: 'b1', nanoUsd: 2e9, unknownNanoUsd: 0, periodId: 'daily#2026-11-20', minute: 1 };
    await record(sent(20, NOW - 30_000, { totalMs: 60_000, reservations: [reserved] }));
    await record(sent(20, NOW - 10_000, { outcome: 'refused', blockedBy: 'b1', status: null }));
    const kinds = async (as?: As) => (await list(as)).items.map(({ kind }: { kind: string }) => kind);
    expect(await kinds()).toContain('unneeded_reservations');
    const part = { role: 'developer', keyIds: new Set([caller.keyId]) } as const;
    expect(await kinds(part)).not.toContain('unneeded_reservations');
  });

  it("writes amounts in the account's currency", async () => {
    const audit = auditEntry(caller.accountId, {}, { action: 'currency.changed' }, clock);
    const rates = [
      { from: '2026-01-01', perUsd: '0.5' },
      { from: '2026-11-21', perUsd: '0.8' },
    ];
    const currency = { code: 'EUR', rates };
    await openOwnPrices(table).change(caller.accountId, (own) => ({ own: { ...own, currency }, audit }));
    // The last day is 20 November.
    clock.setTime(Date.parse('2026-11-21T00:00:00Z'));
    const { items, displayCurrency } = await list();
    expect(displayCurrency).toBe('EUR');
    expect(Number(items[0].displayPerMonth) * 2e9).toBeCloseTo(items[0].nanoUsdPerMonth, 0);
    expect(items[0].arithmetic).toContain('€0.525 for 30 responses');
  });

  it('dismisses a finding with a reason for the account, which is in the audit log, and takes that back', async () => {
    expect((await call('PUT', '/savings/decisions', { ...chat, decision: 'dismissed' })).status).toBe(400);
    const decision = { ...chat, decision: 'dismissed', reason: ' People stop it on purpose. ' };
    const { body: saved } = await call('PUT', '/savings/decisions', decision);
    const { items, decided } = await list();
    expect(items).toEqual([]);
    expect(decided).toMatchObject([
      { ...chat, ...saved, reason: 'People stop it on purpose.', by: 'ada@example.com', since: null },
    ]);
    expect(decided[0].nanoUsdPerMonth).toBeGreaterThan(1e9);
    const part: As = { role: 'member', projects: ['p'], keyIds: new Set([caller.keyId]) };
    expect(await list(part)).toMatchObject({ items: [chat], decided: [] });
    for (const as of [part, { role: 'viewer' as const }]) {
      expect((await call('PUT', '/savings/decisions', decision, as)).status).toBe(403);
      expect((await call('DELETE', `/savings/decisions/${saved.id}`, undefined, as)).status).toBe(403);
    }
    expect((await call('DELETE', `/savings/decisions/${saved.id}`)).status).toBe(204);
    expect((await call('DELETE', `/savings/decisions/${saved.id}`)).status).toBe(404);
    expect(await list()).toMatchObject({ items: [chat], decided: [] });
    expect((await audited()).map(({ action, details }) => [action, details['reason']])).toEqual([
      ['saving.undone', 'People stop it on purpose.'],
      ['saving.dismissed', 'People stop it on purpose.'],
    ]);
  });

  it('has room for 50 decisions, and for another one about the same finding', async () => {
    const decision = { ...chat, decision: 'dismissed', reason: 'r' };
    const { id } = (await call('PUT', '/savings/decisions', decision)).body;
    const stored = await findItem(table, savingKey(caller.accountId, id));
    for (let n = 1; n < 50; n++) {
      const Item = { ...stored, ...savingKey(caller.accountId, `f-${n}`), findingId: `f-${n}` };
      await table.call('PutItem', { TableName: table.name, Item });
    }
    const other = { ...decision, scope: { ...chat.scope, tag: 'other' } };
    expect((await call('PUT', '/savings/decisions', other)).body.error.code).toBe('LIMIT_REACHED');
    expect((await call('PUT', '/savings/decisions', { ...decision, reason: 's' })).status).toBe(200);
  });

  it('refuses a finding of a provider that is none, and lists one that was watched before that', async () => {
    const watched = { ...chat, scope: { provider: 'nobody' }, decision: 'watched' as const, reason: null };
    const { status, body } = await call('PUT', '/savings/decisions', watched);
    expect([status, body.error?.details?.[0]?.path]).toEqual([400, 'scope.provider']);
    const at = clock.toISOString();
    const audit = auditEntry(caller.accountId, {}, { action: 'saving.watched' }, clock);
    await openSavingDecisions(table).save({ findingId: 'before', ...watched, by: 'ada@example.com', at }, audit);
    expect((await list()).decided).toMatchObject([{ id: 'before', since: null }]);
  });

  it('measures what was saved since a finding is watched, by volume, mix and price', async () => {
    await call('PUT', '/savings/decisions', { ...chat, decision: 'watched' });
    // In the ten hours before, five responses were given up; in ten hours since, one of a model that costs less.
    clock.setTime(NOW + 10 * 3_600_000);
    const cheap = { tag: 'chat', startedAt: new Date(NOW + 3_600_000).toISOString(), n: 99 };
    const [event] = sent(1, NOW, cheap) as [ReturnType<typeof closeEvent>];
    await record([
      {
        ...event,
        reading: {
          ...event.reading,
          modelServed: 'gpt-4o',
          usage: { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 },
        },
      },
    ]);
    const { decided, items } = await list();
    expect(items).toEqual([]);
    const [{ since }] = decided;
    expect(since).toMatchObject({
      from: '2026-11-20T16:00:00.000Z',
      to: '2026-11-21T02:00:00.000Z',
      costBeforeNanoUsd: 5 * 35e6,
      costNanoUsd: 35e5,
    });
    const { volumeNanoUsd, mixNanoUsd, priceNanoUsd } = since.effects;
    expect([volumeNanoUsd, mixNanoUsd, priceNanoUsd]).toEqual([35e5 - 5 * 35e6, 0, 0]);
  });
});
