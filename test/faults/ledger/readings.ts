import assert from 'node:assert/strict';
import { readingOf } from '../../../fixtures/open-dashboard.ts';
import * as requestOperations from '../../../lambda/dashboard/requests/operations.ts';
import { readRequests } from '../../../lambda/dashboard/requests/read-requests.ts';
import {
  exportSpend as exportOperation,
  readSpend as spendOperation,
} from '../../../lambda/dashboard/spend/operations.ts';
import { exportSpend, readSpend } from '../../../lambda/dashboard/spend/read-spend.ts';
import { openDeclaredDimensions } from '../../../lambda/data/accounts/declared-dimensions.ts';
import { openPeriodUsage } from '../../../lambda/data/billing/billing-usage.ts';
import { openTrackingGaps } from '../../../lambda/data/ledger/tracking-gaps.ts';
import { openRequests } from '../../../lambda/data/requests/requests.ts';
import { openSpend } from '../../../lambda/data/spend/spend.ts';
import { openSpendCounters } from '../../../lambda/data/spend/spend-counters.ts';
import type { Random } from '../random.ts';
import {
  costOf,
  crossDimensions,
  type Dimension,
  type Fact,
  groupKey,
  type LedgerModel,
  type Names,
  ownDimensions,
  type Sums,
  sumOf,
  type Wanted,
  zero,
} from './model.ts';
import type { World } from './world.ts';

const DAY_MS = 86_400_000;
/** What overflow is called. No name of a client is shown like this. */
const OTHER = '(other)';
/** What a value is called that was recorded while its dimension was not declared. */
const UNKNOWN = '(unknown)';
const isHiding = (value: string | null | undefined) => value === OTHER || value === UNKNOWN;

type Declared = Extract<Dimension, `dim:${string}`>;
const isDeclared = (name: Dimension): name is Declared => name.startsWith('dim:');
const isOwn = (name: Dimension) => (ownDimensions as readonly Dimension[]).includes(name);
const apiName = (name: Dimension) => (name === 'keyId' ? ('key' as const) : name);

interface Lean {
  readonly requests: number;
  readonly costNanoUsd: number | null;
  readonly unpricedRequests: number;
}
type Shown = Awaited<ReturnType<ReturnType<typeof readSpend>>>['totals'];
type Group = Awaited<ReturnType<ReturnType<typeof readSpend>>>['groups'][number];

const valueIn = (group: Group, name: Dimension): string | null => {
  if (isDeclared(name)) return group.dim?.[name.slice('dim:'.length)] ?? null;
  return group[name === 'keyId' ? 'key' : name] ?? null;
};

const sumsOf = (shown: Shown): Sums => ({
  requests: shown.requests,
  provider: shown.costByProvenance.provider.costNanoUsd ?? 0,
  computed: shown.costByProvenance.computed.costNanoUsd ?? 0,
  estimated: shown.costByProvenance.estimated.costNanoUsd ?? 0,
  unpriced: shown.unpricedRequests,
  free: shown.freeRequests,
  errors: shown.errors,
  partial: shown.partialRequests,
  unfinished: shown.unfinishedRequests,
  bypassed: shown.bypassedRequests,
  tokens: shown.tokens.inputTokens,
  milliseconds: Math.round((shown.units['audioSeconds'] ?? 0) * 1_000),
});

/** A cost of null says that nothing is known, and a number that something is: never $0 where only unknown cost is. */
const assertCost = (shown: Lean, sums: Sums, mayLack: boolean): void => {
  const cost = costOf(sums);
  // Values that are not known may hide the cost. That of `(other)` does not show as unknown.
  if (cost === 0 && mayLack && shown.costNanoUsd === null) return;
  assert.equal(shown.costNanoUsd, cost === 0 && sums.unpriced > 0 ? null : cost, 'cost');
};

const nothing: Lean = { requests: 0, costNanoUsd: 0, unpricedRequests: 0 };

