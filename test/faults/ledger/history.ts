import assert from 'node:assert/strict';
import { evaluateRules } from '../../../fixtures/evaluate-rules.ts';
import { settingsOf } from '../../../fixtures/open-dashboard.ts';
import { manageDimensions } from '../../../lambda/dashboard/dimensions/declare-dimensions.ts';
import { manageRules } from '../../../lambda/dashboard/limits/manage-rules.ts';
import { createRule as createOperation } from '../../../lambda/dashboard/limits/rule-operations.ts';
import { openDeclaredDimensions } from '../../../lambda/data/accounts/declared-dimensions.ts';
import { openAlerts } from '../../../lambda/data/alerts/alerts.ts';
import { openRules } from '../../../lambda/data/alerts/rules.ts';
import { openCounterSlots } from '../../../lambda/data/ledger/counter-slots.ts';
import { shardMonth } from '../../../lambda/data/ledger/sharding.ts';
import type { Table } from '../../../lambda/data/table/table.ts';
import type { Alert } from '../../../lambda/domain/alerts/alert.ts';
import { type PlanName, planNames, plans } from '../../../lambda/domain/billing/plans.ts';
import { requestIdAt } from '../../usage-recorder/events.ts';
import { type Random, randomFrom } from '../random.ts';
import {
  costOf,
  isExceeded,
  LedgerModel,
  type ModelRule,
  type Names,
  periodOf,
  priceKinds,
  type Request,
} from './model.ts';
import { compareReadings } from './readings.ts';
import { type Account, type Chances, eventsOf, type Message, openWorld, type World } from './world.ts';

/** One random history: what may happen in it, and how much. */
export interface Theme {
  /** One or two. */
  readonly accounts: number;
  readonly phases: number;
  /** New requests in a phase. */
  readonly requests: number;
  readonly recorders: number;
  /** Questions to each account after each phase. */
  readonly queries: number;
  readonly chances: Omit<Chances, 'held'>;
  /** In thousandths of an actor's transactions, in some phases. */
  readonly held: number;
  /** Days between two phases at most. */
  readonly maxStepDays: number;
  /** Tags in use; names past the limits are more. */
  readonly tags: number;
  /** Account-days use up so many counter slots before a phase. */
  readonly usedSlots: readonly number[];
  /** In thousandths: requests whose events come late, and events that come again. */
  readonly late: number;
  readonly repeated: number;
  readonly reprices: boolean;
  /** In thousandths: how often an account's month is sharded in a phase, while requests are recorded in it. */
  readonly sharded: number;
}

const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000];
const START_MS = Date.parse('2026-08-29T21:40:00Z');
const providers = ['openai', 'anthropic', 'google'] as const;

/** Names that a separator, an escape, a spreadsheet, an object or the name of overflow could confuse. */
const hostileNames = [
  '(other)',
  '\\(other)',
  '\\\\(other)',
  'a#b',
  'a%23b',
  '%',
  '#',
  '=',
  '=1+1',
  '-x',
  '＝x',
  'a,"b"',
  'line\nline',
  ' ',
  '',
  '__proto__',
  'constructor',
  'null',
  '\u0000',
  '\ud800',
  '~',
  '$',
  '🦄'.repeat(64),
  '%#'.repeat(32),
  '日本語',
];

/** Skews of the actors' clocks. No clock is trusted. */
const skews = [0, 0, 0, -2 * 60_000, 20 * 60_000, -HOUR_MS, 26 * HOUR_MS, -26 * HOUR_MS];

interface AccountState {
  readonly account: Account;
  plan: PlanName;
  readonly rules: ModelRule[];
  /** Since when `team` is a dimension. */
  declaredFrom: string;
}

