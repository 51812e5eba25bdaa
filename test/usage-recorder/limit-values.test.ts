import { describe, expect, it } from '@jest/globals';
import { ruleOf } from '../../fixtures/rule-of.ts';
import { auditEntry } from '../../lambda/data/accounts/audit-log.ts';
import { openProjects } from '../../lambda/data/accounts/projects.ts';
import { openServiceKeys } from '../../lambda/data/accounts/service-keys.ts';
import { openAlerts } from '../../lambda/data/alerts/alerts.ts';
import { openBlocks } from '../../lambda/data/alerts/blocks.ts';
import { openRules } from '../../lambda/data/alerts/rules.ts';
import { openLimitValues, overrideAction } from '../../lambda/data/ledger/limit-values.ts';
import { openRequests } from '../../lambda/data/requests/requests.ts';
import { update } from '../../lambda/data/table/actions.ts';
import { limitValueKey, ruleKey } from '../../lambda/data/table/keys.ts';
import { write } from '../../lambda/data/table/write.ts';
import type { PlanName } from '../../lambda/domain/billing/plans.ts';
import type { EachLimit } from '../../lambda/domain/limits/block.ts';
import type { ValueCount } from '../../lambda/domain/limits/each.ts';
import type { Limit } from '../../lambda/domain/limits/limit.ts';
import { eachLimitOf } from '../../lambda/domain/limits/limit-blocks.ts';
import { evaluatorOf } from '../../lambda/domain/limits/rule.ts';
import { useBy } from '../../lambda/domain/limits/value-counts.ts';
import { withObservers } from '../../lambda/usage-recorder/observers.ts';
import { openValueCounting } from '../../lambda/usage-recorder/own-prices/count-values.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { openRepricer } from '../../lambda/usage-recorder/reprice.ts';
import { openValueAlerts } from '../../lambda/usage-recorder/value-alerts.ts';
import { deleteExpired } from '../data/delete-expired.ts';
import { newAccount, newKey } from '../data/new-account.ts';
import { randomFrom } from '../faults/random.ts';
import { SEED, withSeed } from '../seed.ts';
import { tableForTests } from '../table-for-tests.ts';
import { closeEvent, openEvent, priceOfTokens } from './events.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const RECORDERS_KNOW_MS = 4 * MINUTE_MS;
const MONTH = 'monthly#2026-11-01T00:00:00.000Z';
const table = tableForTests();

const worldOf = async ({ plan = 'PRO', at = '2026-11-20T12:00:00Z' }: { plan?: PlanName; at?: string } = {}) => {
  const { accountId, keyId, userId, email } = await newAccount(table, plan);
  let nowMs = Date.parse(at);
  const now = () => nowMs;
  const recorder = () => openRecorder(table, { logger: { error: () => {} }, price: priceOfTokens, now });
  let current = recorder();
  const values = openLimitValues(table, now);
  const requests = openRequests(table, now);
  const records = () =>
    Array.fromAsync(requests.all(accountId, { from: '2026-10-01T00:00:00.000Z', to: '2027-01-01T00:00:00.000Z' }));
  return {
    ...{ accountId, keyId, userId, email, values, records },
    now: () => new Date(nowMs),
    wait: (ms: number) => {
      nowMs += ms;
    },
    /** A recorder that has read nothing yet. */
    restart: () => {
      current = recorder();
    },
    limit: async (config: object) => {
      const createdAt = new Date(nowMs).toISOString();
      const whole = { amount: 1, period: 'monthly', ...config };
      const rule = ruleOf(accountId, { type: 'budget', config: whole, createdAt });
      await openRules(table).create(rule);
      return rule.ruleId;
    },
    event: (n: number, facts: object = {}) =>
      closeEvent({ accountId, keyId, n, startedAt: new Date(nowMs).toISOString(), ...facts }),
    record: async (...events: Parameters<ReturnType<typeof recorder>>[0][number][]) => {
      for (const result of await current(events)) expect(['recorded', 'known']).toContain(result.kind);
    },
    countPast: () => openValueCounting(table, { now: () => new Date(nowMs) })(accountId, () => false),
    reprice: async (perToken: number) => {
      const price: typeof priceOfTokens = (event) => {
        const priced = priceOfTokens(event);
        return priced.costNanoUsd === null ? priced : { ...priced, costNanoUsd: (priced.costNanoUsd / 7) * perToken };
      };
      expect((await openRepricer(table, price, undefined, now)(await records(), { dryRun: false })).failed).toBe(0);
    },
    used: async (budgetId: string, periodId = MONTH) =>
      Object.fromEntries(
        (await values.list([accountId, budgetId, periodId], false)).map(({ value, usedNanoUsd }) => [
          value ?? '(none)',
          usedNanoUsd,
        ]),
      ),
    /** A recorder that alerts, once gateway and recorder know a limit, and the alerts so far. */
    alerting: async (id: string) => {
      const { condition } = await openRules(table).find(accountId, id);
      const limit = evaluatorOf(condition).limit as Limit;
      const each = [eachLimitOf({ ruleId: id, name: 'Each', limit }, { keys: [], members: [] }, '') as EachLimit];
      await openBlocks(table).change(accountId, (blocks) => ({ ...blocks, each }));
      return {
        record: withObservers(recorder(), [openValueAlerts(table, () => new Date(nowMs))], {
          error: (message) => expect(message).toBeUndefined(),
        }),
        alerts: async () =>
          (await openAlerts(table).page(accountId, { limit: 10 })).items.map(({ percent, summary }) => [
            percent,
            summary,
          ]),
      };
    },
    /** Sums of values, from the records alone. */
    expected: async () => {
      const sums = new Map<string, number>();
      for (const record of await records())
        for (const count of record.countedFor as ValueCount[]) {
          const { sk } = limitValueKey(accountId, count.budgetId, count.periodId, count.value);
          sums.set(sk, (sums.get(sk) ?? 0) + useBy(record, count).usedNanoUsd);
        }
      return sums;
    },
  };
};