/** What is shown is the truth; or a lower bound of it, where `may` says how much may be missing. */
const assertBounds = (shown: Sums, may: Lean | null, truth: Sums): void => {
  if (may === null) assert.deepEqual(shown, truth);
  if (may === null) return;
  for (const [name, value] of Object.entries(truth))
    assert.ok(shown[name as keyof Sums] <= value, `${name} ${shown[name as keyof Sums]} is above ${value}`);
  const atMost = (name: string, low: number, high: number, value: number) =>
    assert.ok(value <= low + high, `${name} is ${value}, and the bound ${low} + ${high}`);
  atMost('requests', shown.requests, may.requests, truth.requests);
  atMost('cost', costOf(shown), may.costNanoUsd ?? 0, costOf(truth));
  atMost('unpriced', shown.unpriced, may.unpricedRequests, truth.unpriced);
};

const HOUR_MS = 3_600_000;

/** The percentiles are those of the durations, within a tenth; of fewer requests where some may be missing. */
const assertLatency = (shown: Shown['latency'], facts: readonly Fact[], isExact: boolean): void => {
  const durations = facts.flatMap(({ durationMs }) => durationMs ?? []).sort((left, right) => left - right);
  const requests = shown?.requests ?? 0;
  if (isExact) assert.equal(requests, durations.length, 'requests of known duration');
  assert.ok(requests <= durations.length, `durations of ${requests} requests, and there are ${durations.length}`);
  if (!shown || !isExact) return;
  for (const [percent, ms] of [
    [50, shown.p50Ms],
    [95, shown.p95Ms],
  ] as const) {
    const truth = durations[Math.ceil((durations.length * percent) / 100) - 1] ?? Number.NaN;
    // No more is known of what is longer than an hour. Milliseconds are whole.
    const known = Math.min(HOUR_MS, truth);
    assert.ok(Math.abs(ms - known) <= known / 10 + 1, `p${percent} is ${ms} ms, and should be ${truth}`);
  }
};

const sumOfLean = (all: readonly Lean[]): Lean => ({
  requests: all.reduce((sum, { requests }) => sum + requests, 0),
  costNanoUsd: all.reduce((sum, { costNanoUsd }) => sum + (costNanoUsd ?? 0), 0),
  unpricedRequests: all.reduce((sum, { unpricedRequests }) => sum + unpricedRequests, 0),
});

interface Query {
  readonly granularity: 'hour' | 'day' | 'month';
  /** First instant, and the first one after the range; both at the start of an hour, day or month. */
  readonly from: string;
  readonly to: string;
  readonly groupBy: readonly Dimension[];
  readonly filter: NonNullable<Wanted['filter']>;
}

const parametersOf = ({ granularity, from, to, groupBy, filter }: Query) => ({
  granularity,
  from,
  to,
  groupBy: groupBy.map(apiName),
  ...Object.fromEntries(
    (Object.entries(filter) as [Dimension, readonly (string | null)[]][]).map(([name, values]) =>
      isDeclared(name)
        ? ['dim', values.map((value) => `${name.slice('dim:'.length)}:${value ?? ''}`)]
        : [apiName(name), values.map((value) => value ?? '')],
    ),
  ),
});

const LENGTH = { hour: 13, day: 10, month: 7 } as const;

const reportOf = (world: World, accountId: string, query: Query) =>
  readSpend({
    readCounters: openSpend(world.table).read,
    findDeclared: openDeclaredDimensions(world.table).find,
    readTrackingGaps: openTrackingGaps(world.table).gaps,
    now: () => new Date(world.now()),
  })({
    caller: { accountId, userId: '', role: 'owner', name: '' },
    query: spendOperation.query.parse({ ...parametersOf(query), limit: '1000', latency: 'true' }),
    params: undefined,
    body: undefined,
    authorization: undefined,
    requestId: '',
  });

