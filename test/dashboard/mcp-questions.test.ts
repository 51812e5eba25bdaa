import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { DAY_MS, HOUR_MS } from '../../lambda/domain/calendar/units.ts';
import { randomFrom } from '../faults/random.ts';
import { examples, SEED, withSeed } from '../seed.ts';
import { tableForTests } from '../table-for-tests.ts';
import { callTool, openAgents } from './open-agents.ts';
import {
  BILLED,
  budgets,
  byName,
  costOf,
  dayAgo,
  decimal,
  eurOf,
  isKnown,
  iso,
  nanoOf,
  now,
  pointOf,
  type Row,
  seedAccount,
  sumsOf,
  today,
  unknownIn,
} from './seeded-account.ts';

/* Questions of agents over the seeded account, drawn at random. A response is right to the nano-dollar, or says what to ask instead. */

const QUESTIONS = examples(200);
const MAX_CHARACTERS = 8_000;
/** What says what to do instead. */
const ADVICE = /ask for|choose|must be|must not|cannot be combined|do not combine|is required|narrow|There is no such/;

const table = tableForTests();
const random = randomFrom(SEED);
const { below, pick } = random;
const isChance = (percent: number) => below(100) < percent;

let rows: Row[];
let client: Client;
/** The values of each dimension. */
let names: Record<string, (string | null)[]>;

/** The requests from an instant to before another. */
const within = (from: string, to: string, some = rows) => {
  const [first, end] = [Date.parse(from), Date.parse(to)];
  return some.filter(({ ms }) => ms >= first && ms < end);
};

// biome-ignore lint/suspicious/noExplicitAny: results differ by tool.
type Result = any;
const given = { asked: 0, answered: 0, refused: 0, last: '' };

const shownGroup = (group: Result, groupBy: readonly string[]) =>
  JSON.stringify(groupBy.map((name) => (name === 'dim:team' ? group.dim.team : group[name]) ?? null));

