import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { uuidv7 } from 'uuidv7';
import { ruleOf } from '../../fixtures/rule-of.ts';
import { openAlerts } from '../../lambda/data/alerts/alerts.ts';
import { openRules } from '../../lambda/data/alerts/rules.ts';
import type { Alert } from '../../lambda/domain/alerts/alert.ts';
import { addSpend, costing } from '../data/add-spend.ts';
import { newAccount } from '../data/new-account.ts';
import { sampleAlert } from '../domain/alerts/sample-alert.ts';
import { dashboardForTests } from './open-dashboard.ts';

const { table, clock, caller, call } = dashboardForTests();
const get = (query: Record<string, string> = {}) => call('GET', '/alerts', undefined, {}, query);
const acknowledge = (id: string, as?: object) => call('PATCH', `/alerts/${id}/acknowledge`, undefined, as);

const fire = async (accountId: string, facts: Partial<Alert> = {}): Promise<string> => {
  const alertId = uuidv7();
  const alert = { ...sampleAlert, alertId, accountId, ruleId: null, figure: 12.5e9, ...facts };
  expect(await openAlerts(table).notify(alert, alertId)).toBe(true);
  return alertId;
};

/** All pages, newest first. Runs `meanwhile` between them. */
const allPages = async (query: Record<string, string>, meanwhile: () => Promise<unknown> = async () => {}) => {
  const ids: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { status, body }: Awaited<ReturnType<typeof get>> = await get({ ...query, ...(cursor && { cursor }) });
    expect(status).toBe(200);
    ids.push(...body.items.map(({ id }: { id: string }) => id));
    cursor = body.nextCursor;
    await meanwhile();
  }
  return ids;
};