const assertReport = async (world: World, model: LedgerModel, accountId: string, query: Query): Promise<Group[]> => {
  const { granularity, groupBy, filter, from, to } = query;
  const report = await reportOf(world, accountId, query);
  spendOperation.success.schema.parse(report);
  const wanted: Wanted = { accountId, from, to, filter };
  const truth = model.total(wanted);
  const totals = sumsOf(report.totals);
  assertBounds(totals, report.mayAlsoMatch, truth);
  const matching = model.matching(wanted);
  assertLatency(report.totals.latency, matching, report.mayAlsoMatch === null);
  const filtersOwn = (Object.keys(filter) as Dimension[]).some(isOwn);
  assertCost(report.totals, totals, filtersOwn && report.mayAlsoMatch !== null);
  if (Object.keys(filter).length === 0) assert.equal(report.mayAlsoMatch, null, 'without a filter all is known');
  if (report.isComplete) assert.equal(report.mayAlsoMatch, null, 'complete');

  if (granularity === 'month') {
    // A dimension that is counted on its own has an overflow of its own.
    const byDay = await reportOf(world, accountId, { ...query, granularity: 'day', groupBy: groupBy.filter(isOwn) });
    assert.deepEqual(
      [sumsOf(byDay.totals), byDay.mayAlsoMatch],
      [totals, report.mayAlsoMatch],
      'months and days agree',
    );
  }

  const { previous } = report;
  if (previous !== null) {
    const before = model.total({ ...wanted, from: previous.from, to: previous.to });
    assertBounds(sumsOf(previous.totals), previous.mayAlsoMatch, before);
    const factsBefore = model.matching({ ...wanted, from: previous.from, to: previous.to });
    assertLatency(previous.totals.latency, factsBefore, previous.mayAlsoMatch === null);
  }

  // The series adds up, and each point is right.
  assert.deepEqual(
    sumOfLean(report.series),
    sumOfLean([{ ...report.totals, costNanoUsd: costOf(totals) }]),
    'the series adds up',
  );
  const timeOf = ({ request }: Fact) => request.startedAt.slice(0, LENGTH[granularity]);
  const byTime = model.by(wanted, timeOf);
  const factsByTime = Map.groupBy(matching, timeOf);
  for (const point of report.series) {
    const ofPoint = byTime.get(point.time) ?? zero();
    const may = point.mayAlsoMatch ?? nothing;
    assertLatency(point.latency, factsByTime.get(point.time) ?? [], point.mayAlsoMatch === null);
    const low = { requests: point.requests, cost: point.costNanoUsd ?? 0, unpriced: point.unpricedRequests };
    const high = [may.requests, may.costNanoUsd ?? 0, may.unpricedRequests] as const;
    for (const [index, [name, value]] of Object.entries({
      requests: ofPoint.requests,
      cost: costOf(ofPoint),
      unpriced: ofPoint.unpriced,
    }).entries()) {
      const shown = low[name as keyof typeof low];
      assert.ok(
        shown <= value && value <= shown + (high[index] as number),
        `${name} of ${point.time}: ${shown} to ${shown + (high[index] as number)} instead of ${value}`,
      );
    }
  }

  if (groupBy.length === 0) return [];
  const groups: Group[] = report.groups;
  const others = report.otherGroups ? [report.otherGroups] : [];
  assert.deepEqual(sumOf([...groups, ...others].map(sumsOf)), totals, 'groups add up to the totals');
  const namesOf = (group: Group): Partial<Names> =>
    Object.fromEntries(groupBy.map((name) => [name, valueIn(group, name)]));
  const unnamed = groups.filter((group) => Object.values(namesOf(group)).some(isHiding));
  if (report.isComplete) assert.equal(unnamed.length, 0, 'complete groups have names');
  const keyOf = ({ names }: Fact) => groupKey(names, groupBy);
  const truths = model.by(wanted, keyOf);
  const factsByKey = Map.groupBy(matching, keyOf);
  const shownByKey = new Map(groups.map((group) => [groupKey(namesOf(group), groupBy), group]));
  assert.equal(shownByKey.size, groups.length, 'each group is there once');
  for (const group of groups.filter((each) => !unnamed.includes(each)))
    assert.ok(truths.has(groupKey(namesOf(group), groupBy)), `group ${groupKey(namesOf(group), groupBy)} exists`);
  for (const [key, ofGroup] of truths) {
    const values = JSON.parse(key) as (string | null)[];
    const shown = shownByKey.get(key);
    const hiding = unnamed.filter((group) => {
      const names = namesOf(group);
      return groupBy.every((name, index) => isHiding(names[name]) || names[name] === values[index]);
    });
    const isExact = hiding.length === 0 && others.length === 0 && report.mayAlsoMatch === null;
    const may = isExact
      ? null
      : sumOfLean([...hiding, ...others, ...(report.mayAlsoMatch ? [report.mayAlsoMatch] : [])]);
    try {
      assertBounds(shown ? sumsOf(shown) : zero(), may, ofGroup);
      assertLatency(shown?.latency, factsByKey.get(key) ?? [], isExact);
    } catch (error) {
      throw new Error(`group ${key}: ${(error as Error).message}`, { cause: error });
    }
  }
  return groups;
};

