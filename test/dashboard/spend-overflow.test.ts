import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { interceptTable } from '../../fixtures/intercept-table.ts';
import { readSpend as operation } from '../../lambda/dashboard/spend/operations.ts';
import { exportSpend, readSpend } from '../../lambda/dashboard/spend/read-spend.ts';
import { openSpend } from '../../lambda/data/spend/spend.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import { HOUR_MS } from '../../lambda/domain/calendar/units.ts';
import { OTHER } from '../../lambda/domain/spend/dimensions.ts';
import { route } from '../../lambda/http/operation.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { rollUpDue } from '../data/roll-up.ts';
import { invoke, serve, silentLogger } from '../http/invoke.ts';
import { tableForTests } from '../table-for-tests.ts';
import { closeEvent, priceOfTokens } from '../usage-recorder/events.ts';

const NOW = Date.parse('2026-11-20T16:30:00Z');
const LATER = Date.parse('2026-12-02T06:00:00Z');
const NANO_USD_PER_TOKEN = 7;

const table = tableForTests();

const record = async (events: readonly ReturnType<typeof closeEvent>[]) => {
  const recorder = openRecorder(table, { logger: silentLogger(), price: priceOfTokens, now: () => NOW });
  for (let i = 0; i < events.length; i += 100) {
    const results = await recorder(events.slice(i, i + 100));
    expect(results.every(({ kind }) => kind === 'recorded')).toBe(true);
  }
};

/** Days, and an hour later their month. */
const rollUp = async () => {
  for (const now of [LATER, LATER + HOUR_MS]) await rollUpDue(table, now);
};

/** The API for one account. */
const apiOf = (accountId: string, read: Table = table) => {
  const now = () => new Date(LATER);
  const caller = { accountId, userId: 'user', role: 'owner' } as const;
  const { read: readCounters } = openSpend(read);
  const handler = serve([
    route(operation, readSpend({ readCounters, readTrackingGaps: async () => [], findDeclared: async () => [], now })),
  ]);
  const range = { from: ['2026-11-01'], to: ['2026-11-30'] };
  return {
    report: async (query: Record<string, string[]>) => {
      const { status, body } = await invoke(handler, {
        method: 'GET',
        path: '/api/spend',
        query: { ...range, ...query },
        caller,
      });
      expect([status, body.error]).toEqual([200, undefined]);
      return body;
    },
    /** The lines of the export, without their times. */
    lines: async (query: { granularity?: 'day' | 'month'; groupBy?: ['tag']; tag?: string[] }) => {
      const lines = await exportSpend({ readCounters, findDeclared: async () => [], now })({
        caller,
        query: { granularity: 'day', groupBy: [], from: '2026-11-01', to: '2026-11-30', ...query },
      } as never);
      const stream = new PassThrough();
      for await (const some of lines as AsyncIterable<string>) stream.write(some);
      stream.end();
      const [head = '', ...rows] = (await text(stream)).trimEnd().split('\r\n');
      const names = head.split(',');
      return rows.map((row) => {
        const values = row.split(',');
        const numberIn = (name: string) => Number(values[names.indexOf(name)]);
        return { tag: values[1], cost: numberIn('cost_usd'), mayAlso: numberIn('may_also_match_cost_usd') };
      });
    },
  };
};

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