class History {
  readonly model = new LedgerModel();
  readonly #fired = new Set<string>();
  readonly #mayFire = new Set<string>();
  readonly #sent: Message[] = [];
  readonly #accounts: AccountState[] = [];
  readonly #tags: readonly (string | null)[];
  readonly #teams: readonly (string | null)[];
  readonly #models: readonly (string | null)[];
  #requests = 0;
  questions = 0;
  alerts = 0;
  readonly world: World;
  readonly random: Random;
  readonly theme: Theme;

  constructor(world: World, random: Random, theme: Theme) {
    this.world = world;
    this.random = random;
    this.theme = theme;
    const names = random.shuffled(hostileNames);
    this.#tags = [null, ...Array.from({ length: theme.tags }, (_, n) => names[n] ?? `tag-${n}`)];
    this.#teams = [null, '(unknown)', '\\(unknown)', ...random.shuffled(hostileNames).slice(0, 6), 'search', 'ads'];
    this.#models = ['gpt-4o', null, '(other)', ...names.slice(0, 4), 'm'.repeat(128)];
  }

  async open(): Promise<void> {
    const { world } = this;
    for (const plan of (['FREE', 'PRO'] as const).slice(0, this.theme.accounts)) {
      const account = await this.world.newAccount(plan);
      const state: AccountState = { account, plan, rules: [], declaredFrom: '' };
      this.#accounts.push(state);
      await this.#declare(state, ['team', 'env']);
      await this.#declare(state, ['team']);
      state.declaredFrom = new Date(world.now()).toISOString();
      await this.#addRules(state);
    }
  }