/** Lines of RFC 4180. */
const parseCsv = (text: string): Record<string, string>[] => {
  const rows: string[][] = [[]];
  for (const [, separator, quoted, plain = ''] of text.matchAll(/(^|,|\r\n)(?:"((?:[^"]|"")*)"|([^",\r\n]*))/g)) {
    if (separator === '\r\n') rows.push([]);
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain);
  }
  const [columns = [], ...lines] = rows;
  return lines
    .filter(({ length }) => length === columns.length)
    .map((line) => Object.fromEntries(columns.map((column, index) => [column, line[index] ?? ''])));
};

/** As a spreadsheet must see it: no formula, and nothing is an empty field. */
const inCsv = (name: string | null): string =>
  name !== null && /^[=+\-@\t\r\n＝＋－＠]/.test(name) ? `'${name}` : (name ?? '');

const nanoOf = (usd: string): number => {
  const [whole = '0', fraction = ''] = usd.split('.');
  return Number(whole + fraction.padEnd(9, '0'));
};

/** The same sums as the report. */
const assertCsv = async (world: World, accountId: string, query: Query, groups: readonly Group[]): Promise<void> => {
  const pieces = await exportSpend({
    readCounters: openSpend(world.table).read,
    findDeclared: openDeclaredDimensions(world.table).find,
    now: () => new Date(world.now()),
  })({
    caller: { accountId, userId: '', role: 'owner', name: '' },
    query: exportOperation.query.parse(parametersOf(query)),
    params: undefined,
    body: undefined,
    authorization: undefined,
    requestId: '',
  });
  let text = '';
  for await (const piece of pieces) text += piece;
  const lines = parseCsv(text);
  const columns = query.groupBy.map((name) => ({ keyId: 'key', providerKey: 'provider_key' })[name as string] ?? name);
  const ofLines = new Map<string, number[]>();
  const add = (to: Map<string, number[]>, key: string, values: number[]) =>
    to.set(key, to.get(key)?.map((value, index) => value + (values[index] as number)) ?? values);
  for (const line of lines)
    if (Number(line['requests']) > 0)
      add(ofLines, JSON.stringify(columns.map((column) => line[column])), [
        Number(line['requests']),
        nanoOf(line['cost_usd'] ?? ''),
        Number(line['unpriced_requests']),
        Number(line['free_requests']),
        Number(line['errors']),
        Number(line['input_tokens']),
      ]);
  const ofReport = new Map<string, number[]>();
  for (const group of groups)
    add(ofReport, JSON.stringify(query.groupBy.map((name) => inCsv(valueIn(group, name)))), [
      group.requests,
      group.costNanoUsd ?? 0,
      group.unpricedRequests,
      group.freeRequests,
      group.errors,
      group.tokens.inputTokens,
    ]);
  assert.deepEqual(new Map([...ofLines].sort()), new Map([...ofReport].sort()), 'the CSV has the sums of the report');
};

