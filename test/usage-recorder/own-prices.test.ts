import { describe, expect, it, jest } from '@jest/globals';
import { cancelled, interceptTable } from '../../fixtures/intercept-table.ts';
import { settingsOf } from '../../fixtures/open-dashboard.ts';
import { managePrices } from '../../lambda/dashboard/prices/manage-prices.ts';
import { requestView } from '../../lambda/dashboard/requests/request-view.ts';
import { auditEntry } from '../../lambda/data/accounts/audit-log.ts';
import { openOwnPrices, PRICES_KNOWN_MS } from '../../lambda/data/accounts/own-prices.ts';
import { openRequests } from '../../lambda/data/requests/requests.ts';
import { openSpend } from '../../lambda/data/spend/spend.ts';
import { batchDelete } from '../../lambda/data/table/batch.ts';
import { requestPartition } from '../../lambda/data/table/keys.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import { attoUsdPerUnit, costNanoUsd } from '../../lambda/domain/money.ts';
import { noPrices, type OwnPrice, type Terms } from '../../lambda/domain/own-prices/own-price.ts';
import type { PriceableRequest } from '../../lambda/domain/price/request-rates.ts';
import { contributionOf } from '../../lambda/domain/spend/contribution.ts';
import { addCounters, atListCost, type Counters, knownCostNanoUsd } from '../../lambda/domain/spend/counters.ts';
import { listCostOf, type RequestRecord } from '../../lambda/domain/spend/request-record.ts';
import type { PricedUsage } from '../../lambda/domain/usage/usage.ts';
import type { CloseEvent } from '../../lambda/domain/usage/usage-event.ts';
import { openMonthPricing } from '../../lambda/usage-recorder/own-prices/price-months.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { newAccount } from '../data/new-account.ts';
import { rollUpDue } from '../data/roll-up.ts';
import { failed } from '../faults/ledger/world.ts';
import { type Random, randomFrom } from '../faults/random.ts';
import { SEED, withSeed } from '../seed.ts';
import { tableForTests } from '../table-for-tests.ts';
import { closeEvent, type openEvent, priceOfTokens } from './events.ts';
import { ledgerSums, total } from './ledger-sums.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const AFTER_MS = PRICES_KNOWN_MS + MINUTE_MS;

const table = tableForTests();
/** Names of errors that ended a run of the job. */
const failures = new Set<string>();

/** A token lists at 1,000 nano-USD; models that are called `own` have no list price. */
const price = (event: Pick<PriceableRequest, 'reading' | 'ownRates'>): PricedUsage => {
  const listed = priceOfTokens(event);
  const isOwn = event.reading.modelServed === 'own';
  const unknown = { costNanoUsd: null, provenance: 'unknown', lines: [] } as const;
  if (isOwn && !event.ownRates) return { ...listed, ...unknown, reason: 'No price is known for this model.' };
  if (!listed.usage || listed.costNanoUsd === null) return listed;
  const rate = event.ownRates?.rates.input ?? attoUsdPerUnit(1_000, 1e9);
  const quantity = listed.usage.inputTokens;
  return {
    ...listed,
    costNanoUsd: costNanoUsd([{ quantity, rate }]),
    lines: [{ kind: 'input', quantity, rateNanoUsdPerUnit: Number(rate) / 1e9 }],
    priceSource: event.ownRates?.source ?? 'book',
    provenance: 'computed',
    reason: null,
  };
};

/** A table that refuses some calls, and loses some responses. */
const failingTable = (random: Random) =>
  interceptTable(table, async (command, send) => {
    const roll = random.below(100);
    if (roll < 3) throw failed(command, roll === 0 ? 'ThrottlingError' : 'TransactionConflict', random);
    const response = await send();
    if (roll < 5) throw Object.assign(new Error('socket hang up'), { name: 'TimeoutError' });
    return response;
  });

