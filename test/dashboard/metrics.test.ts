import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import type { Context } from 'aws-lambda';
import { metrics } from '../../lambda/dashboard/metrics/metrics.ts';
import { readMetrics as operation } from '../../lambda/dashboard/metrics/operations.ts';
import { readMetrics } from '../../lambda/dashboard/metrics/read-metrics.ts';
import { readSpend } from '../../lambda/dashboard/spend/read-spend.ts';
import type { Role } from '../../lambda/domain/accounts/permissions.ts';
import { UTC_CALENDAR } from '../../lambda/domain/reports/report-period.ts';
import type { Counters, SpendCounter } from '../../lambda/domain/spend/counters.ts';
import { type DisplayCurrency, displayRates } from '../../lambda/domain/spend/display-currency.ts';
import type { ReadCounters } from '../../lambda/domain/spend/spend-question.ts';
import { route } from '../../lambda/http/operation.ts';
import { apiEvent, serve } from '../http/invoke.ts';

const counter = (time: string, provider: string, model: string | null, counters: Counters): SpendCounter => ({
  time,
  dimensions: { provider, model, tag: null, keyId: 'key-1', providerKey: null },
  counters,
});
const counters = [
  counter('2026-11-03', 'openai', 'gpt-4o', { requests: 9, costComputedNanoUsd: 1_250_000_001, inputTokens: 700 }),
  counter('2026-11-20', 'openai', 'say "hi"\\\n', {
    requests: 2,
    costProviderNanoUsd: 5,
    costEstimatedNanoUsd: 30,
    outputTokens: 8,
    cacheWrite1hTokens: 3,
    errors: 1,
    'ms.24': 1,
    'ms.40': 1,
    bypassedRequests: 1,
    unpricedRequests: 1,
  }),
  counter('2026-11-20', 'openai', null, { requests: 1, costComputedNanoUsd: 7 }),
  counter('2026-11-20', 'openai', '', { requests: 1, costComputedNanoUsd: 8 }),
  counter('2026-11-20', 'xai', 'grok', { requests: 4, unpricedRequests: 4 }),
  counter('2026-11-20', 'groq', 'whisper', { requests: 1, freeRequests: 1 }),
];
const readCounters: ReadCounters = async function* ({ range, currency: asked }) {
  for (const each of counters) {
    if (each.time < range.from.slice(0, 10) || range.to.slice(0, 10) <= each.time) continue;
    yield asked ? { ...each, counters: displayRates(asked, range).split(each.time, each.counters) } : each;
  }
};
const NOW = '2026-11-20T16:30:00Z';
let clock = NOW;
const now = () => new Date(clock);
let calendar = UTC_CALENDAR;
const EUR = {
  code: 'EUR',
  rates: [
    { from: '2026-01-01', perUsd: '0.8' },
    { from: '2026-11-20', perUsd: '0.5' },
  ],
} as const;
let currency: DisplayCurrency | null = null;
const budget = (id: string, facts: { isActive?: boolean; each?: 'key'; period?: null } = {}) => ({
  id,
  name: 'All of "us"',
  amount: 50,
  isActive: facts.isActive ?? true,
  each: facts.each,
  state: { period: {}, ...facts, usedNanoUsd: 1_250_000_050, unpricedRequests: 5, isBlocking: true },
});
const budgets = [
  ...[budget('b1'), budget('b2')],
  ...[budget('b3', { isActive: false }), budget('b4', { each: 'key' }), budget('b5', { period: null })],
];
const handler = serve([
  route(
    operation,
    readMetrics({
      readSpend: readSpend({
        readCounters,
        readTrackingGaps: async () => [
          { from: '2026-11-03T10:00:00.000Z', to: '2026-11-03T10:00:20.000Z', requests: 6 },
        ],
        findDeclared: async () => [],
        findCurrency: async () => currency,
        now,
      }),
      listBudgets: async () => ({ items: budgets as never }),
      findCalendar: async () => calendar,
      namesOf: async (_account, by) => new Map(by === 'key' ? [['key-1', 'CI']] : []),
      now,
    }),
  ),
]);
const scrape = async (query: Record<string, string[]> = {}, role: Role = 'viewer') => {
  const caller = { accountId: 'account', userId: role, role };
  const result = await handler(apiEvent({ method: 'GET', path: '/api/metrics', query, caller }), {} as Context);
  expect(result.statusCode).toBe(200);
  expect(result.headers?.['Content-Type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  return text(result.body as Readable);
};
const linesOf = (body: string, name: string) => body.split('\n').filter((line) => line.startsWith(`${name}{`));

describe('GET /metrics', () => {
  it('has the costs of today, of the month and ever, exactly, by how they are known', async () => {
    const whole = ['0.000000005', '1.250000016', '0.00000003'];
    const costs = { today: ['0.000000005', '0.000000015', '0.00000003'], month: whole, ever: whole };
    expect(linesOf(await scrape(), 'ai_spend_cost_usd')).toEqual(
      Object.entries(costs).flatMap(([period, openai]) =>
        Object.entries({ openai, groq: ['0', '0', '0'] }).flatMap(([provider, values]) =>
          ['provider', 'computed', 'estimated'].map(
            (provenance, n) =>
              `ai_spend_cost_usd{period="${period}",provider="${provider}",provenance="${provenance}",account="account"} ${values[n]}`,
          ),
        ),
      ),
    );
  });

  it('never shows an unknown cost as 0, and counts its requests', async () => {
    const body = await scrape();
    expect(body).not.toMatch(/cost_usd\{.*(xai|grok)/);
    expect(body).toContain('ai_spend_unknown_cost_requests{period="today",provider="xai",account="account"} 4\n');
    expect(body).toContain('ai_spend_unknown_cost_requests{period="month",provider="openai",account="account"} 1\n');
  });

  it('counts what only grows since spend began', async () => {
    const body = await scrape();
    for (const line of [
      'ai_spend_requests_total{provider="openai",account="account"} 13',
      'ai_spend_requests_total{provider="xai",account="account"} 4',
      'ai_spend_tokens_total{provider="openai",kind="input",account="account"} 700',
      'ai_spend_tokens_total{provider="openai",kind="output",account="account"} 8',
      'ai_spend_tokens_total{provider="openai",kind="cache_write1h",account="account"} 3',
      'ai_spend_errors_total{provider="openai",account="account"} 1',
      'ai_spend_bypassed_requests_total{provider="openai",account="account"} 1',
      'ai_spend_untracked_requests_total{account="account"} 6',
    ])
      expect(body).toContain(`\n${line}\n`);
  });

  it('has a 0 for what a provider has not counted yet: its first request is an increase', async () => {
    const body = await scrape();
    for (const line of [
      'ai_spend_requests_total{provider="mistral",account="account"} 0',
      'ai_spend_errors_total{provider="xai",account="account"} 0',
      'ai_spend_tokens_total{provider="mistral",kind="output",account="account"} 0',
    ])
      expect(body).toContain(`\n${line}\n`);
    expect(body).not.toMatch(/kind="cache_read"/);
  });

  it('goes on counting in the next month', async () => {
    clock = '2026-12-01T00:30:00Z';
    const body = await scrape().finally(() => (clock = NOW));
    expect(body).toContain('\nai_spend_requests_total{provider="openai",account="account"} 13\n');
    expect(linesOf(body, 'ai_spend_cost_usd').filter((line) => !line.includes('"ever"'))).toEqual([]);
  });

  it("begins today and the month with those of the account's time zone", async () => {
    clock = '2026-12-01T03:30:00Z';
    calendar = { ...UTC_CALENDAR, timeZone: 'America/New_York' };
    const body = await scrape().finally(() => {
      clock = NOW;
      calendar = UTC_CALENDAR;
    });
    // It is still November there.
    const computed = linesOf(body, 'ai_spend_cost_usd').filter((line) => line.includes('"computed"'));
    expect(computed.find((line) => line.includes('"month"'))).toMatch(/provider="openai".* 1\.250000016$/);
    expect(computed.some((line) => line.includes('"today"'))).toBe(false);
  });

  it("has costs in the account's currency, at the rate of each day", async () => {
    currency = EUR;
    const body = await scrape().finally(() => (currency = null));
    expect(linesOf(body, 'ai_spend_display_cost')).toEqual(
      expect.arrayContaining([
        'ai_spend_display_cost{period="month",provider="openai",currency="EUR",account="account"} 1.000000026',
        'ai_spend_display_cost{period="today",provider="openai",currency="EUR",account="account"} 0.000000025',
      ]),
    );
    expect(body).not.toMatch(/ai_spend_display_cost\{.*xai/);
    expect(linesOf(await scrape(), 'ai_spend_display_cost')).toEqual([]);
  });

  it('names keys next to their ids', async () => {
    expect(linesOf(await scrape({ groupBy: ['key'] }), 'ai_spend_group_cost_usd')[0]).toContain(
      'by="key",value="key-1",name="CI"',
    );
  });

  it('groups by the dimensions asked for, and escapes what clients send', async () => {
    const grouped = async (query?: Record<string, string[]>) =>
      linesOf(await scrape(query), 'ai_spend_group_cost_usd').filter((line) => line.includes('today'));
    expect(await grouped()).toEqual([
      'ai_spend_group_cost_usd{period="today",by="model",value="say \\"hi\\"\\\\\\n",name="say \\"hi\\"\\\\\\n",account="account"} 0.000000035',
      // Without a model, and with an empty one: the same series.
      'ai_spend_group_cost_usd{period="today",by="model",value="",name="",account="account"} 0.000000015',
      'ai_spend_group_cost_usd{period="today",by="model",value="whisper",name="whisper",account="account"} 0',
    ]);
    expect(await grouped({ groupBy: ['tag,provider'] })).toEqual([
      'ai_spend_group_cost_usd{period="today",by="tag",value="",name="",account="account"} 0.00000005',
      'ai_spend_group_cost_usd{period="today",by="provider",value="openai",name="openai",account="account"} 0.00000005',
      'ai_spend_group_cost_usd{period="today",by="provider",value="groq",name="groq",account="account"} 0',
    ]);
  });

  it('has the durations that half, and nearly all, of the requests did not exceed', async () => {
    const name = 'ai_spend_request_duration_seconds';
    expect(linesOf(await scrape(), name).filter((line) => line.includes('today'))).toEqual([
      `${name}{period="today",provider="openai",percentile="50",account="account"} 0.111`,
      `${name}{period="today",provider="openai",percentile="95",account="account"} 2.756`,
    ]);
  });

  it('has active budgets, for roles that see budgets', async () => {
    const body = await scrape();
    for (const [name, value] of [
      ['amount_usd', '50'],
      ['used_usd', '1.25000005'],
      ['unknown_cost_requests', '5'],
      ['blocking', '1'],
    ])
      expect(linesOf(body, `ai_spend_budget_${name}`)).toEqual([
        `ai_spend_budget_${name}{budget_id="b1",budget="All of \\"us\\"",account="account"} ${value}`,
        `ai_spend_budget_${name}{budget_id="b2",budget="All of \\"us\\"",account="account"} ${value}`,
      ]);
    expect(await scrape({}, 'billing')).not.toContain('All of');
  });

  it('names no series twice', async () => {
    const series = (await scrape({ groupBy: ['model,tag,client'] }))
      .split('\n')
      .filter((line) => /^\w/.test(line))
      .map((line) => line.replace(/ \S+$/, ''));
    expect(new Set(series).size).toBe(series.length);
  });
});

describe('the Grafana dashboard', () => {
  const dashboard = readFileSync('grafana/ai-spend.json', 'utf8');

  it('uses metrics that there are, and all of them', () => {
    const used = new Set([...dashboard.matchAll(/\bai_spend_\w+/g)].map(([name]) => name));
    expect([...used].sort()).toEqual(metrics.map(({ name }) => name).sort());
  });

  it('selects by labels that they have', async () => {
    currency = EUR;
    const body = await scrape().finally(() => (currency = null));
    for (const [, name = '', labels = ''] of dashboard.matchAll(/(ai_spend_\w+)\{([^}]*)\}/g))
      for (const [label] of labels.matchAll(/\w+(?=[=!]~?\\")/g))
        expect([name, label, linesOf(body, name).some((line) => new RegExp(`[{,]${label}="`).test(line))]).toEqual([
          name,
          label,
          true,
        ]);
  });
});