/** Asks, and checks what every response must be. Undefined for a refusal. @param isRefused whether it must be; null where it may */
const ask = async (tool: string, args: object, isRefused: boolean | null = false): Promise<Result> => {
  const { text, isError } = await callTool(client, tool, args);
  given.asked += 1;
  given.last = `${tool} ${JSON.stringify(args)}`;
  given[isError ? 'refused' : 'answered'] += 1;
  if (isRefused !== null && isError !== isRefused) throw new Error(`${isRefused ? 'Not refused' : 'Refused'}: ${text}`);
  if (isError) {
    expect(text).toMatch(ADVICE);
    return undefined;
  }
  if (!('limit' in args)) expect(text.length).toBeLessThanOrEqual(MAX_CHARACTERS);
  expect(text).not.toMatch(/NanoUsd|\w*[cC]ost\w*":null/);
  return JSON.parse(text);
};

/** All rows of a response, page by page. */
const rowsOf = async (list: string, tool: string, args: object, first?: Result): Promise<Result[]> => {
  let page = first ?? (await ask(tool, args));
  const found = [...page[list]];
  while (page.nextCursor) {
    page = await ask(tool, { ...args, cursor: page.nextCursor });
    found.push(...page[list]);
  }
  return found;
};
const itemsOf = (tool: string, args: object) => rowsOf('items', tool, args);

const DIMENSIONS = ['provider', 'model', 'tag', 'key', 'providerKey', 'project', 'member', 'client', 'dim:team'];
const isAllocation = (name: string) => name === 'client' || name === 'dim:team';
/** By the docs: an allocation dimension combines with provider, model and what keys belong to. */
const isCombinable = (groupBy: readonly string[], filtered: readonly string[]) => {
  const all = new Set([...groupBy, ...filtered]);
  const allocations = [...all].filter(isAllocation);
  if (groupBy.includes('key') && (groupBy.includes('project') || groupBy.includes('member'))) return false;
  return allocations.length === 0 || (allocations.length === 1 && !all.has('tag') && !all.has('providerKey'));
};
const some = (most: number) => random.shuffled(DIMENSIONS).slice(0, below(most + 1));

/** A filter as agents write it: one value or a list. */
const drawFilter = (filtered: readonly string[]) => {
  const chosen = Object.fromEntries(
    filtered.map((name) => [name, random.shuffled(names[name] ?? []).slice(0, 1 + below(2))]),
  );
  const natural = (values: string[]) => (values.length === 1 && isChance(50) ? values[0] : values);
  const args = Object.fromEntries(
    Object.entries(chosen).map(([name, values]) =>
      name === 'dim:team'
        ? ['dim', natural(values.map((value) => `team:${value ?? ''}`))]
        : [name, natural(values.map((value) => value ?? ''))],
    ),
  );
  const passes = (row: Row) =>
    Object.entries(chosen).every(([name, values]) => values.includes(row.names[name] ?? null));
  /** Those that may pass as well: recorded before the dimension was declared. */
  const mayPass = (row: Row) =>
    Object.entries(chosen).every(([name, values]) =>
      [...values, ...(name === 'dim:team' ? ['(unknown)'] : [])].includes(row.names[name] ?? null),
    );
  return { args, passes, mayPass: (row: Row) => mayPass(row) && !passes(row) };
};

/** Bounds as agents write them: days, hours, or none; some that no sum has. */
const drawRange = (maxDays = 61) => {
  const kind = below(20);
  const last = below(maxDays);
  if (kind === 0) return { args: {}, isRefused: false };
  if (kind === 1) return { args: { from: dayAgo(last), to: dayAgo(last + 2) }, isRefused: true };
  if (kind < 12) return { args: { from: dayAgo(last + below(maxDays - last)), to: dayAgo(last) }, isRefused: false };
  const from = today - (last + 1) * DAY_MS + below(24) * HOUR_MS;
  const to = from + (1 + below(4 * 24)) * HOUR_MS;
  const off = kind === 12 ? (1 + below(59)) * 60_000 : 0;
  return { args: { from: iso(from + off), to: iso(to) }, isRefused: off > 0 && from + off < to };
};

/** The instants that bounds mean: the last day is in the range. */
const boundsOf = ({ from = '', to = '' }) => ({
  from: iso(Date.parse(from)),
  to: iso(Date.parse(to) + (to.includes('T') ? 0 : DAY_MS)),
});

const zoneDays = new Map<string, Intl.DateTimeFormat>();
/** The day of a zone in which the hour of an instant ends: sums are by whole hours. */
const dayInZone = (timeZone: string, ms: number) => {
  const format = zoneDays.get(timeZone) ?? new Intl.DateTimeFormat('en-CA', { timeZone });
  zoneDays.set(timeZone, format);
  return format.format(Math.floor(ms / HOUR_MS) * HOUR_MS + HOUR_MS - 1);
};
const bucketOf = ({ granularity, timeZone }: Result, { ms }: Row) =>
  granularity === 'hour' ? iso(ms).slice(0, 13) : granularity === 'day' ? dayInZone(timeZone, ms) : iso(ms).slice(0, 7);

type Truth = (some: readonly Row[]) => object;
const expectGroups = (report: Result, groupBy: readonly string[], of: readonly Row[], truth: Truth) => {
  const groups = byName(of, groupBy);
  const left = new Set(groups.keys());
  for (const group of report.groups) {
    const key = shownGroup(group, groupBy);
    expect([key, left.delete(key), group]).toMatchObject([key, true, truth(groups.get(key) ?? [])]);
  }
  const others = [...left].flatMap((key) => groups.get(key) ?? []);
  if (left.size === 0 || groupBy.length === 0) expect(report.otherGroups).toBeNull();
  else expect(report.otherGroups).toMatchObject({ groups: left.size, ...truth(others) });
};

/** Every group once, page by page. */
const askGroups = async (
  tool: string,
  args: object,
  report: Result,
  by: readonly string[],
  of: readonly Row[],
  truth: Truth,
) => expectGroups({ groups: await rowsOf('groups', tool, args, report), otherGroups: null }, by, of, truth);

const askSpend = async () => {
  const groupBy = some(2);
  const filtered = some(2);
  const filter = drawFilter(filtered);
  const { args: range, isRefused } = drawRange();
  const granularity = isChance(50) ? pick(['hour', 'day', 'day', 'month']) : undefined;
  const timeZone = pick([undefined, 'Europe/Berlin', 'Asia/Kolkata']);
  const args = {
    ...range,
    ...filter.args,
    ...(groupBy.length > 0 && { groupBy: groupBy.length === 1 && isChance(50) ? groupBy[0] : groupBy }),
    ...(granularity && { granularity }),
    ...(timeZone && { timeZone }),
    ...(isChance(30) && { latency: isChance(50) ? true : 'true' }),
    ...(isChance(20) && { limit: 1 + below(5) }),
  };
  const mustRefuse = isRefused || !isCombinable(groupBy, filtered);
  // Hours of more than 31 days are refused, and a long series where the agent names a limit.
  const report = await ask('spend', args, mustRefuse || (granularity === 'hour' ? null : false));
  if (report === undefined) return;
  if ('from' in range) expect(report).toMatchObject(boundsOf(range));
  const inRange = within(report.from, report.to);
  const of = inRange.filter(filter.passes);
  const lacking = inRange.filter(filter.mayPass);
  const mayLack = lacking.length > 0;
  expect(report.totals).toMatchObject(sumsOf(of, mayLack));
  expect([report.totals.tokens?.inputTokens ?? null, report.totals.tokens?.outputTokens ?? null]).toEqual(
    [0, 1].map((kind) => (report.totals.tokens ? of.reduce((sum, { tokens }) => sum + (tokens[kind] ?? 0), 0) : null)),
  );
  expect(report.mayAlsoMatch).toEqual(mayLack ? expect.objectContaining({ requests: lacking.length }) : null);
  const hasUnknown = of.some((row) => groupBy.some((name) => row.names[name] === '(unknown)'));
  expect(report.isComplete).toBe(!mayLack && !hasUnknown);
  expectGroups(report, groupBy, of, pointOf);
  if (report.previous !== null) {
    const before = within(report.previous.from, report.previous.to);
    expect(report.previous.to).toBe(report.from);
    expect(report.previous.totals).toMatchObject(sumsOf(before.filter(filter.passes), before.some(filter.mayPass)));
  }
  if (granularity === undefined) return askGroups('spend', args, report, groupBy, of, pointOf);
  const points = await rowsOf('series', 'spend', args, report);
  const truth = Map.groupBy(of, (row) => bucketOf(report, row));
  const mayBe = Map.groupBy(lacking, (row) => bucketOf(report, row));
  for (const { time, groups = [], ...point } of points) {
    expect([time, point]).toMatchObject([time, pointOf(truth.get(time) ?? [], mayBe.has(time))]);
    for (const group of groups) {
      const key = shownGroup(group, groupBy);
      expect([time, key, group]).toMatchObject([
        time,
        key,
        pointOf(byName(truth.get(time) ?? [], groupBy).get(key) ?? []),
      ]);
    }
  }
  expect(new Set(points.map(({ time }) => time)).size).toBe(points.length);
  expect(points.reduce((sum, { requests }) => sum + requests, 0)).toBe(of.length);
};

const askChange = async () => {
  const groupBy = isChance(30) ? undefined : some(2);
  const filtered = some(1);
  const filter = drawFilter(filtered);
  const { args: range, isRefused } = drawRange(30);
  const apart = isChance(40) && { compareFrom: dayAgo(60 - below(10)), compareTo: dayAgo(45 - below(10)) };
  const args = { ...range, ...filter.args, ...apart, ...(groupBy && { groupBy }) };
  const by = groupBy ?? ['model'];
  const change = await ask('spend_change', args, isRefused || !isCombinable(by, filtered));
  if (change === undefined) return;
  const isOver = 'from' in range && boundsOf(range).to <= iso(now.getTime());
  // A period that is not over ends with the last whole hour, and the one before after as much time.
  if (isOver) expect(change).toMatchObject(boundsOf(range));
  if (isOver && apart) expect(change.before).toMatchObject(boundsOf({ from: apart.compareFrom, to: apart.compareTo }));
  const current = within(change.from, change.to);
  const before = within(change.before.from, change.before.to);
  const [inBefore, inCurrent] = [new Set(before), new Set(current)];
  const truth = (of: readonly Row[], lacks = [false, false]) => {
    const [then, at] = [of.filter((row) => inBefore.has(row)), of.filter((row) => inCurrent.has(row))];
    const known = isKnown(then, lacks[0]) && isKnown(at, lacks[1]);
    return {
      ...{ requestsBefore: then.length, requests: at.length, costBeforeUsd: costOf(then, lacks[0]) },
      ...{ costUsd: costOf(at, lacks[1]), displayCost: eurOf(at, lacks[1]), displayCostBefore: eurOf(then, lacks[0]) },
      costChangeUsd: known ? decimal(nanoOf(at) - nanoOf(then)) : 'unknown',
    };
  };
  const both = [...new Set([...before, ...current])].filter(filter.passes);
  const lacks = [before, current].map((rowsOf) => rowsOf.some(filter.mayPass));
  expect(change.totals).toMatchObject(truth(both, lacks));
  expectGroups(change, by, both, truth);
  await askGroups('spend_change', args, change, by, both, truth);
  if (change.effects === null) return expect(change.totals.costChangeUsd).toBe('unknown');
  const parts = Object.values(change.effects).map((part) => BigInt(Math.round(Number(part) * 1e9)));
  expect(decimal(parts.reduce((sum, part) => sum + part, 0n))).toBe(change.totals.costChangeUsd);
};

const askRequests = async () => {
  const from = today - (1 + below(60)) * DAY_MS + below(DAY_MS);
  const to = Math.min(now.getTime(), from + below(3 * DAY_MS) + 1);
  const filtered = some(1).filter((name) => name !== 'project');
  const [name] = filtered;
  const value = pick(names[name ?? ''] ?? []);
  const byOthers = pick([
    [{}, () => true],
    [{ status: 429 }, ({ status }: Row) => status === 429],
    [{ outcome: 'client_aborted' }, ({ outcome }: Row) => outcome === 'client_aborted'],
    [{ provenance: 'unknown' }, ({ nanoUsd }: Row) => nanoUsd === null],
  ] as const);
  const isTeam = name === 'dim:team';
  const team = (row: Row) => (row.names['metadata'] ?? null) === value;
  const args = {
    ...{ from: iso(from), to: iso(to), ...byOthers[0] },
    ...(isTeam ? { metadata: `team:${value ?? ''}` } : name && { [name]: value ?? '' }),
    ...(isChance(20) && { limit: 1 + below(20) }),
  };
  const of = within(iso(from), iso(to)).filter(
    (row) => byOthers[1](row) && (name === undefined || (isTeam ? team(row) : row.names[name] === value)),
  );
  const items = await itemsOf('requests', args);
  expect(items.map(({ requestId, costUsd, displayCost }) => [requestId, costUsd, displayCost])).toEqual(
    of.toReversed().map((row) => [row.id, costOf([row]), eurOf([row])]),
  );
};

const askRequest = async () => {
  const row = pick(rows);
  const request = await ask('request', { requestId: row.id });
  expect(request).toMatchObject({ costUsd: costOf([row]), provenance: row.provenance, client: row.names['client'] });
  await ask('request', { requestId: `${row.id}0` }, true);
};

const askSessions = async () => {
  const range = { from: dayAgo(10 + below(20)), to: dayAgo(below(10)) };
  const of = within(range.from, iso(Date.parse(range.to) + DAY_MS)).filter(({ session }) => session);
  const bySession = Map.groupBy(of, ({ session }) => session?.id);
  const limit = isChance(50) && { limit: 1 + below(10) };
  const { sessions, totals } = await ask('sessions', { ...range, ...limit });
  const sums = ({ requests, costUsd }: ReturnType<typeof pointOf>) => ({ requests, costUsd });
  expect([sessions, totals]).toMatchObject([bySession.size, sums(pointOf(of))]);
  const seen = new Set<string>();
  for (const item of await itemsOf('sessions', { ...range, ...limit })) {
    expect(item).toMatchObject(sums(pointOf(bySession.get(item.id) ?? [])));
    seen.add(item.id);
  }
  expect(seen.size).toBe(bySession.size);
  // A weekend may have no sessions.
  if (bySession.size === 0) return;
  const [id, own] = pick([...bySession]);
  const session = await ask('session', { ...range, sessionId: id });
  expect(session).toMatchObject(sums(pointOf(own)));
  for (const agent of session.agents)
    expect(agent).toMatchObject(sums(pointOf(own.filter((row) => (row.session?.agentId ?? null) === agent.agentId))));
};

/** By docs/dashboard-api.md: what was spent before today, today, and the rate for each day left. */
const askForecast = async () => {
  const filter = drawFilter(some(1).filter((name) => name !== 'providerKey' && name !== 'dim:team'));
  const forecast = await ask('forecast', filter.args);
  const of = rows.filter(filter.passes);
  const sum = (from: number, to: number) => Number(nanoOf(within(iso(from), iso(to), of)));
  const month = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
  const nextMonth = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
  const soFar = within(iso(month), iso(nextMonth), of);
  expect(forecast).toMatchObject({ costUsd: costOf(soFar), unpricedRequests: unknownIn(soFar) });
  const hasWeek = within(iso(today - 14 * DAY_MS), iso(today - 6 * DAY_MS), of).length > 0;
  const isRateKnown = isKnown(within(iso(today - 7 * DAY_MS), iso(today), of));
  if (!isKnown(soFar) || !hasWeek || !isRateKnown) return expect(forecast.forecastCostUsd).toBe('unknown');
  const rate = sum(today - 7 * DAY_MS, today) / 7;
  const left = (nextMonth - today) / DAY_MS - 1;
  const whole = sum(month, today) + Math.max(rate, sum(today, nextMonth)) + rate * left;
  expect(forecast.forecastCostUsd).toBe(decimal(BigInt(Math.round(whole))));
};

const askLimits = async () => {
  const items = await itemsOf('budgets', isChance(50) ? { limit: 1 + below(2) } : {});
  expect(items.map(({ name }) => name).sort()).toEqual(budgets.map(({ name }) => name).sort());
  for (const { name, amount, filter = {}, from } of budgets) {
    const of = rows.filter(
      ({ ms, names: own }) => ms >= from && Object.entries(filter).every(([by, value]) => own[by] === value),
    );
    const used = nanoOf(of);
    expect(items.find((item) => item.name === name).state).toMatchObject({
      ...{ knownUsd: decimal(used), usedUsd: decimal(used), unpricedRequests: unknownIn(of) },
      remainingUsd: decimal(BigInt(amount) * 1_000_000_000n - used),
      percentUsed: Number((used * 100n) / (BigInt(amount) * 1_000_000_000n)),
    });
  }
};

const askBill = async () => {
  const [from, to] = [BILLED.from + 3 - below(10), BILLED.to - 2 + below(5)];
  const provider = isChance(60) ? BILLED.provider : pick(names['provider'] as ['anthropic']);
  const report = await ask('reconciliation', { provider, from: dayAgo(from), to: dayAgo(to) });
  const of = within(dayAgo(from), dayAgo(to - 1)).filter(({ names: own }) => own['provider'] === provider);
  const days = Math.min(from, BILLED.from) - Math.max(to, BILLED.to) + 1;
  const isBilled = provider === BILLED.provider;
  const billed = isBilled ? BigInt(days * BILLED.eachDayNanoUsd) : 0n;
  expect(report).toMatchObject({ billedUsd: isBilled ? decimal(billed) : 'unknown', recordedUsd: decimal(nanoOf(of)) });
  const difference = (report.differences as { amountUsd: string }[]).reduce(
    (sum, { amountUsd }) => sum + BigInt(Math.round(Number(amountUsd) * 1e9)),
    0n,
  );
  expect(difference).toBe(billed - nanoOf(of));
};

const askSavings = async () => {
  const days = 20 + below(10);
  const found = await ask('savings', { from: dayAgo(days), to: dayAgo(1) });
  const lost = within(dayAgo(days), dayAgo(0)).filter(
    ({ outcome, status, nanoUsd }) => nanoUsd && (outcome === 'client_aborted' || (status ?? 0) >= 400),
  );
  const truth = [...byName(lost, ['provider', 'model', 'tag']).values()]
    .map((of) => [Math.round((Number(nanoOf(of)) * 30) / days), of.length] as const)
    .filter(([nano]) => nano >= 1e9);
  expect(
    found.items
      .filter(({ kind }: Result) => kind === 'interrupted_responses')
      .map(({ usdPerMonth, requests }: Result) => [usdPerMonth, requests])
      .sort(),
  ).toEqual(truth.map(([nano, requests]) => [decimal(BigInt(nano)), requests]).sort());
};

beforeAll(async () => {
  const seeded = await seedAccount(table);
  rows = seeded.rows;
  const valuesOf = (name: string) => [...new Set(rows.map((row) => row.names[name] ?? null))];
  names = Object.fromEntries(DIMENSIONS.map((name) => [name, valuesOf(name).filter((value) => value !== '(unknown)')]));
  const { newToken, connect } = await openAgents(table);
  client = await connect(await newToken(seeded.account));
});
afterAll(() => client?.close());

it('responds to questions about the seeded account exactly, or with what to ask instead', async () => {
  const kinds = [
    ...Array.from({ length: 7 }, () => askSpend),
    ...[askChange, askChange, askChange, askRequests, askRequests, askRequests],
    ...[askRequest, askSessions, askForecast, askForecast, askLimits, askBill, askSavings],
  ];
  await withSeed(async () => {
    for (let n = 0; n < QUESTIONS; n++)
      await (kinds[n % kinds.length] as () => Promise<void>)().catch((error: Error) => {
        throw new Error(`${given.last}\n${error.message}`, { cause: error });
      });
  });
  expect(given.asked).toBeGreaterThanOrEqual(QUESTIONS);
  expect(given.answered / given.asked).toBeGreaterThan(0.6);
  expect(given.refused).toBeGreaterThan(0);
});
