import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { newAccount } from '../data/new-account.ts';
import { rollUpDue } from '../data/roll-up.ts';
import { invoke, silentLogger } from '../http/invoke.ts';
import { tableForTests } from '../table-for-tests.ts';
import { closeEvent } from '../usage-recorder/events.ts';
import { openDashboard } from './open-dashboard.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Days are rolled up at ROLLED_UP_AT and read at NOW. Late events are recorded between the two, in days already rolled up. */
const ROLLED_UP_AT = Date.parse('2026-11-19T06:00:00Z');
const NOW = Date.parse('2026-11-20T16:30:00Z');
const LAST_HOUR = Date.parse('2026-11-20T16:00:00Z');
const EVENTS = 400;

/** Priced models, an unknown one, and names with all characters that keys must escape. */
const event = fc.record({
  // GET /requests ends right before the current millisecond.
  agoMs: fc.integer({ min: 1, max: 28 * DAY_MS }),
  isLate: fc.boolean(),
  model: fc.constantFrom('gpt-4o-mini', 'gpt-4.1', 'acme/house-model', 'a#b%23c', 'модель 😀'),
  provider: fc.constantFrom('openai' as const, 'groq' as const, 'openrouter' as const),
  tag: fc.constantFrom(null, 'search', 'a#b%', '=1+1', '😀'),
  keyId: fc.constantFrom('key-1', 'key-2'),
  providerKey: fc.constantFrom('p1', 'p2', null),
  status: fc.constantFrom(200, 200, 200, 429, 500),
  input: fc.integer({ min: 0, max: 2_000_000 }),
  output: fc.integer({ min: 0, max: 100_000 }),
  usageSource: fc.constantFrom('reported' as const, 'reported' as const, 'estimated' as const, 'none' as const),
});

