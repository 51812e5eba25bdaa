import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readMetrics } from '../../lambda/dashboard/metrics/operations.ts';
import { openSpendReads } from '../../lambda/dashboard/open-spend-reads.ts';
import { HOUR_MS, MINUTE_MS } from '../../lambda/domain/calendar/units.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { newAccount } from '../data/new-account.ts';
import { rollUpDue } from '../data/roll-up.ts';
import { randomFrom } from '../faults/random.ts';
import { SEED } from '../seed.ts';
import { tableForTests } from '../table-for-tests.ts';
import { closeEvent, priceOfTokens } from '../usage-recorder/events.ts';
import { eventually } from './over-http/stack.ts';
import { isPrometheusInstalled, type Prometheus, startPrometheus } from './real-prometheus.ts';

/* Eight hours of scrapes over the end of a month and year, during which the scraped server is down, put into a real Prometheus. */

const START = Date.parse('2025-12-31T20:00:00.000Z');
const END = START + 8 * HOUR_MS;
const STEP_MS = 5 * MINUTE_MS;
const YEAR_END = Date.parse('2026-01-01');
const providers = ['openai', 'anthropic', 'mistral'] as const;
/** Its first request comes while nothing is scraped. */
const LATECOMER = 'xai';

const table = tableForTests();
const dir = tmpdir();
let prometheus: Prometheus;
/** What was recorded at each time. */
const recorded: { readonly at: number; readonly provider: string; readonly nanoUsd: number }[] = [];

const requestsIn = (from: number, to: number, provider: string): number =>
  recorded.filter((each) => each.provider === provider && each.at > from && each.at <= to).length;

beforeAll(async () => {
  if (!isPrometheusInstalled) return;
  const { accountId, keyId, userId } = await newAccount(table);
  const random = randomFrom(SEED);
  let clock = START;
  const now = () => new Date(clock);
  const record = async (some: readonly string[], lateMs: number): Promise<void> => {
    const events = some.map((provider) => {
      const startedAt = new Date(clock - random.below(lateMs) - 1).toISOString();
      const tokens = 1_000 + random.below(1_000_000);
      const event = closeEvent({
        accountId,
        keyId,
        startedAt,
        n: recorded.length,
        provider: provider as 'openai',
        tokens,
      });
      recorded.push({ at: clock, provider, nanoUsd: priceOfTokens(event).costNanoUsd ?? 0 });
      return event;
    });
    await openRecorder(table, { logger: { error: () => {} }, price: priceOfTokens, now: () => clock })(events);
  };
  const lines: string[] = [];
  let reads = openSpendReads(table, now);
  for (; clock <= END; clock += STEP_MS) {
    // Some requests of the year that has ended are recorded in the next one.
    await record(
      clock === START ? providers : providers.flatMap((each) => Array(random.below(3)).fill(each)),
      2 * HOUR_MS,
    );
    if (clock === YEAR_END) await record([LATECOMER], MINUTE_MS);
    if (clock % HOUR_MS === 0) await rollUpDue(table, clock, clock + MINUTE_MS);
    if (Math.abs(clock - YEAR_END) < 15 * MINUTE_MS) {
      reads = openSpendReads(table, now);
      continue;
    }
    const caller = { accountId, userId, role: 'owner', name: 'scraper' } as const;
    for await (const part of await reads.readMetrics({
      caller,
      query: readMetrics.query.parse({}),
      requestId: 'r',
    } as never))
      lines.push(...part.split('\n').flatMap((line) => (/^\w/.test(line) ? [`${line} ${clock / 1_000}`] : [])));
  }
  await writeFile(join(dir, 'scrapes.txt'), `${lines.join('\n')}\n# EOF\n`);
  await writeFile(join(dir, 'prometheus.yml'), '');
  const backfill = ['tsdb', 'create-blocks-from', 'openmetrics', join(dir, 'scrapes.txt'), join(dir, 'data')];
  const { status, stderr } = spawnSync('promtool', backfill, { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  prometheus = await startPrometheus(dir);
  await eventually(
    () => prometheus.query('ai_spend_requests_total', END).catch(() => []),
    (found) => found.length > 0,
  );
});

afterAll(() => prometheus?.stop());

(isPrometheusInstalled ? describe : describe.skip)('Prometheus over the end of a month and a restart', () => {
  const numbersBy = async (text: string, at: number) =>
    Object.fromEntries(
      (await prometheus.query(text, at)).map(({ metric, value }) => [metric['provider'], Number(value[1])]),
    );
  // Each hour; one span has the end of the year and the restart.
  const spans = [20, 21, 22, 23, 25, 26, 27].map((hour) => {
    const from = START + (hour - 20) * HOUR_MS;
    const to = from + (hour === 23 ? 2 : 1) * HOUR_MS;
    // With the sample at its beginning, whether or not ranges include it.
    return { from, to, range: `[${(to - from) / 1_000 + 1}s]` };
  });

  it('increases by what was recorded in each hour, by provider', async () => {
    for (const { from, to, range } of spans) {
      const counted = await numbersBy(`round(increase(ai_spend_requests_total${range}))`, to);
      for (const provider of [...providers, LATECOMER])
        expect([from, provider, counted[provider]]).toEqual([from, provider, requestsIn(from, to, provider)]);
    }
  });

  it('has no reset of any counter, though the month began again', async () => {
    const month = async (at: number) =>
      Number((await prometheus.query('sum(ai_spend_cost_usd{period="month"})', at))[0]?.value[1]);
    expect(await month(YEAR_END + HOUR_MS)).toBeLessThan(await month(YEAR_END - HOUR_MS));
    const named = 'label_replace({__name__=~"ai_spend_.+_total"}, "counter", "$1", "__name__", "(.+)")';
    const resets = await prometheus.query(`resets(${named}[8h:5m])`, END);
    expect(new Set(resets.map(({ metric }) => metric['counter'])).size).toBe(5);
    expect(resets.filter(({ value }) => value[1] !== '0')).toEqual([]);
  });

  it('has the cost of an hour, also of the one in which the month begins', async () => {
    for (const { from, to, range } of spans) {
      const [sum] = await prometheus.query(`sum(clamp_min(delta(ai_spend_cost_usd{period="ever"}${range}), 0))`, to);
      // A gauge has no sample before the first cost of a provider.
      const expected = recorded
        .filter(({ provider, at }) => provider !== LATECOMER && at > from && at <= to)
        .reduce((all, { nanoUsd }) => all + nanoUsd, 0);
      expect(Number(sum?.value[1]) / (expected / 1e9)).toBeCloseTo(1, 2);
    }
  });
});