/** @param table of the recorder, and of what prices again */
const worldOf = async (retentionDays = 400, of = table as Table) => {
  const { accountId, keyId } = await newAccount(table, 'PRO');
  let nowMs = Date.parse('2026-10-28T10:00:00Z');
  const now = () => new Date(nowMs);
  const ownPrices = openOwnPrices(table, () => nowMs);
  let ids = 0;
  const settings = settingsOf(table, now);
  const termsOf = async (id: string) => ({ ...(await settings.termsOf(id)), retentionDays });
  const prices = managePrices({ ...settings, ownPrices, termsOf, newId: () => `price-${++ids}` });
  const caller = { accountId, userId: 'u', role: 'owner', name: 'ada' } as const;
  const input = { caller, clientAddress: '::1', params: undefined, query: undefined, body: undefined } as never;
  const recorder = openRecorder(of, { logger: { error: () => {} }, price, now: () => nowMs });
  const continuePricing = openMonthPricing(of, { price, now });
  const range = { from: '2026-09-01T00:00:00.000Z', to: '2027-03-01T00:00:00.000Z' };
  const records = (): Promise<RequestRecord[]> =>
    Array.fromAsync(openRequests(table, () => nowMs).all(accountId, range));
  /** Runs the job to its end, in steps as short as they can be. */
  const work = async (isLate: () => boolean = () => false) => {
    for (let run = 0; run < 1_000; run++) {
      let asked = 0;
      await continuePricing(accountId, () => asked++ > 0 && isLate()).catch((error: Error) => {
        if (of === table) throw error;
        failures.add(error.name);
      });
      const { job } = (await ownPrices.read(accountId)).own;
      if (!job || job.startsAt > now().toISOString()) return;
    }
    throw new Error('The job does not end.');
  };
  return {
    accountId,
    keyId,
    now,
    wait: (ms: number) => {
      nowMs += ms;
    },
    record: async (events: readonly (CloseEvent | ReturnType<typeof openEvent>)[]): Promise<void> => {
      let rest = events;
      for (let delivery = 0; rest.length > 0 && delivery < 20; delivery++) {
        const results = await recorder(rest);
        rest = rest.filter((_, index) => results[index]?.kind === 'failed');
        for (const result of results)
          expect(result).toMatchObject({ kind: expect.stringMatching(/^(recorded|known|expired|failed)$/) });
        if (of === table) expect(rest).toEqual([]);
      }
      expect(rest).toEqual([]);
    },
    create: (terms: Terms, scope: object = {}, from = '2026-10-01', until: string | null = null) =>
      prices.createPrice({ ...(input as object), body: { name: 'p', from, until, terms, ...scope } } as never),
    update: (id: string, body: object) => prices.updatePrice({ ...(input as object), params: { id }, body } as never),
    remove: (id: string) => prices.deletePrice({ ...(input as object), params: { id } } as never),
    list: () => prices.listPrices(input),
    own: async () => (await ownPrices.read(accountId)).own,
    work,
    workAfter: async (ms: number, isLate?: () => boolean) => {
      nowMs += ms;
      await work(isLate);
    },
    records,
    costs: async () => (await records()).map(({ costNanoUsd }) => costNanoUsd),
    /** Counters by hour and day, and what spend reads, against the sums of the records. */
    check: async () => {
      const sums = await ledgerSums(table, accountId, []);
      const found = await records();
      const expected = found.map((record) => contributionOf(record).counters).reduce(addCounters, {});
      expect(total(sums.days)).toEqual(expected);
      expect(total(sums.hours)).toEqual(expected);
      const sum = (values: readonly (number | null)[]) => values.reduce<number>((all, value) => all + (value ?? 0), 0);
      expect(knownCostNanoUsd(expected)).toBe(sum(found.map(({ costNanoUsd }) => costNanoUsd)));
      expect(knownCostNanoUsd(atListCost(expected))).toBe(sum(found.map(listCostOf)));
      expect(atListCost(expected).unpricedRequests ?? 0).toBe(found.filter((each) => listCostOf(each) === null).length);
      let read: Counters = {};
      const months = { ...range, granularity: 'month' } as const;
      const question = { accountId, range: months, groupBy: ['client'] as const, latency: true };
      for await (const { counters } of openSpend(table).read(question)) read = addCounters(read, counters);
      const withoutOverflow = ({ overflowRequests: _, ...rest }: Counters) => rest;
      expect(withoutOverflow(read)).toEqual(withoutOverflow(expected));
    },
  };
};