const iso = (ms: number): string => new Date(ms).toISOString();
const startOfDay = (ms: number): number => Math.floor(ms / DAY_MS) * DAY_MS;

const queriesOf = (random: Random, facts: readonly Fact[], nowMs: number, count: number): Query[] => {
  const first = startOfDay(Math.min(...facts.map(({ request }) => Date.parse(request.startedAt))));
  const last = startOfDay(Math.max(nowMs, ...facts.map(({ request }) => Date.parse(request.startedAt)))) + DAY_MS;
  const days = (last - first) / DAY_MS;
  const monthStart = (ms: number, on = 0) => Date.UTC(new Date(ms).getUTCFullYear(), new Date(ms).getUTCMonth() + on);
  return Array.from({ length: count }, (_, index): Query => {
    const granularity = (['day', 'month', 'hour'] as const)[index % 3] as Query['granularity'];
    const isWhole = random.below(3) === 0;
    let from = isWhole ? first : first + random.below(days) * DAY_MS;
    let to = isWhole ? last : from + (1 + random.below((last - from) / DAY_MS)) * DAY_MS;
    if (granularity === 'month') [from, to] = [monthStart(from), monthStart(to - 1, 1)];
    if (granularity === 'hour') {
      from = Math.max(from, startOfDay(nowMs) - 88 * DAY_MS) + random.below(24) * 3_600_000;
      to = Math.min(Math.max(to, from + 3_600_000), from + 31 * DAY_MS);
    }
    // One dimension that is counted on its own combines with three of the crosses.
    const own = random.below(2) === 0 ? random.pick(ownDimensions) : null;
    const asked: readonly Dimension[] = own === null ? crossDimensions : [own, own, 'provider', 'model', 'keyId'];
    const groupBy = [...new Set(random.shuffled(asked).slice(0, random.pick([0, 1, 1, 2, 5])))];
    const filter: Record<string, (string | null)[]> = {};
    if (random.below(2) === 0)
      for (const name of new Set(random.shuffled(asked).slice(0, random.pick([1, 1, 2])))) {
        // An empty value asks for none, so a name that is empty cannot be asked for.
        const values = Array.from({ length: 1 + random.below(2) }, () => random.pick(facts).names[name]);
        filter[name] = values.filter((value) => value !== '' && (name !== 'provider' || value !== null));
        if (filter[name].length === 0) delete filter[name];
      }
    return { granularity, from: iso(from), to: iso(to), groupBy, filter };
  });
};

const withContext = async <T>(what: string, context: unknown, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw new Error(`${what} ${JSON.stringify(context)}: ${(error as Error).message}`, { cause: error });
  }
};

/** By a dimension that is counted on its own, exactly what was recorded while it was not is unknown. */
const assertUnknown = async (world: World, model: LedgerModel, accountId: string, query: Query, from: string) => {
  for (const [name, unknownUntil] of [
    ['client', ''],
    ['dim:team', from],
  ] as const) {
    const report = await reportOf(world, accountId, { ...query, groupBy: [name], filter: {} });
    const unknown = report.groups.filter((group) => valueIn(group, name) === UNKNOWN);
    const truth = model.total({ accountId, from: query.from, to: query.to < unknownUntil ? query.to : unknownUntil });
    assert.deepEqual(sumOf(unknown.map(sumsOf)), truth, `what is unknown by ${name}`);
  }
};