describe('alerts', () => {
  it('shows amounts as numbers and as USD strings, and hides the account id', async () => {
    const id = await fire(caller.accountId);
    const { body, text } = await get();
    expect(body).toEqual({
      items: [expect.objectContaining({ id, status: 'triggered', figure: 12.5e9, figureUsd: '12.5', limitUsd: '10' })],
      nextCursor: null,
    });
    expect(text).not.toContain(caller.accountId);
    expect(await call('GET', `/alerts/${id}`)).toMatchObject({ status: 200, body: body.items[0] });
  });

  it('shows what the period came to once it is over, while the rule is the same', async () => {
    const rule = ruleOf(caller.accountId, { config: { threshold: 10, period: 'daily', filter: { tag: 'a' } } });
    await openRules(table).create(rule);
    await addSpend(table, caller.accountId, '2026-11-20T09:00:00Z', costing(12.5), { tag: 'a' });
    await addSpend(table, caller.accountId, '2026-11-20T18:00:00Z', costing(4), { tag: 'a' });
    await addSpend(table, caller.accountId, '2026-11-20T18:00:00Z', costing(70), { tag: 'b' });
    await addSpend(table, caller.accountId, '2026-11-21T01:00:00Z', costing(70), { tag: 'a' });
    const id = await fire(caller.accountId, { ruleId: rule.ruleId });
    const before = await fire(caller.accountId, { ruleId: rule.ruleId, triggeredAt: '2026-10-31T00:00:00.000Z' });
    const final = async (alertId = id) => (await call('GET', `/alerts/${alertId}`)).body.final;
    expect(await final()).toBeNull();
    clock.setTime(Date.parse('2026-11-21T02:00:00.000Z'));
    expect(await final()).toEqual({ figure: 16.5e9, figureUsd: '16.5', unpricedRequests: 0 });
    expect(await final(before)).toBeNull();
    await openRules(table).remove(caller.accountId, rule.ruleId);
    expect(await final()).toBeNull();
  });

  it('shows of an hour what it came to, while its counters are kept', async () => {
    const rule = ruleOf(caller.accountId, { config: { threshold: 10, period: 'hourly' } });
    await openRules(table).create(rule);
    await addSpend(table, caller.accountId, '2026-11-20T09:00:00Z', costing(12.5));
    const period = { name: 'hourly', start: '2026-11-20T09:00:00.000Z', end: '2026-11-20T10:00:00.000Z' } as const;
    const id = await fire(caller.accountId, { ruleId: rule.ruleId, period });
    for (const [now, final] of [
      ['2026-11-21T02:00:00.000Z', { figure: 12.5e9 }],
      ['2027-03-01T00:00:00.000Z', null],
    ] as const) {
      clock.setTime(Date.parse(now));
      expect((await call('GET', `/alerts/${id}`)).body).toMatchObject({ final });
    }
  });

  it('shows who sees a part of the account no alert from before its rule was about that part', async () => {
    const config = { threshold: 10, period: 'daily', filter: { project: 'p' } };
    const rule = ruleOf(caller.accountId, { config, effectiveFrom: '2026-11-20T10:00:00.000Z' });
    await openRules(table).create(rule);
    const fireAt = (triggeredAt: string) => fire(caller.accountId, { ruleId: rule.ruleId, triggeredAt });
    const before = await fireAt('2026-11-20T09:59:59.999Z');
    const since = await fireAt(rule.effectiveFrom);
    const idsFor = async (as: object) =>
      (await call('GET', '/alerts', undefined, as)).body.items.map(({ id }: { id: string }) => id);
    const part = { role: 'member', projects: ['p'], keyIds: new Set<string>() } as const;
    expect(await idsFor({})).toEqual([since, before]);
    expect(await idsFor(part)).toEqual([since]);
    expect(await idsFor({ ...part, projects: ['q'] })).toEqual([]);
    expect((await acknowledge(before, part)).status).toBe(404);
    expect((await call('GET', `/alerts/${before}`, undefined, part)).status).toBe(404);
    expect((await acknowledge(since, part)).status).toBe(200);
  });

  it('names who did not get a mail to those only who may read who is a member', async () => {
    const mail = { channel: 'email', status: 'sent', attempts: 1, lastAttemptAt: null, sentAt: null } as const;
    const error = 'not sent to eve@example.com (bounced), not sent to max@example.com (it bounced), and 3 more';
    const of = { dimension: 'project', value: 'p', label: null } as const;
    const id = await fire(caller.accountId, { of, deliveries: [{ ...mail, error }] });
    const errorsFor = async (as: object) => {
      const { body: alert } = await call('GET', `/alerts/${id}`, undefined, as);
      const { body: page } = await call('GET', '/alerts', undefined, as);
      return [alert, page.items[0]].map(({ deliveries }) => deliveries[0].error);
    };
    expect(await errorsFor({ role: 'viewer' })).toEqual([error, error]);
    const hidden = 'not sent to a member (bounced), not sent to a member (it bounced), and 3 more';
    const part = { role: 'member', projects: ['p'], keyIds: new Set<string>() };
    expect(await errorsFor(part)).toEqual([hidden, hidden]);
    const { body } = await acknowledge(id, part);
    expect(body.deliveries[0].error).toBe(hidden);
  });

  it('acknowledges an alert once; again changes nothing', async () => {
    const id = await fire(caller.accountId);
    const first = await acknowledge(id);
    expect(first).toMatchObject({
      status: 200,
      body: { id, status: 'acknowledged', acknowledgedAt: '2026-11-20T16:30:00.000Z', acknowledgedBy: caller.userId },
    });
    const colleague = { ...caller, userId: 'colleague' };
    expect((await acknowledge(id, colleague)).body).toEqual(first.body);
    expect((await get({ status: 'triggered' })).body.items).toEqual([]);
    expect((await get({ status: 'acknowledged' })).body.items).toHaveLength(1);
  });

  it('responds with 404 to an unknown alert and an unknown cursor', async () => {
    expect((await acknowledge(uuidv7())).status).toBe(404);
    expect((await call('GET', `/alerts/${uuidv7()}`)).status).toBe(404);
    expect((await get({ cursor: 'bm9uc2Vuc2U' })).status).toBe(404);
  });

  it('never repeats or misses an alert while others are triggered and acknowledged, whatever the page size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 12 }),
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.nat(11), { maxLength: 6 }),
        async (count, limit, acknowledged) => {
          Object.assign(caller, await newAccount(table));
          const ids: string[] = [];
          for (let i = 0; i < count; i++) ids.unshift(await fire(caller.accountId));
          const steps = [...acknowledged];
          const seen = await allPages({ limit: String(limit) }, async () => {
            await fire(caller.accountId);
            const index = steps.pop();
            if (index !== undefined && ids[index]) await acknowledge(ids[index]);
          });
          expect(seen).toEqual(ids);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('pages through a filtered list without repeating or missing an alert', async () => {
    const own = await fire(caller.accountId, { of: { dimension: 'project', value: 'p', label: null } });
    const ids: string[] = [own];
    for (let i = 0; i < 12; i++) ids.unshift(await fire(caller.accountId));
    const kept = ids.filter((_, index) => index % 3 === 0);
    for (const id of ids) if (!kept.includes(id)) await acknowledge(id);
    for (const limit of ['1', '2', '5', '100']) {
      expect(await allPages({ limit, status: 'triggered' })).toEqual(kept);
    }
    expect((await call('GET', '/alerts', undefined, {}, { limit: '2' })).body.items).toHaveLength(2);
    const seen = await call('GET', '/alerts', undefined, { role: 'viewer', projects: ['p'] }, { limit: '1' });
    expect(seen.body.items).toMatchObject([{ id: own }]);
  });
});