const event = (world: { accountId: string; keyId: string }, n: number, startedAt: string, facts: object = {}) =>
  closeEvent({ accountId: world.accountId, keyId: world.keyId, n, startedAt, ...facts });

describe('own prices over the ledger', () => {
  it('change what was recorded before, exactly, and back again', async () => {
    const world = await worldOf();
    const events = [1, 2, 3].map((n) => event(world, n, '2026-10-28T09:00:00.000Z', { tokens: 1_001 }));
    await world.record(events);
    const { id } = await world.create({ kind: 'discount', percent: 15 }, {}, '2026-10-28T09:00:00Z');
    expect((await world.list()).repricing).toMatchObject({ months: ['2026-10'] });
    await world.work();
    // Recorders may not know the price yet.
    expect(await world.costs()).toEqual([1_001_000, 1_001_000, 1_001_000]);
    await world.workAfter(AFTER_MS);
    const changed = await world.records();
    expect(changed[0]).toMatchObject({
      costNanoUsd: 850_850,
      listCostNanoUsd: 1_001_000,
      ownPrices: { steps: [{ priceId: id, kind: 'discount', factor: '0.85' }] },
      revision: 2,
    });
    const [{ rateNanoUsdPerUnit: rate = 0 } = {}] = changed[0]?.lines ?? [];
    expect(requestView(changed[0] as RequestRecord, null).ownPrices?.lines).toMatchObject([
      { rateNanoUsdPerUnit: 0.85 * rate },
    ]);
    await world.record([event(world, 4, '2026-10-28T09:30:00.000Z', { tokens: 1_001 })]);
    expect((await world.records())[0]).toMatchObject({ costNanoUsd: 850_850, listCostNanoUsd: 1_001_000, revision: 1 });
    await world.check();
    expect((await world.list()).lastRepricing).toMatchObject({ changed: 3, differenceNanoUsd: -450_450, failed: 0 });
    await world.remove(id);
    await world.workAfter(AFTER_MS);
    const back = await world.records();
    expect(
      back.map(({ costNanoUsd, listCostNanoUsd, ownPrices }) => [costNanoUsd, listCostNanoUsd, ownPrices]),
    ).toEqual(back.map(() => [1_001_000, undefined, undefined]));
    await world.check();
    const sources = async () => new Set((await world.records()).map(({ priceSource }) => priceSource));
    const { id: rates } = await world.create({ kind: 'rates', usdPerMillionTokens: { input: 2, output: 2 } });
    await world.workAfter(AFTER_MS);
    expect(await sources()).toEqual(new Set([`own:${rates}`]));
    await world.remove(rates);
    await world.workAfter(AFTER_MS);
    expect(await sources()).toEqual(new Set(['book']));
  });

  it('change all requests, where the table took no change for a while', async () => {
    let refusals = 0;
    const refusing = interceptTable(table, async (command, send) => {
      const isOfSecond = JSON.stringify(command.input).includes(second?.requestId ?? '');
      if (command.operation === 'TransactWriteItems' && isOfSecond && refusals-- > 0)
        throw cancelled((command.input.TransactItems ?? []).map(() => 'ThrottlingError'));
      return send();
    });
    const world = await worldOf(undefined, refusing);
    const events = [1, 2].map((n) => event(world, n, '2026-10-28T09:00:00.000Z', { tokens: 100 }));
    const [, second] = events;
    await world.record(events);
    await world.create({ kind: 'discount', percent: 10 });
    world.wait(AFTER_MS);
    refusals = 20;
    const noDelay = jest.spyOn(Math, 'random').mockReturnValue(0);
    await world.work().finally(() => noDelay.mockRestore());
    expect(await world.costs()).toEqual([90_000, 90_000]);
    expect((await world.own()).lastJob).toMatchObject({ changed: 2, failed: 0, differenceNanoUsd: -20_000 });
    await world.check();
  });

  it('change all requests of one instant, in however short steps', async () => {
    const world = await worldOf();
    const startedAt = '2026-10-28T09:00:00.000Z';
    await world.record(Array.from({ length: 201 }, (_, n) => event(world, n, startedAt, { tokens: 1_000 })));
    await world.record([event(world, 201, '2026-10-28T08:00:00.000Z', { tokens: 1_000 })]);
    await world.create({ kind: 'discount', percent: 50 });
    await world.workAfter(AFTER_MS, () => true);
    expect(new Set(await world.costs())).toEqual(new Set([500_000]));
  });

  it('closes a month once its events are there, and again after a late event', async () => {
    const world = await worldOf();
    await world.create({ kind: 'commitment', usd: 0.001, per: 'month' });
    await world.workAfter(AFTER_MS);
    const isFinal = async () => (await world.list()).items[0]?.months.at(-1)?.isFinal;
    expect(await isFinal()).toBe(false);
    await world.record([
      event(world, 1, '2026-10-28T09:00:00.000Z', { tokens: 100 }),
      event(world, 2, '2026-10-28T09:00:00.000Z', { tokens: 300 }),
    ]);
    await world.workAfter(5 * DAY_MS, () => true);
    const costs = async () => (await world.costs()).sort();
    expect([await costs(), await isFinal()]).toEqual([[250_000, 750_000], true]);
    expect((await world.records()).every(({ ownPrices }) => !ownPrices?.isProvisional)).toBe(true);
    await world.record([event(world, 3, '2026-10-30T09:00:00.000Z', { tokens: 400 })]);
    await world.workAfter(DAY_MS);
    expect(await costs()).toEqual([125_000, 375_000, 500_000]);
    const before = (await world.records()).map(({ revision }) => revision);
    await world.workAfter(DAY_MS);
    expect((await world.records()).map(({ revision }) => revision)).toEqual(before);
    await world.check();
  });

  it('adds up a month that is not over from the requests that are on record', async () => {
    const world = await worldOf();
    const { id } = await world.create({ kind: 'credit', usd: 0.001 }, {}, '2026-11-01', '2026-12-24');
    world.wait(AFTER_MS + 5 * DAY_MS);
    await world.record([event(world, 1, '2026-11-02T09:00:00.000Z', { tokens: 600 })]);
    await world.workAfter(DAY_MS);
    const [first] = await world.records();
    await batchDelete(table, [{ pk: requestPartition(world.accountId, '2026-11-02'), sk: `${first?.requestId}` }]);
    await world.record([event(world, 2, '2026-11-03T09:00:00.000Z', { tokens: 300 })]);
    for (const ms of [0, DAY_MS]) await world.workAfter(ms);
    expect((await world.own()).months['2026-11']?.factors[id]?.sum).toBe('300000');
  });

  it('remembers what a credit paid for requests that are no longer on record', async () => {
    const world = await worldOf();
    const { id } = await world.create({ kind: 'credit', usd: 0.001 }, {}, '2026-10-01', '2026-12-24');
    world.wait(AFTER_MS + 5 * DAY_MS);
    await world.record([event(world, 3, '2026-11-02T09:00:00.000Z', { tokens: 600 })]);
    for (let run = 0; run < 2; run++) await world.work();
    const paidIn = async (month: string) => (await world.own()).months[month]?.factors[id]?.sum;
    // However often the month is added up.
    for (const ms of [0, DAY_MS]) {
      await world.workAfter(ms);
      expect(await paidIn('2026-11')).toBe('600000');
    }
    // The month before is paid first, although its requests come late.
    await world.record([1, 2].map((n) => event(world, n, '2026-10-28T09:00:00.000Z', { tokens: 500 })));
    await world.workAfter(DAY_MS);
    const pk = requestPartition(world.accountId, '2026-10-28');
    const old = await world.records();
    await batchDelete(
      table,
      old.filter(({ startedAt }) => startedAt < '2026-11').map(({ requestId }) => ({ pk, sk: requestId })),
    );
    expect(await world.records()).toMatchObject([{ costNanoUsd: 600_000 }]);
    await world.update(id, { until: '2026-12-25' });
    await world.workAfter(AFTER_MS);
    expect(await paidIn('2026-10')).toBe('1000000');
    await world.workAfter(DAY_MS);
    await world.record([event(world, 4, '2026-11-03T09:00:00.000Z', { tokens: 400 })]);
    expect(await world.costs()).toEqual([400_000, 600_000]);
  });

  it('refuses a credit without an end, a price of no time, of an unknown key, and of a month where the plan keeps no month', async () => {
    const world = await worldOf();
    await expect(world.create({ kind: 'credit', usd: 1 })).rejects.toMatchObject({ violations: [{ path: 'until' }] });
    const { id } = await world.create({ kind: 'discount', percent: 15 }, { model: 'a' });
    await expect(world.update(id, { until: '2026-10-01' })).rejects.toMatchObject({ violations: [{ path: 'until' }] });
    expect(await world.update(id, { model: null })).not.toHaveProperty('model');
    const small = await worldOf(30);
    await expect(small.create({ kind: 'commitment', usd: 1, per: 'month' })).rejects.toThrow('choose a larger plan');
    await expect(world.update('none', { name: 'x' })).rejects.toThrow('There is no such price.');
    for (const member of ['key', 'project']) {
      const message = `nowhere is not a ${member} of the account`;
      const unknown = { violations: [{ path: member, message }] };
      const terms = { kind: 'discount', percent: 15 } as const;
      await expect(world.create(terms, { [member]: 'nowhere' })).rejects.toMatchObject(unknown);
      await expect(world.update(id, { [member]: 'nowhere' })).rejects.toMatchObject(unknown);
    }
    expect(await world.update(id, { key: world.keyId, project: 'default' })).toMatchObject({ key: world.keyId });
  });

  it(
    `keeps the sums of records and counters equal, at list and effective cost, over a table that fails (seed ${SEED})`,
    () =>
      withSeed(async () => {
        await play(SEED);
        expect(failures.size).toBeGreaterThan(0);
      }),
    300_000,
  );
});