  async #declare({ account: { accountId, userId } }: AccountState, names: string[]): Promise<void> {
    const { world } = this;
    await manageDimensions({
      dimensions: openDeclaredDimensions(world.table),
      rules: openRules(world.table),
      now: () => new Date(world.now()),
    }).declareDimensions({
      caller: { accountId, userId, role: 'owner', name: '' },
      params: undefined,
      query: undefined,
      authorization: undefined,
      requestId: '',
      body: { names },
    });
  }

  async #addRules(state: AccountState): Promise<void> {
    const { random, world } = this;
    const { accountId, userId } = state.account;
    const tag = random.pick(
      this.#tags.filter((name) => name && name !== '(other)' && name.isWellFormed() && name.length <= 64),
    );
    const team = random.pick(this.#teams.filter((name) => name && !name.startsWith('(') && name.isWellFormed()));
    const filters = [
      {},
      { tag },
      { provider: random.pick(providers) },
      { model: 'gpt-4o', tag },
      { key: state.account.keyId },
      { client: 'codex', provider: random.pick(providers) },
      { dim: { team: team as string } },
      { dim: { team: team as string }, model: 'gpt-4o' },
    ];
    for (let n = 0; n < 5; n++) {
      const type = random.pick(['cost_threshold', 'cost_threshold', 'unpriced_usage', 'error_rate'] as const);
      const period = random.pick(
        type === 'cost_threshold'
          ? (['daily', 'weekly', 'monthly', 'hourly'] as const)
          : (['daily', 'hourly'] as const),
      );
      const filter = random.pick(filters);
      const limit = {
        cost_threshold: 0.001 * (1 + random.below(5)),
        unpriced_usage: 1 + random.below(9),
        error_rate: 5,
      };
      await manageRules({
        ...settingsOf(world.table, () => new Date(world.now())),
        newId: () => `rule-${state.rules.length}`,
      }).createRule({
        caller: { accountId, userId, role: 'owner', name: '' },
        body: createOperation.body.parse({
          name: 'A rule',
          type,
          channels: ['email'],
          config: { threshold: limit[type], period, ...(Object.keys(filter).length > 0 && { filter }) },
        }),
        params: undefined,
        query: undefined,
        authorization: undefined,
        requestId: '',
      });
      state.rules.push({
        ruleId: `rule-${state.rules.length}`,
        accountId,
        type,
        period,
        limit: type === 'cost_threshold' ? Math.round(limit[type] * 1e9) : limit[type],
        // As reports name them, which is how a rule's filter reads.
        filter: Object.fromEntries(
          Object.entries(filter).map(([name, value]) => {
            if (value !== null && typeof value === 'object') return ['dim:team', [value.team]];
            return [name === 'key' ? 'keyId' : name, [value as string]];
          }),
        ),
        effectiveFrom: world.now(),
      });
    }
  }

  /** A request that begins some time before now, with events of its own. */
  #newRequest(state: AccountState, startedAtMs: number): Request {
    const { random } = this;
    const startedAt = new Date(startedAtMs).toISOString();
    const n = this.#requests++;
    const names: Omit<Names, 'model'> = {
      provider: random.pick(providers),
      tag: random.pick(this.#tags),
      keyId: random.pick([state.account.keyId, state.account.keyId, 'key-2']),
      providerKey: random.pick([null, 'f1', 'f2', `invented-${random.below(40)}`]),
      client: random.pick([null, 'claude-code', 'codex']),
      'dim:team': random.pick(this.#teams),
      'dim:env': random.pick([null, 'prod', 'test']),
    };
    return {
      accountId: state.account.accountId,
      requestId: requestIdAt(startedAt, n),
      startedAt,
      names,
      end: {
        tokens: random.below(12) === 0 ? null : random.below(40) === 0 ? 1e12 : 8 * random.below(50_000),
        priceKind: random.pick([...priceKinds, 'computed', 'computed']),
        isError: random.below(6) === 0,
        // From 0.2 ms to more than an hour; some are not forwarded.
        durationMs: Math.round(1_000 * 0.2 * 2 ** (random.below(2_500) / 100)) / 1_000,
        isRefused: random.below(15) === 0,
        isPartial: random.below(9) === 0,
        isBypassed: random.below(9) === 0,
        model: random.pick(this.#models),
        responseId: null,
      },
    };
  }

  /** A request, or some that fetch one response. */
  #newRequests(): Request[] {
    const { random, theme, world } = this;
    const state = random.pick(this.#accounts);
    const isLate = random.below(1_000) < theme.late;
    // The gateway's clock may be ahead. An age that is just being dropped is left out: clocks may differ on it.
    const agoMs = isLate
      ? random.pick([random.below(26 * DAY_MS), random.below(26 * DAY_MS), 45 * DAY_MS + random.below(DAY_MS)])
      : random.pick([
          random.below(HOUR_MS),
          random.below(DAY_MS),
          random.below(3 * DAY_MS),
          -random.below(HOUR_MS / 3),
        ]);
    const request = this.#newRequest(state, world.now() - agoMs);
    if (random.below(20) > 0) return [request];
    const end = { ...request.end, tokens: 800, priceKind: 'computed' as const, responseId: `resp_${this.#requests}` };
    const names = { ...request.names, provider: 'openai' };
    return Array.from({ length: 2 + random.below(3) }, () => ({
      ...request,
      requestId: requestIdAt(request.startedAt, this.#requests++),
      names,
      end,
    }));
  }

  /** The messages of a phase: events of new requests, and events that come again, in any order. */
  #messages(): Message[] {
    const { random, theme, world } = this;
    const messages: Message[] = [];
    while (messages.length < theme.requests) {
      for (const request of this.#newRequests()) {
        const state = this.#accounts.find(({ account }) => account.accountId === request.accountId) as AccountState;
        const isUnverified = request.names.keyId === state.account.keyId && random.below(10) === 0;
        const { open, close } = eventsOf(request, isUnverified ? state.account.accountKey : null);
        const sent = random.below(8);
        // Most requests send both; some lose their close event, for now or for good.
        if (sent < 3) messages.push({ event: open, request });
        if (sent > 0 || request.end.responseId) messages.push({ event: close, request });
        else this.#sent.push({ event: close, request });
      }
    }
    this.#sent.push(...messages);
    const again = Math.ceil((messages.length * theme.repeated) / 1_000);
    for (let n = 0; n < again; n++) {
      const message = random.pick(this.#sent);
      const ageDays = (world.now() - Date.parse(message.request.startedAt)) / DAY_MS;
      const isUnclear = ageDays > 26 && ageDays < 31 && !this.model.isClosed(message.request.requestId);
      // A response that is fetched again is counted with the first request: all of them are of one phase.
      if (!isUnclear && !(message.request.end.responseId && ageDays > 26)) messages.push(message);
    }
    return random.shuffled(messages);
  }

  /** Recorders, a rollup, and a repricing at the same time, over a table that fails them; then the rest of the queue in peace. */
  async record(): Promise<void> {
    const { random, theme, world, model } = this;
    // In some phases transactions stand still in great number: those of recorders past midnight, those of rollups past other writes.
    const held = random.pick([0, theme.held]);
    const chances = { ...theme.chances, held };
    if (theme.reprices && random.below(2) === 0) world.setFactor(1 + random.below(9));
    const isRepricing = world.factor() !== 1;
    const all = this.#messages();
    const queue = [...all];
    const seeded = () => randomFrom(random.below(2 ** 31));

    const recorders = Array.from({ length: theme.recorders }, async () => {
      const own = seeded();
      // A recorder that dies is followed by another one, until the queue is empty or it has failed often enough.
      for (let lives = 0; lives < 3 && queue.length > 0; lives++) {
        let batch: Message[] = [];
        let isOver = false;
        const result = await world.act({ random: own, chances, skewMs: own.pick(skews) }, async ({ table, now }) => {
          const handle = world.recorder(table, now);
          // One that a call in the background kills may still get here: it takes no more messages.
          for (let batches = 0; batches < 20 && queue.length > 0 && !isOver; batches++) {
            batch = queue.splice(0, 1 + own.below(40));
            // What failed comes again later, in another batch.
            queue.push(...(await handle(batch)));
            batch = [];
          }
        });
        isOver = true;
        if (result === 'killed') queue.push(...batch);
      }
    });
    const rollups = Array.from({ length: 2 }, () => {
      const own = seeded();
      return world
        .act({ random: own, chances, skewMs: own.pick(skews) }, ({ table, now }) => world.rollUp(table, now))
        .catch(() => {});
    });
    const repricings = isRepricing
      ? this.#accounts.map(({ account: { accountId } }) =>
          world
            .act({ random: seeded(), chances }, ({ table }) => world.reprice(table, accountId, this.#range()))
            .catch(() => {}),
        )
      : [];
    const shardings = this.#accounts
      .filter(() => random.below(1_000) < theme.sharded)
      .map(({ account: { accountId } }) => {
        const month = new Date(world.now() - random.pick([0, 0, 20 * DAY_MS])).toISOString().slice(0, 7);
        return world
          .act({ random: seeded(), chances }, async ({ table }) => void (await shardMonth(table, accountId, month)))
          .catch(() => {});
      });
    const working = Promise.all([...recorders, ...rollups, ...repricings, ...shardings]);
    await world.quiescence();
    // What can be recorded is, so that afterwards only those who stood still write.
    await this.#drain(queue);
    if (held > 0) {
      const toMidnight = DAY_MS - (world.now() % DAY_MS);
      world.advance(toMidnight + HOUR_MS + random.below(HOUR_MS));
      await this.#rollUp();
    }
    while (world.isBusy()) {
      world.releaseHeld();
      await world.quiescence();
    }
    await working;

    await this.#drain(queue);
    if (isRepricing)
      for (const { account } of this.#accounts)
        assert.equal(await world.reprice(world.table, account.accountId, this.#range()), 0, 'all can be priced again');
    for (const { event, request } of all) {
      const { plan } = this.#accounts.find(({ account }) => account.accountId === request.accountId) as AccountState;
      const retentionDays = plans[plan].requestRetentionDays;
      model.acknowledge(event, request, { now: world.now(), retentionDays, factor: world.factor() });
    }
    if (isRepricing) model.reprice(world.factor());
  }

  /** Without faults every event is recorded. */
  async #drain(queue: Message[]): Promise<void> {
    const record = this.world.recorder(this.world.table, this.world.now);
    while (queue.length > 0) assert.deepEqual(await record(queue.splice(0, 100)), [], 'every event is recorded');
  }

  async #rollUp(): Promise<void> {
    assert.equal(await this.world.rollUp(this.world.table, this.world.now), 0, 'every period is rolled up');
  }

  #range() {
    return { from: '2026-07-31T00:00:00.000Z', to: new Date(this.world.now() + 2 * DAY_MS).toISOString() };
  }

  /** Time passes: plans change, items expire, days are rolled up or not yet. */
  async pass(phase: number): Promise<void> {
    const { random, theme, world, model } = this;
    world.advance(random.pick([HOUR_MS / 2, 5 * HOUR_MS, DAY_MS, random.below(theme.maxStepDays * DAY_MS)]));
    for (const requestId of await world.expire(`${phase}`)) model.forget(requestId);
    for (const state of this.#accounts) {
      if (random.below(3) === 0) {
        state.plan = random.pick(planNames);
        await world.setPlan(state.account.accountId, state.plan);
      }
      const used = random.pick(theme.usedSlots);
      if (used > 0) await this.#useSlots(state, used);
      if (random.below(2) === 0) await this.#declare(state, random.pick([['team'], ['team', 'env']]));
    }
    if (random.below(2) === 0) await this.#rollUp();
  }

  /** A month later all is rolled up. */
  async end(): Promise<void> {
    const { world, model } = this;
    world.advance(35 * DAY_MS);
    // Months after their days.
    for (let run = 0; run < 2; run++) await this.#rollUp();
    for (const requestId of await world.expire('end')) model.forget(requestId);
  }

  /** An account-day whose counter slots are used up by requests that then failed to be recorded. */
  async #useSlots({ account: { accountId } }: AccountState, count: number): Promise<void> {
    const { random, world } = this;
    const day = new Date(world.now() - random.pick([0, 0, DAY_MS, 3 * DAY_MS])).toISOString().slice(0, 10);
    const wanted = Array.from({ length: count }, (_, n) => ({
      dimensions: { provider: 'openai', model: null, tag: `used-${n}`, keyId: `used-${n}`, providerKey: null },
      mayCost: true,
    }));
    const ofTeams = wanted.map(({ dimensions: { tag, ...names }, mayCost }) => ({
      dimensions: { ...names, tag: null, 'dim:team': tag },
      allocation: 'dim:team' as const,
      mayCost,
    }));
    await openCounterSlots(world.table, world.now).reserve(accountId, day, [...wanted, ...ofTeams]);
  }

  /** Evaluators at the same time, over a table that fails them, and one in peace: every rule fires once for each period. */
  async judgeRules(): Promise<void> {
    const { random, theme, world, model } = this;
    const run = (table: Table, now: () => number) =>
      evaluateRules(table, {
        sendMail: async () => {},
        postWebhook: async () => {},
        dashboardUrl: 'https://dashboard.example.com',
        now: () => new Date(now()),
        logger: { error: () => {} },
      })(() => HOUR_MS);
    const seeded = () => randomFrom(random.below(2 ** 31));
    const chances = { ...theme.chances, held: 0 };
    await Promise.all(
      Array.from({ length: 2 }, () =>
        world.act({ random: seeded(), chances }, ({ table, now }) => run(table, now)).catch(() => {}),
      ),
    );
    const report = await run(world.table, world.now);
    assert.equal(report.failures, 0, 'every rule is judged');

    const now = world.now();
    for (const rule of this.#accounts.flatMap(({ rules }) => rules)) {
      const hours = { hourly: 3, daily: 48, weekly: 48, monthly: 48 }[rule.period];
      for (let at = now; ; ) {
        const period = periodOf(rule.period, at);
        at = Date.parse(period.from) - 1;
        const endMs = Date.parse(period.to);
        if (endMs <= rule.effectiveFrom || now - endMs > 40 * DAY_MS) break;
        const truth = model.matching({ accountId: rule.accountId, filter: rule.filter ?? {}, ...period });
        const name = `${rule.accountId} ${rule.ruleId} ${period.from}`;
        // Until then the names of its filter may have been counted under (other).
        const exactFrom = periodOf(
          rule.period === 'hourly' ? 'hourly' : 'daily',
          rule.effectiveFrom + 5 * MINUTE_MS,
        ).to;
        const exact = truth.filter(({ request }) => request.startedAt >= exactFrom);
        const isExact = exact.length === truth.length;
        if (isExceeded(rule, truth, now) || (rule.type === 'error_rate' && !isExact)) this.#mayFire.add(name);
        if (now - endMs >= hours * HOUR_MS || !isExceeded(rule, exact, now)) continue;
        if (rule.type !== 'error_rate' || isExact) this.#fired.add(name);
      }
    }
    const found = new Set<string>();
    for (const { account } of this.#accounts) {
      let cursor: string | undefined;
      do {
        const page = await openAlerts(world.table).page(account.accountId, { limit: 50, ...(cursor && { cursor }) });
        for (const alert of page.items) {
          const name = `${alert.accountId} ${alert.ruleId} ${alert.period.start}`;
          assert.ok(!found.has(name), `${name} fires once`);
          found.add(name);
          assert.ok(this.#mayFire.has(name), `${name} fires without a reason`);
          if (alert.triggeredAt === new Date(now).toISOString()) this.#assertFigure(alert);
        }
        cursor = page.nextCursor ?? undefined;
      } while (cursor);
    }
    for (const name of this.#fired) assert.ok(found.has(name), `${name} does not fire`);
    this.alerts = found.size;
  }

  /** The cost that an alert of right now names, or the bounds that it says. */
  #assertFigure({ accountId, ruleId, type, period, figure, mayAlsoMatch }: Alert): void {
    if (type !== 'cost_threshold') return;
    const rule = this.#accounts
      .flatMap(({ rules }) => rules)
      .find((each) => each.ruleId === ruleId && each.accountId === accountId);
    const truth = costOf(
      this.model.total({ accountId, filter: rule?.filter ?? {}, from: period.start, to: period.end }),
    );
    assert.ok(
      figure <= truth && truth <= figure + (mayAlsoMatch?.costNanoUsd ?? 0),
      `${ruleId} has ${figure} and at most ${mayAlsoMatch?.costNanoUsd} more of ${truth}`,
    );
  }

  async compare(): Promise<void> {
    for (const { account, declaredFrom } of this.#accounts)
      this.questions += await compareReadings(this.world, this.model, account.accountId, {
        random: this.random,
        queries: this.theme.queries,
        declaredFrom,
      });
  }
}

/**
 * Plays a history. After each phase everything that can be read is compared with the model.
 *
 * @returns what was seen
 * @throws Error with the seed and the phase
 */
export const playHistory = async (seed: number, theme: Theme): Promise<string> => {
  const world = await openWorld(START_MS);
  const history = new History(world, randomFrom(seed), theme);
  let phase = 0;
  try {
    await history.open();
    for (; phase < theme.phases; phase++) {
      await history.record();
      await history.compare();
      await history.judgeRules();
      await history.pass(phase);
      await history.compare();
    }
    await history.end();
    await history.compare();
  } catch (error) {
    throw new Error(`phase ${phase} of seed ${seed}: ${(error as Error).message}`, { cause: error });
  } finally {
    await world.stop();
  }
  const { events, calls, throttled, lost, killed, held } = world.counts;
  return `${events} deliveries, ${calls} calls (${throttled} throttled, ${lost} responses lost, ${held} held), ${killed} kills; ${history.questions} questions, ${history.alerts} alerts, all as the model says`;
};