/** Live counters by day and by hour, whatever summaries say. */
const assertCounters = async (
  world: World,
  model: LedgerModel,
  accountId: string,
  declaredFrom: string,
): Promise<void> => {
  const live = openSpendCounters(world.table);
  const requestsBy = async (counters: AsyncIterable<{ time: string; counters: { requests?: number } }>) => {
    const found: Record<string, number> = {};
    for await (const { time, counters: sums } of counters) found[time] = (found[time] ?? 0) + (sums.requests ?? 0);
    return found;
  };
  const everything: Wanted = { accountId, from: '0', to: '9' };
  const truth = (length: number, from = '', since = '0') =>
    Object.fromEntries(
      [...model.by({ ...everything, from: since }, ({ request }) => request.startedAt.slice(0, length))]
        .filter(([time]) => time >= from)
        .map(([time, { requests }]) => [time, requests]),
    );
  assert.deepEqual(await requestsBy(live.days(accountId, '2000', '2999')), truth(10), 'day counters');
  const keptFrom = iso(startOfDay(world.now()) - 88 * DAY_MS).slice(0, 13);
  assert.deepEqual(await requestsBy(live.hours(accountId, keptFrom, '2999')), truth(13, keptFrom), 'hour counters');
  const own = (name: 'client' | 'dim:team') => requestsBy(live.allocationHours(accountId, name, '2000', '2999'));
  assert.deepEqual(await own('client'), truth(13), 'counters of clients');
  assert.deepEqual(await own('dim:team'), truth(13, '', declaredFrom), 'counters of teams');
  for (const [month, requests] of Object.entries(truth(7)))
    assert.equal(await live.trackedRequests(accountId, month), requests, `month counter of ${month}`);
};

const assertBillingUsage = async (world: World, model: LedgerModel, accountId: string, random: Random) => {
  const usage = openPeriodUsage(world.table);
  const now = world.now();
  const today = startOfDay(now);
  for (const daysAgo of [random.below(31), random.below(100)]) {
    const startMs = today - daysAgo * DAY_MS + random.below(DAY_MS);
    const endMs = startMs + 30 * DAY_MS;
    if (startMs > now) continue;
    // The first hour counts whole, while hours are kept, and the last one not at all. Days of the future do not count yet.
    const hourOf = (ms: number) => Math.floor(ms / 3_600_000) * 3_600_000;
    const hasHours = hourOf(startMs) >= now - 89 * DAY_MS;
    const from = iso(hasHours ? hourOf(startMs) : startOfDay(startMs));
    const to = iso(Math.min(hourOf(endMs), today + DAY_MS));
    assert.equal(
      await usage(accountId, { start: iso(startMs), end: iso(endMs) }, new Date(now)),
      model.total({ accountId, from, to }).requests,
      `billing usage since ${iso(startMs)}`,
    );
  }
  const month = iso(now).slice(0, 7);
  const period = { start: `${month}-01T00:00:00.000Z`, end: iso(Date.UTC(+month.slice(0, 4), +month.slice(5))) };
  assert.equal(
    await usage(accountId, period, new Date(now)),
    model.total({ accountId, from: period.start, to: period.end }).requests,
    'billing usage of the calendar month',
  );
};