const dimensionNames = ['provider', 'model', 'tag', 'key', 'providerKey'] as const;
type Names = Partial<Record<(typeof dimensionNames)[number], string | null>>;
interface Summary extends Required<Names> {
  readonly startedAt: string;
  readonly costNanoUsd: number | null;
  readonly provenance: string;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

const table = tableForTests();
const handler = openDashboard(table, () => new Date(NOW));
let caller: { accountId: string; userId: string };
let everything: Summary[];

const get = async (path: string, query: Record<string, string[]>) => {
  const { status, body } = await invoke(handler, { method: 'GET', path: `/api${path}`, query, caller });
  expect([path, query, status, body.error]).toEqual([path, query, 200, undefined]);
  return body;
};

const allRequests = async (query: Record<string, string[]>, limit: number): Promise<Summary[]> => {
  const items: Summary[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await get('/requests', { ...query, limit: [String(limit)], ...(cursor && { cursor: [cursor] }) });
    items.push(...page.items);
    cursor = page.nextCursor;
  }
  return items;
};

beforeAll(async () => {
  caller = await newAccount(table);
  const events = fc.sample(event, EVENTS).map(({ agoMs, input, output, ...facts }, n) => ({
    ...facts,
    close: closeEvent({
      ...facts,
      accountId: caller.accountId,
      n,
      startedAt: new Date(NOW - agoMs).toISOString(),
      reading: {
        usage: facts.usageSource === 'none' ? null : { prompt_tokens: input, completion_tokens: output },
        usageSource: facts.usageSource,
        modelRequested: facts.model,
        modelServed: facts.model,
      },
    }),
  }));
  const recordAt = async (at: number, isLate: boolean) => {
    const record = openRecorder(table, { logger: silentLogger(), now: () => at });
    const some = events.filter((each) => (each.isLate || Date.parse(each.close.startedAt) > ROLLED_UP_AT) === isLate);
    for (let i = 0; i < some.length; i += 50) {
      const results = await record(some.slice(i, i + 50).map(({ close }) => close));
      expect(results.every(({ kind }) => kind === 'recorded')).toBe(true);
    }
  };
  await recordAt(ROLLED_UP_AT, false);
  await rollUpDue(table, ROLLED_UP_AT);
  await recordAt(NOW, true);
  everything = await allRequests({}, 200);
});

const costOf = (requests: readonly Summary[]) => {
  const unpriced = requests.filter(({ costNanoUsd }) => costNanoUsd === null).length;
  const known = requests.reduce((sum, { costNanoUsd }) => sum + (costNanoUsd ?? 0), 0);
  return {
    requests: requests.length,
    unpricedRequests: unpriced,
    costNanoUsd: unpriced > 0 && known === 0 ? null : known,
  };
};
const shown = ({ requests, unpricedRequests, costNanoUsd }: ReturnType<typeof costOf>) => ({
  requests,
  unpricedRequests,
  costNanoUsd,
});
const namesOf = (names: Names, groupBy: readonly (keyof Names)[]) => JSON.stringify(groupBy.map((name) => names[name]));
const byGroup = (requests: readonly Summary[], groupBy: readonly (keyof Names)[]) =>
  Object.fromEntries(
    [...Map.groupBy(requests, (each) => namesOf(each, groupBy))].map(([group, some]) => [group, costOf(some)]),
  );
const bucketLength = { hour: 13, day: 10, month: 7 } as const;

const values = <T>(each: readonly T[]) => fc.subarray([...each], { minLength: 1, maxLength: 2 });
const query = fc.record({
  granularity: fc.constantFrom('hour' as const, 'day' as const, 'month' as const),
  bounds: fc.uniqueArray(fc.integer({ min: 0, max: 29 * 24 }), { minLength: 2, maxLength: 2 }),
  groupBy: fc.subarray([...dimensionNames]),
  filter: fc.record(
    {
      provider: values(['openai', 'groq', 'openrouter']),
      model: values(['gpt-4o-mini', 'acme/house-model', 'a#b%23c', 'модель 😀']),
      tag: values(['', 'search', 'a#b%', '=1+1', '😀']),
      key: values(['key-1', 'key-2']),
      providerKey: values(['p1', 'p2', '']),
    },
    { requiredKeys: [] },
  ),
});

describe('GET /spend', () => {
  it('has requests of every kind', () => {
    expect(everything).toHaveLength(EVENTS);
    expect(new Set(everything.map(({ requestId }: Summary & { requestId?: string }) => requestId)).size).toBe(EVENTS);
    expect(new Set(everything.map(({ provenance }) => provenance))).toEqual(
      new Set(['computed', 'estimated', 'unknown', 'free']),
    );
  });

  it('equals the sum of GET /requests to the nano-dollar, for any query', async () => {
    await fc.assert(
      fc.asyncProperty(query, async ({ granularity, bounds, groupBy, filter }) => {
        const [to, from] = bounds
          .toSorted((a, b) => a - b)
          .map((ago) => new Date(LAST_HOUR - ago * HOUR_MS).toISOString());
        const report = await get('/spend', {
          from: [from as string],
          to: [to as string],
          granularity: [granularity],
          groupBy,
          ...filter,
          limit: ['1000'],
        });
        const passes = (request: Summary) =>
          Object.entries(filter).every(([name, wanted]) =>
            wanted.includes((request[name as keyof Names] as string | null) ?? ''),
          );
        const within = (range: { from: string; to: string }) =>
          everything.filter((each) => each.startedAt >= range.from && each.startedAt < range.to && passes(each));
        expect([report.from, report.to]).toEqual([from, to]);
        const expected = within(report);
        expect(shown(report.totals)).toEqual(costOf(expected));
        expect(report.totals.tokens.inputTokens).toBe(
          expected.reduce((sum, { inputTokens }) => sum + (inputTokens ?? 0), 0),
        );
        const groups = (some: (Names & ReturnType<typeof costOf>)[]) =>
          Object.fromEntries(some.map((group) => [namesOf(group, groupBy), shown(group)]));
        if (groupBy.length > 0) expect(groups(report.groups)).toEqual(byGroup(expected, groupBy));
        for (const { time, groups: ofPoint, ...sums } of report.series) {
          const ofBucket = expected.filter(({ startedAt }) => startedAt.slice(0, bucketLength[granularity]) === time);
          expect(shown(sums)).toEqual(costOf(ofBucket));
          expect(sums.tokens).toBe(
            ofBucket.reduce((sum, { inputTokens, outputTokens }) => sum + (inputTokens ?? 0) + (outputTokens ?? 0), 0),
          );
          if (groupBy.length > 0 && report.series.length * report.groups.length <= 5_000)
            expect(groups(ofPoint)).toEqual(byGroup(ofBucket, groupBy));
        }
        if (report.previous) expect(shown(report.previous.totals)).toEqual(costOf(within(report.previous)));
      }),
      { numRuns: 25 },
    );
  });
});

describe('GET /requests', () => {
  it('lists the same requests once each, newest first, whatever the page size', async () => {
    const ids = (requests: readonly Summary[]) => requests.map((each) => JSON.stringify(each));
    for (const limit of [7, 33]) expect(ids(await allRequests({}, limit))).toEqual(ids(everything));
    const times = everything.map(({ startedAt }) => startedAt);
    expect(times).toEqual(times.toSorted().reverse());
    const tagged = await allRequests({ tag: ['search'], provider: ['openai'] }, 5);
    expect(ids(tagged)).toEqual(
      ids(everything.filter(({ tag, provider }) => tag === 'search' && provider === 'openai')),
    );
  });
});