const user = (name: string) => ({ metadata: { user: name } });

describe('a limit of each', () => {
  it('counts each value by itself, to the nano-dollar, and requests without one as those', async () => {
    const world = await worldOf();
    const id = await world.limit({ each: 'dim:user' });
    await world.record(
      world.event(1, { tokens: 3, ...user('ada') }),
      world.event(2, { tokens: 5, ...user('bob') }),
      world.event(3, { tokens: 11 }),
      world.event(4, { tokens: 13, ...user('(none)') }),
      world.event(5, { tokens: 17, ...user('a#b%c') }),
    );
    expect(await world.used(id)).toEqual({ ada: 21, bob: 35, '(none)': 77, '\\(none)': 91, 'a#b%c': 119 });
  });

  it('counts only what its filter matches, in the period of the request', async () => {
    const world = await worldOf();
    const id = await world.limit({ each: 'session', period: 'daily', filter: { tag: 'batch' } });
    const session = { session: { id: 's1' } };
    await world.record(
      world.event(1, { tokens: 3, tag: 'batch', ...session }),
      world.event(2, { tokens: 5, ...session }),
      world.event(3, { tokens: 7, tag: 'batch', ...session, startedAt: '2026-11-19T23:59:59.000Z' }),
    );
    expect(await world.used(id, 'daily#2026-11-20T00:00:00.000Z')).toEqual({ s1: 21 });
    expect(await world.used(id, 'daily#2026-11-19T00:00:00.000Z')).toEqual({ s1: 49 });
  });

  it('takes back exactly what it counted, under the value that it counted it for', async () => {
    const world = await worldOf();
    const id = await world.limit({ each: 'project', unknownCost: { countAsUsd: 0.000002 } });
    await world.record(world.event(1, { tokens: 3 }), openEvent({ ...world.event(2), kind: 'open' } as never));
    expect(await world.used(id)).toEqual({ default: 2_021 });
    const audit = auditEntry(world.accountId, {}, { action: 'key.changed', subject: world.keyId }, world.now());
    const project = { projectId: 'p1', name: 'Search', createdAt: world.now().toISOString() };
    await openProjects(table).create(project, audit);
    const keys = openServiceKeys(table);
    await keys.change((await keys.find(world.accountId, world.keyId))!, { projectId: 'p1' }, audit);
    await world.reprice(9);
    expect(await world.used(id)).toEqual({ default: 2_027 });
    world.restart();
    await world.record(world.event(2, { tokens: 10 }), world.event(1, { tokens: 99 }));
    expect(await world.used(id)).toEqual({ default: 27, p1: 70 });
    // It had reserved before its key moved.
    const reservations = ['monthly#2026-10-01T00:00:00.000Z', MONTH].map((periodId) => ({
      ...{ budgetId: id, periodId, minute: 1, nanoUsd: 9, unknownNanoUsd: 0 },
      value: periodId === MONTH ? 'default' : 'before',
    }));
    await world.record(world.event(3, { tokens: 1, reservations }));
    expect(await world.used(id)).toEqual({ default: 34, p1: 70 });
  });

  it('knows a key that was made a moment ago', async () => {
    const world = await worldOf();
    const id = await world.limit({ each: 'key', filter: { member: world.userId } });
    await world.record(world.event(1, { tokens: 3 }));
    await newKey(table, world.accountId, { keyId: 'new', ownerUserId: world.userId });
    await world.record(world.event(2, { tokens: 5, keyId: 'new' }));
    expect(await world.used(id)).toMatchObject({ new: 35 });
  });

  it('counts the requests of its period from before it, once', async () => {
    const world = await worldOf();
    await world.record(...[1, 2, 3].map((n) => world.event(n, { tokens: n, ...user('ada') })));
    await world.record(world.event(4, { tokens: 100, ...user('ada'), startedAt: '2026-10-31T23:00:00.000Z' }));
    const id = await world.limit({ each: 'dim:user' });
    // This recorder does not know it yet.
    await world.record(world.event(5, { tokens: 10, ...user('ada') }));
    world.restart();
    await world.record(world.event(6, { tokens: 20, ...user('ada') }));
    await world.countPast();
    expect(await world.used(id)).toEqual({ ada: 140 });
    world.wait(RECORDERS_KNOW_MS);
    await world.countPast();
    await world.countPast();
    expect(await world.used(id)).toEqual({ ada: 7 * (1 + 2 + 3 + 10 + 20) });
  });

  it('counts a request from before it whose gateway has a clock that is ahead', async () => {
    const world = await worldOf();
    const startedAt = new Date(world.now().getTime() + 10 * MINUTE_MS).toISOString();
    await world.record(world.event(1, { tokens: 3, ...user('ada'), startedAt }));
    const id = await world.limit({ each: 'dim:user' });
    world.wait(RECORDERS_KNOW_MS);
    await world.countPast();
    world.wait(20 * MINUTE_MS);
    await world.countPast();
    expect(await world.used(id)).toEqual({ ada: 21 });
  });

  it('of a month counts what the first hours of a month of 31 days had, on any plan, on its last day', async () => {
    const world = await worldOf({ plan: 'FREE', at: '2026-10-01T00:00:00Z' });
    await world.record(world.event(1, { tokens: 3, ...user('ada') }));
    world.wait(31 * DAY_MS - 10 * MINUTE_MS);
    await deleteExpired(table, world.accountId, world.now().getTime());
    const id = await world.limit({ each: 'dim:user' });
    world.wait(RECORDERS_KNOW_MS);
    await world.countPast();
    expect(await world.used(id, 'monthly#2026-10-01T00:00:00.000Z')).toEqual({ ada: 21 });
  });

  it('alerts once for each value that reaches a percentage of what holds for it', async () => {
    const world = await worldOf();
    const id = await world.limit({ each: 'dim:user', amount: 0.000_1, notifyAt: [80, 100], block: {} });
    const { record, alerts } = await world.alerting(id);
    await record([
      world.event(1, { tokens: 11_000, ...user('ada') }),
      world.event(2, { tokens: 12_000, ...user('bob') }),
    ]);
    expect(await alerts()).toEqual([[80, 'user bob has used 84% of $0.0001: $0.000084.']]);
    // The second is late, and of a month that is over.
    await record([
      world.event(3, { tokens: 1, ...user('bob') }),
      world.event(6, { tokens: 20_000, ...user('eve'), startedAt: '2026-10-31T23:00:00.000Z' }),
    ]);
    expect(await alerts()).toHaveLength(1);
    await record([world.event(4, { tokens: 9_000, ...user('bob') })]);
    expect((await alerts())[0]).toEqual([100, expect.stringContaining('further requests are refused')]);
    const audit = auditEntry(world.accountId, {}, { action: 'budget.override_set' }, world.now());
    await world.values.setOverride(
      overrideAction(world.accountId, id, 'ada', { amountNanoUsd: 77_000, until: null }, null),
      audit,
    );
    await record([world.event(5, { tokens: 1, ...user('ada') })]);
    expect((await alerts())[0]).toEqual([100, expect.stringContaining('user ada')]);
    expect(await alerts()).toHaveLength(3);
    // Another amount has percentages of its own.
    await world.values.setOverride(
      overrideAction(world.accountId, id, 'bob', { amountNanoUsd: 150_000, until: null }, null),
      auditEntry(world.accountId, {}, { action: 'budget.override_set' }, world.now()),
    );
    await record([world.event(7, { tokens: 1, ...user('bob') })]);
    expect((await alerts())[0]).toEqual([80, expect.stringMatching(/^user bob has used 98% of \$0\.00015/)]);
  });

  it('alerts once its budget is on again, though a value reached it while it was off', async () => {
    const world = await worldOf();
    const id = await world.limit({ each: 'dim:user', amount: 0.000_1, notifyAt: [80] });
    const { record, alerts } = await world.alerting(id);
    const setActive = (isActive: boolean) =>
      write(table, update(ruleKey(world.accountId, id), 'SET isActive = :isActive', null, { isActive }));
    await setActive(false);
    await record([world.event(1, { tokens: 12_000, ...user('bob') })]);
    await setActive(true);
    await record([world.event(2, { tokens: 1, ...user('bob') })]);
    expect(await alerts()).toEqual([[80, expect.stringContaining('user bob')]]);
  });

  it('alerts for a value that is refused for what was counted before', async () => {
    const world = await worldOf();
    await world.record(world.event(1, { tokens: 20_000, ...user('ada') }));
    const id = await world.limit({ each: 'dim:user', amount: 0.000_1, block: {} });
    world.wait(RECORDERS_KNOW_MS);
    await world.countPast();
    expect(await world.used(id)).toEqual({ ada: 140_000 });
    const { record, alerts } = await world.alerting(id);
    const nothing = { amountNanoUsd: 0, until: null };
    const audit = auditEntry(world.accountId, {}, { action: 'budget.override_set' }, world.now());
    await world.values.setOverride(overrideAction(world.accountId, id, 'bob', nothing, null), audit);
    const refused = { tokens: 0, outcome: 'refused', status: null } as const;
    await record([world.event(2, { ...refused, ...user('ada') }), world.event(3, { ...refused, ...user('bob') })]);
    expect(await alerts()).toEqual([[100, expect.stringContaining('user ada has used 140%')]]);
    await record([world.event(4, { ...refused, ...user('ada') })]);
    expect(await alerts()).toHaveLength(1);
  });

  it.each([
    ['block', 'user ada counts as having used $1, since the cost of some requests is unknown.', 1],
    [{ countAsUsd: 1 }, 'user ada has used 100% of $1: $1. In it are $1 for each request of unknown cost (1).', 0],
  ])('alerts for a value that requests of unknown cost use up: %p', async (unknownCost, summary, unpricedRequests) => {
    const world = await worldOf();
    const { record, alerts } = await world.alerting(await world.limit({ each: 'dim:user', unknownCost }));
    await record([world.event(1, { reading: { usage: {} }, ...user('ada') })]);
    expect(await alerts()).toEqual([[100, summary]]);
    const [alert] = (await openAlerts(table).page(world.accountId, { limit: 1 })).items;
    expect(alert).toMatchObject({ unpricedRequests });
  });

  it('names people, keys and projects in alerts, not their ids', async () => {
    const world = await worldOf();
    await newKey(table, world.accountId, { keyId: 'k1', name: 'laptop', ownerUserId: world.userId });
    const named = [
      ['member', `“${world.email}”`],
      ['key', '“laptop”'],
      ['project', '“Default”'],
      ['session', 's1'],
    ];
    for (const [n, [each, name]] of named.entries()) {
      const { record, alerts } = await world.alerting(await world.limit({ each, amount: 0.000_1, notifyAt: [80] }));
      // The limits of before have counted the requests of before.
      await record([world.event(n, { tokens: 20_000, keyId: 'k1', session: { id: 's1' } })]);
      expect((await alerts())[0]).toEqual([80, `${each} ${name} has used 140% of $0.0001: $0.00014.`]);
    }
  });

  it('has the sums of the records after anything that happens to them', () =>
    withSeed(async () => {
      const random = randomFrom(SEED);
      const world = await worldOf();
      const ids = [await world.limit({ each: 'dim:user' }), await world.limit({ each: 'session', period: 'hourly' })];
      const late: Parameters<typeof world.record>[0][] = [];
      for (let n = 1; n <= 60; n++) {
        world.wait(random.below(5 * MINUTE_MS));
        const facts = { ...user(random.pick(['a', 'b', 'c'])), session: { id: random.pick(['x', 'y']) } };
        const event = world.event(n, { tokens: 1 + random.below(1_000), ...facts });
        if (random.below(3) === 0) late.push(event);
        else await world.record(event, ...(random.below(4) === 0 ? [event] : []));
        if (random.below(5) === 0) await world.record(openEvent({ ...event, kind: 'open' } as never));
        if (random.below(10) === 0 && late.length > 0) await world.record(random.pick(late));
        if (random.below(20) === 0) await world.reprice(1 + random.below(20));
        if (n === 20) ids.push(await world.limit({ each: 'dim:user', filter: { dim: { user: 'a' } } }));
        if (n === 40) world.restart();
      }
      await world.record(...late);
      world.wait(RECORDERS_KNOW_MS);
      await world.countPast();
      const expected = await world.expected();
      const found = await Promise.all(
        [...expected.keys()].map(async (sk) => {
          const { pk } = limitValueKey(world.accountId, '', '', null);
          const Key = { pk, sk };
          return [sk, (await table.call('GetItem', { TableName: table.name, Key })).Item?.['finished']];
        }),
      );
      expect(new Map(found as [string, number][])).toEqual(expected);
      const all = (await world.records()).reduce((sum, { costNanoUsd }) => sum + (costNanoUsd ?? 0), 0);
      const ofUsers = Object.values(await world.used(ids[0] as string)).reduce((sum, each) => sum + each, 0);
      expect(ofUsers).toBe(all);
      const ofA = await world.used(ids[2] as string);
      expect(ofA['a']).toBe((await world.used(ids[0] as string))['a']);
    }));
});