/** The request log has every record that has not expired, with its cost. */
const assertLog = async (world: World, model: LedgerModel, accountId: string, random: Random): Promise<void> => {
  const now = world.now();
  const dependencies = {
    ...readingOf(world.table, () => new Date(now)),
    requests: openRequests(world.table, () => now),
  };
  const call = { params: undefined, body: undefined, authorization: undefined, requestId: '' } as const;
  const caller = { accountId, userId: '', role: 'owner' as const, name: '' };
  // By id, which begins with the time.
  const facts = model.matching({ accountId, from: '0', to: iso(now + DAY_MS) });
  const name = random.pick(['tag', 'model', 'providerKey'] as const);
  const value = random.pick(facts).names[name];
  const isAskable = value !== '' && !value?.includes('\ufffd');
  for (const filter of [{}, ...(isAskable ? [{ [name]: value ?? '' }] : [])]) {
    const found: Awaited<ReturnType<ReturnType<typeof readRequests>['listRequests']>>['items'][number][] = [];
    const limit = String(20 + random.below(180));
    let cursor: string | null = null;
    do {
      const query = requestOperations.listRequests.query.parse({
        from: facts[0]?.request.startedAt,
        to: iso(now + DAY_MS),
        limit,
        ...(cursor && { cursor }),
        ...filter,
      });
      const page: { items: typeof found; nextCursor: string | null } = await readRequests(dependencies).listRequests({
        ...call,
        caller,
        query,
      });
      found.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== null);
    const shown = facts.filter(
      (fact) => fact.expiresAt > now && (Object.keys(filter).length === 0 || fact.names[name] === value),
    );
    assert.deepEqual(
      found.map(({ requestId }) => requestId).sort(),
      shown.map(({ request }) => request.requestId).sort(),
      `the log has every request of ${JSON.stringify(filter)}`,
    );
    const byId = new Map(found.map((item) => [item.requestId, item]));
    for (const { request, names, sums, isClosed } of shown) {
      const item = byId.get(request.requestId);
      const what = `request ${request.requestId}`;
      assert.deepEqual(
        [item?.model?.toWellFormed(), item?.tag?.toWellFormed(), item?.key, item?.providerKey],
        [names.model ?? undefined, names.tag ?? undefined, names.keyId, names.providerKey],
        what,
      );
      // Of the requests that fetch one response, one is counted: which one, depends on who was first.
      if (request.end.responseId && isClosed) continue;
      assert.equal(item?.costNanoUsd, sums.unpriced > 0 ? null : costOf(sums), what);
    }
    const fetched = shown.filter(({ request, isClosed }) => isClosed && request.end.responseId !== null);
    for (const [response, some] of Map.groupBy(fetched, ({ request }) => request.end.responseId)) {
      const costs = some.map(({ request }) => byId.get(request.requestId)?.costNanoUsd ?? 0);
      const expected = sumOf(some.map(({ sums }) => sums));
      assert.equal(
        costs.reduce((sum, cost) => sum + cost),
        costOf(expected),
        `response ${response} is counted once`,
      );
    }
  }
  const one = random.pick(facts);
  const { requestId } = one.request;
  const reading = readRequests(dependencies).readRequest({ ...call, caller, query: undefined, params: { requestId } });
  if (one.expiresAt > now) assert.equal((await reading).requestId, requestId);
  else await assert.rejects(reading, { name: 'NotFoundError' });
};

/**
 * Compares all ways of reading an account with the model, and with each other.
 *
 * @returns how many questions were asked
 * @throws Error with the question
 */
export const compareReadings = async (
  world: World,
  model: LedgerModel,
  accountId: string,
  {
    random,
    queries,
    declaredFrom,
  }: { readonly random: Random; readonly queries: number; readonly declaredFrom: string },
): Promise<number> => {
  const facts = model.matching({ accountId, from: '0', to: '9' });
  if (facts.length === 0) return 0;
  await withContext('counters', accountId, () => assertCounters(world, model, accountId, declaredFrom));
  await withContext('billing usage', accountId, () => assertBillingUsage(world, model, accountId, random));
  await withContext('request log', accountId, () => assertLog(world, model, accountId, random));
  const asked = queriesOf(random, facts, world.now(), queries);
  for (const query of asked) {
    const groups = await withContext('report', { accountId, ...query }, () =>
      assertReport(world, model, accountId, query),
    );
    if (groups.length > 0 && groups.length < 1_000)
      await withContext('CSV', { accountId, ...query }, () => assertCsv(world, accountId, query, groups));
  }
  for (const query of asked.slice(0, 1))
    await withContext('unknown values', { accountId, ...query }, () =>
      assertUnknown(world, model, accountId, query, declaredFrom),
    );
  return asked.length + 8;
};