describe('a month of more tags than its summary names', () => {
  const accountId = 'svc_month';
  const TAGS_A_DAY = 60;
  const DAYS = 19;
  /** The cheapest tag, which the summary of the month counts under `(other)`. */
  const cheap = 'tag-0-0';
  const events = Array.from({ length: DAYS * TAGS_A_DAY }, (_, n) => {
    const [day, tag] = [Math.floor(n / TAGS_A_DAY), n % TAGS_A_DAY];
    return closeEvent({
      accountId,
      n,
      tokens: n + 1,
      tag: `tag-${day}-${tag}`,
      startedAt: `2026-11-${String(day + 1).padStart(2, '0')}T10:00:00.000Z`,
    });
  });
  const all = NANO_USD_PER_TOKEN * sum(events.map((_, n) => n + 1));

  beforeAll(async () => {
    await record(events);
    await rollUp();
  });

  it.each(['day', 'month'])('knows the spend of each tag by %s', async (granularity) => {
    for (const [tag, cost] of [
      [cheap, NANO_USD_PER_TOKEN],
      ['tag-18-59', NANO_USD_PER_TOKEN * DAYS * TAGS_A_DAY],
      ['tag-never', 0],
    ] as const) {
      const { totals, isComplete, mayAlsoMatch } = await apiOf(accountId).report({
        granularity: [granularity],
        tag: [tag],
        groupBy: ['model'],
      });
      expect([tag, totals.costNanoUsd, isComplete, mayAlsoMatch]).toEqual([tag, cost, true, null]);
    }
  });

  it('says that its list of tags is not complete, and agrees with itself', async () => {
    const api = apiOf(accountId);
    const query = { granularity: ['month'], groupBy: ['tag'], limit: ['1000'] };
    const { totals, isComplete, groups } = await api.report(query);
    expect([totals.costNanoUsd, isComplete]).toEqual([all, false]);
    const other = groups.find(({ tag }: { tag: string }) => tag === OTHER);
    expect(other.overflowRequests).toBe(DAYS * TAGS_A_DAY - 1_000);
    expect(groups.some(({ tag }: { tag: string }) => tag === cheap)).toBe(false);
    const clicked = await api.report({ granularity: ['month'], tag: [OTHER] });
    expect([clicked.totals.costNanoUsd, clicked.isComplete]).toEqual([other.costNanoUsd, true]);
    const { isComplete: isCompleteByDay, groups: byDay } = await api.report({ groupBy: ['tag'], limit: ['1'] });
    expect([isCompleteByDay, byDay[0].tag]).toEqual([true, 'tag-18-59']);
    const lines = await api.lines({ granularity: 'month', groupBy: ['tag'] });
    expect(lines.find(({ tag }) => tag === OTHER)?.cost).toBeCloseTo(other.costNanoUsd / 1e9, 12);
    expect(await api.lines({ granularity: 'month', tag: [cheap] })).toMatchObject([
      { cost: NANO_USD_PER_TOKEN / 1e9, mayAlso: 0 },
    ]);
  });

  it('reads summaries with consistent reads', async () => {
    const queries: { ConsistentRead?: boolean; KeyConditionExpression?: string }[] = [];
    const watched = interceptTable(table, (command, send) => {
      queries.push((command as { input: object }).input);
      return send();
    });
    for (const granularity of ['month', 'day']) await apiOf(accountId, watched).report({ granularity: [granularity] });
    expect(queries.length).toBeGreaterThan(3);
    expect(queries.filter(({ ConsistentRead }) => ConsistentRead !== true)).toEqual([]);
  });
});

describe('a day of more names than counter slots', () => {
  const accountId = 'svc_day';
  const hidden = { tokens: 1_000, tag: 'hidden', keyId: 'k-late', reading: { modelServed: 'm-late' } };

  beforeAll(async () => {
    const day = '2026-11-20T10:00:00.000Z';
    await record(
      Array.from({ length: 1_800 }, (_, n) =>
        closeEvent({
          accountId,
          n,
          tokens: 1,
          startedAt: day,
          tag: `t${n}`,
          keyId: `k${n}`,
          providerKey: `p${n}`,
          reading: { modelServed: `m${n}` },
        }),
      ),
    );
    await record([closeEvent({ accountId, n: 9_999, startedAt: day, ...hidden })]);
  });

  it.each([
    ['live counters', async () => {}],
    ['summaries', rollUp],
  ])('states a bound that contains the truth, from %s', async (_, prepare) => {
    await prepare();
    const api = apiOf(accountId);
    const truth = hidden.tokens * NANO_USD_PER_TOKEN;
    for (const granularity of ['hour', 'day', 'month'])
      for (const filter of [{ model: ['m-late'] }, { tag: ['hidden'] }, { tag: ['hidden'], model: ['m-late'] }]) {
        const range = granularity === 'hour' ? { from: ['2026-11-19'], to: ['2026-11-21'] } : {};
        const { totals, isComplete, mayAlsoMatch, series } = await api.report({
          ...range,
          granularity: [granularity],
          ...filter,
        });
        expect([totals.costNanoUsd, isComplete]).toEqual([0, false]);
        expect(totals.costNanoUsd + mayAlsoMatch.costNanoUsd).toBeGreaterThanOrEqual(truth);
        const points = series.map((point: { mayAlsoMatch: { costNanoUsd: number } | null }) => point.mayAlsoMatch);
        expect(sum(points.map((point: { costNanoUsd: number } | null) => point?.costNanoUsd ?? 0))).toBe(
          mayAlsoMatch.costNanoUsd,
        );
      }
    const { mayAlsoMatch } = await api.report({ tag: ['hidden'] });
    const lines = await api.lines({ tag: ['hidden'] });
    expect(sum(lines.map(({ cost }) => cost))).toBe(0);
    expect(sum(lines.map(({ mayAlso }) => mayAlso))).toBeCloseTo(mayAlsoMatch.costNanoUsd / 1e9, 12);
    expect((await api.report({})).isComplete).toBe(true);
    expect((await api.report({ tag: ['hidden'] })).previous.mayAlsoMatch).toBeNull();
  });
});