/** A random history of events, in any order and repeated, price changes, jobs in short steps, and rollups. */
const play = async (seed: number): Promise<void> => {
  const random = randomFrom(seed);
  const pick = <T>(values: readonly T[]): T => values[random.below(values.length)] as T;
  const world = await worldOf(undefined, failingTable(randomFrom(seed + 1)));
  const percent = () => random.below(1_000_000) / 10_000;
  const usd = () => random.below(3_000_000) / 1e9;
  const terms = (): Terms =>
    pick<() => Terms>([
      () => ({ kind: 'discount', percent: percent() }),
      () => ({ kind: 'markup', percent: percent() }),
      () => ({ kind: 'subscription' }),
      () => ({ kind: 'rates', usdPerMillionTokens: { input: random.below(5_000) / 1_000 } }),
      () => ({ kind: 'rates', usdPerRequest: usd() }),
      () => ({ kind: 'credit', usd: usd() }),
      () => ({ kind: 'commitment', usd: usd(), per: 'month', ...(random.below(2) > 0 && { includedUsd: usd() }) }),
      () => ({
        kind: 'volume',
        measure: pick(['usd', 'tokens'] as const),
        tiers: [
          { from: usd(), percent: percent() },
          { from: 0.01, percent: percent() },
        ],
      }),
    ])();
  const scope = () => ({
    ...(random.below(2) > 0 && { provider: pick(['openai', 'anthropic']) }),
    ...(random.below(3) === 0 && { model: pick(['gpt-4o*', 'own', 'gpt-4o-2024-08-06']) }),
    ...(random.below(4) === 0 && { key: world.keyId }),
    ...(random.below(4) === 0 && { credential: 'subscription' }),
  });
  const delayed: (CloseEvent | ReturnType<typeof openEvent>)[] = [];
  const all: CloseEvent[] = [];
  let n = 0;
  for (let phase = 0; phase < 10; phase++) {
    const events = Array.from({ length: 8 }, () => {
      const startedAt = new Date(world.now().getTime() - random.below(20 * DAY_MS)).toISOString();
      const facts = {
        provider: pick(['openai', 'anthropic'] as const),
        client: pick(['claude-code', 'codex']),
        tokens: random.below(10_000),
        ...(random.below(3) === 0 && { credentialKind: 'subscription' as const }),
        ...(random.below(4) === 0 && { reading: { modelServed: 'own', modelRequested: 'own' } }),
      };
      return event(world, ++n, startedAt, facts);
    });
    all.push(...events);
    const some = [...events, ...delayed.splice(0), ...events.slice(0, random.below(3))].filter((each) => {
      const isLate = random.below(5) === 0;
      if (isLate) delayed.push(each);
      return !isLate;
    });
    await world.record(some);
    const { prices } = await world.own();
    const one: OwnPrice | undefined = prices[random.below(prices.length + 1)];
    const until = pick([null, null, '2026-11-10', '2026-12-24']);
    if (!one) {
      const own = terms();
      const end = own.kind === 'credit' ? '2026-12-24' : until;
      await world.create(own, scope(), pick(['2026-10-01', '2026-11-05T11:30:00Z']), end);
    } else if (random.below(3) === 0) await world.remove(one.priceId);
    else if (one.terms.kind !== 'credit')
      await world.update(one.priceId, { until, terms: { kind: 'discount', percent: percent() } });
    world.wait(pick([MINUTE_MS, AFTER_MS, 3 * DAY_MS]));
    await world.work(random.below(2) > 0 ? () => random.below(2) === 0 : undefined);
    await world.check();
    if (random.below(3) === 0) {
      await rollUpDue(table, world.now().getTime());
      await world.check();
    }
  }
  await world.record(delayed);
  const closeMonths = async (of: typeof world) => {
    for (let day = 0; day < 40; day++) {
      of.wait(DAY_MS);
      await of.work();
    }
    await of.check();
    return new Map((await of.records()).map(({ requestId, costNanoUsd }) => [requestId, costNanoUsd]));
  };
  const costs = await closeMonths(world);
  // The same requests in another order, by recorders that knew all prices before: the same costs.
  const other = await worldOf();
  const { prices } = await world.own();
  const audit = auditEntry(other.accountId, {}, { action: 'price.created' }, other.now());
  await openOwnPrices(table).change(other.accountId, (own) => ({ own: { ...own, prices }, audit }));
  other.wait(world.now().getTime() - other.now().getTime() - 40 * DAY_MS);
  const found = all.filter(({ requestId }) => costs.has(requestId));
  await other.record(random.shuffled(found).map((each) => ({ ...each, accountId: other.accountId })));
  const otherCosts = await closeMonths(other);
  expect(otherCosts.size).toBeGreaterThan(0);
  // Events of more than 29 days are not recorded any more: a month that lacks some has another volume.
  const monthOf = new Map(all.map(({ requestId, startedAt }) => [requestId, startedAt.slice(0, 7)]));
  const lacking = new Set([...costs.keys()].filter((id) => !otherCosts.has(id)).map((id) => monthOf.get(id)));
  for (const [requestId, cost] of otherCosts)
    if (!lacking.has(monthOf.get(requestId))) expect([requestId, cost]).toEqual([requestId, costs.get(requestId)]);
};

it('need the projects of keys where one of them names a project, and only then', async () => {
  const { accountId, keyId } = await newAccount(table);
  const calls: string[] = [];
  const counted = interceptTable(table, ({ operation }, send) => {
    calls.push(operation);
    return send();
  });
  const projectsOf = async (...projects: (string | undefined)[]) => {
    const prices = projects.map((project) => ({ project }) as OwnPrice);
    return (await openOwnPrices(counted).accountPricesOf(accountId, { ...noPrices, prices })).projectOf;
  };
  expect((await projectsOf(undefined)).size + calls.length).toBe(0);
  expect(await projectsOf(undefined, 'default')).toEqual(new Map([[keyId, 'default']]));
});
