import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { bundledBook } from '../../../fixtures/bundled-prices.ts';
import { noPrices, type OwnPrice, type OwnPrices } from '../../../lambda/domain/own-prices/own-price.ts';
import { priceRequest } from '../../../lambda/domain/price/price-request.ts';
import { type Examined, type Finding, findingsIn } from '../../../lambda/domain/savings/findings.ts';
import { incomparable, whatIf } from '../../../lambda/domain/savings/what-if.ts';
import { type RequestRecord, requestRecordSchema } from '../../../lambda/domain/spend/request-record.ts';
import { closeEvent } from '../../usage-recorder/events.ts';

const FROM = new Date('2026-10-21T00:00:00Z');
const TO = new Date('2026-11-20T00:00:00Z');
const MINUTE_MS = 60_000;
const pricing = { book: bundledBook, accountPrices: { prices: [], projectOf: new Map(), months: {} } };

let n = 0;
type Facts = Parameters<typeof closeEvent>[0] & { usage: object; model: string; atMs?: number };

/** A request as the recorder keeps it. */
const recordOf = ({ usage, model, atMs = 0, ...facts }: Facts): RequestRecord => {
  const event = closeEvent({
    n: n++,
    startedAt: new Date(FROM.getTime() + atMs).toISOString(),
    ...facts,
    reading: { usage: { ...usage }, modelRequested: model, modelServed: model, ...facts.reading },
  });
  return requestRecordSchema.parse({
    ...event,
    ...priceRequest(event, bundledBook),
    revision: 1,
    recordedAt: event.startedAt,
    expiresAt: 4e9,
  });
};

const claude = (usage: object, facts: Omit<Facts, 'usage' | 'model'> & { model?: string }) =>
  recordOf({
    provider: 'anthropic',
    path: '/v1/messages',
    model: 'claude-haiku-4-5',
    ...facts,
    usage: { output_tokens: 100, ...usage },
    reading: { dialect: 'anthropic-messages' },
  });
const gpt = (input: number, output: number, facts: Omit<Facts, 'usage'>) =>
  recordOf({ ...facts, usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output } });

const times = <T>(many: number, make: (index: number) => T): T[] => Array.from({ length: many }, (_, i) => make(i));

const keys = ['key-1', 'key-2', 'key-3'].map((keyId) => ({ keyId, name: keyId, isOrphan: false }));
const money = (nanoUsd: number) => `$${(nanoUsd / 1e9).toFixed(2)}`;
const dayOf = (at: Date) => at.toISOString().slice(0, 10);

const find = (records: readonly RequestRecord[], examined: Partial<Examined> = {}): Finding[] =>
  findingsIn(records, { pricing, own: noPrices, keys, from: FROM, to: TO, money, dayOf, ...examined });

/** A price of the account's own that holds all the time, unless said otherwise. */
const priceOf = (priceId: string, terms: OwnPrice['terms'], until: string | null = null): OwnPrice => {
  const [from, at] = ['2026-09-01T00:00:00.000Z', '2026-09-01T00:00:00.000Z'];
  return { priceId, name: priceId, from, until, terms, createdAt: at, updatedAt: at };
};
const factor = (sum: number, used: number) => ({
  numerator: '1',
  denominator: String(used),
  sum: String(sum),
  isShared: used > 0,
});
const month = (factors: Record<string, ReturnType<typeof factor>>, isFinal = true) => ({
  ...{ factors, isFinal, counted: '' },
  asOf: TO.toISOString(),
});

const HOUR_MS = 60 * MINUTE_MS;
const found = (kind: string, scope: object, nanoUsdPerMonth: number, certainty: string, requests: number) => ({
  kind,
  scope,
  nanoUsdPerMonth,
  certainty,
  requests,
});

describe('planted waste is found', () => {
  it('caches that nobody reads, and only those', () => {
    const cached = (tag: string, atMs: number, cache_creation_input_tokens: number, cache_read_input_tokens: number) =>
      claude(
        { input_tokens: 10, cache_creation_input_tokens, cache_read_input_tokens },
        { tag, atMs, model: 'claude-sonnet-4-5' },
      );
    const records = [
      ...times(60, (i) => cached('unread', i * HOUR_MS, 100_000, 0)),
      ...times(60, (i) => cached('read', i * HOUR_MS, 100_000, 0)),
      ...times(60, (i) => cached('read', i * HOUR_MS + MINUTE_MS, 0, 100_000)),
    ];
    // 6 million tokens at $3.75 in place of $3.
    expect(find(records)).toMatchObject([found('unread_cache_writes', { tag: 'unread' }, 4.5e9, 'exact', 60)]);
    const atHalf = records.map((record) => ({ ...record, listCostNanoUsd: 2 * (record.costNanoUsd ?? 0) }));
    expect(find(atHalf)).toMatchObject([{ nanoUsdPerMonth: 2.25e9 }]);
    const byAnother = records.map((record, i) => (i < 120 ? record : { ...record, providerKey: 'another' }));
    expect(find(byAnother).map(({ scope }) => scope)).toMatchObject([{ tag: 'unread' }, { tag: 'read' }]);
    // What is kept for an hour and for five minutes is there for an hour.
    const halves = { ephemeral_5m_input_tokens: 50_000, ephemeral_1h_input_tokens: 50_000 };
    const both = times(60, (i) =>
      claude(
        { input_tokens: 10, cache_creation: halves },
        { tag: 'read', atMs: i * HOUR_MS, model: 'claude-sonnet-4-5' },
      ),
    );
    const later = times(60, (i) => cached('read', i * HOUR_MS + 30 * MINUTE_MS, 0, 100_000));
    expect(find(both)).toHaveLength(1);
    expect(find([...both, ...later])).toEqual([]);
  });

  it('large prompts that are never cached, as a bound', () => {
    const prompts = times(400, (i) =>
      claude({ input_tokens: 8_000 + (i % 7) }, { tag: 'support', atMs: i * MINUTE_MS }),
    );
    const [finding] = find(prompts);
    // One write of 8,000 tokens at $0.25 more, 399 reads at $0.90 less a million.
    const saved = (399 * 8_000 * 0.9 - 8_000 * 0.25) / 1e6;
    expect(finding).toMatchObject({ kind: 'uncached_prompts', certainty: 'at_most', requests: 400 });
    expect((finding?.nanoUsdPerMonth ?? 0) / 1e9 / saved).toBeCloseTo(1, 1);
    const isWritten = { tag: 'support', atMs: 0 };
    expect(find([claude({ input_tokens: 8_000, cache_creation_input_tokens: 10 }, isWritten), ...prompts])).toEqual([]);
    expect(
      find(times(400, (i) => claude({ input_tokens: 2_000 + 40 * i }, { tag: 'varied', atMs: i * MINUTE_MS }))),
    ).toEqual([]);
  });

  it('interrupted responses that cost', () => {
    const left = times(50, (i) =>
      gpt(20_000, 2_000, { model: 'gpt-4.1', tag: 'chat', outcome: 'client_aborted', atMs: i * HOUR_MS }),
    );
    expect(find(left)).toMatchObject([
      { kind: 'interrupted_responses', nanoUsdPerMonth: 50 * (20_000 * 2_000 + 2_000 * 8_000), certainty: 'exact' },
    ]);
    const failed = left.map((record) => ({ ...record, outcome: 'completed' as const, status: 400 }));
    expect(find(failed)[0]?.arithmetic).toContain('50 failed');
    const dearest = gpt(40_000, 2_000, { model: 'gpt-4.1', tag: 'chat', outcome: 'client_aborted' });
    const [{ requestIds = [] } = {}] = find([...left, dearest]);
    expect([requestIds[0], requestIds.length]).toEqual([dearest.requestId, 10]);
  });

  it('a dear remainder, as what the usual model would cost', () => {
    const usual = times(95, (i) => gpt(1_000 + 100 * i, 10, { model: 'gpt-4o-mini', tag: 'sort', atMs: i * HOUR_MS }));
    const dear = times(5, (i) => gpt(100_000, 20_000, { model: 'gpt-4o', tag: 'sort', atMs: i * HOUR_MS }));
    // $0.45 each with gpt-4o, $0.027 with gpt-4o-mini.
    const expected = found('dear_remainder', { tag: 'sort' }, 5 * 423e6, 'if_equal', 5);
    expect(find([...usual, ...dear])).toMatchObject([expected]);
  });

  it('commitments and credits that are not used, or will not be', () => {
    const own: OwnPrices = {
      ...noPrices,
      prices: [
        priceOf('Reserved', { kind: 'commitment', usd: 100, per: 'month', includedUsd: 200 }),
        priceOf('Promised', { kind: 'credit', usd: 50 }, '2026-11-10T00:00:00.000Z'),
        priceOf('Given', { kind: 'credit', usd: 90 }, '2026-11-30T00:00:00.000Z'),
        priceOf('Lasting', { kind: 'credit', usd: 90 }, '2027-01-30T00:00:00.000Z'),
      ],
      months: {
        '2026-10': month({ Reserved: factor(100e9, 150e9), Promised: factor(20e9, 20e9) }),
        '2026-11': month({ Given: factor(19e9, 19e9) }, false),
      },
    };
    // Of the credit that ends in ten days, $71 are left, of which $10 are used at the rate of 19 days.
    const arithmetic = expect.stringMatching(/2026-11-30.*\$71\.00.*\$10\.00/);
    expect(find([], { own })).toMatchObject([
      { kind: 'expiring_credit', nanoUsdPerMonth: 61e9, certainty: 'if_continued', arithmetic },
      { kind: 'expired_credit', nanoUsdPerMonth: 30e9 },
      { kind: 'unused_commitment', nanoUsdPerMonth: 25e9, certainty: 'exact', scope: { price: 'Reserved' } },
    ]);
  });

  it('subscriptions that cost more than what they cover', () => {
    const own = { ...noPrices, prices: [priceOf('Max', { kind: 'subscription', usdPerMonth: 200 })] };
    const covered = times(40, (i) => ({
      ...gpt(10_000, 1_000, { model: 'gpt-4o', atMs: i * HOUR_MS }),
      costNanoUsd: 0,
      listCostNanoUsd: 35e6,
      ownPrices: { steps: [{ priceId: 'Max', kind: 'subscription' }] },
    }));
    const expected = found('unused_subscription', { price: 'Max' }, 200e9 - 40 * 35e6, 'exact', 40);
    expect(find(covered, { own })).toMatchObject([expected]);
    // Without the cost of one at list price, the rest is a bound.
    const unknown = covered.map((record, i) => ({ ...record, listCostNanoUsd: i === 0 ? null : 35e6 }));
    expect(find(unknown, { own })).toMatchObject([{ certainty: 'at_most' }]);
    const dear = covered.map((record) => ({ ...record, listCostNanoUsd: 6e9 }));
    expect(find(dear, { own })).toEqual([]);
    // Six days say nothing of a month yet.
    const [price] = own.prices;
    const young = { ...price!, from: new Date(TO.getTime() - 6 * 24 * HOUR_MS).toISOString() };
    expect(find(covered, { own: { ...own, prices: [young] } })).toEqual([]);
  });

  it('keys that are idle, or of nobody, and still spend', () => {
    const day = 24 * HOUR_MS;
    const busy = times(23 * 20, (i) => gpt(1_000, 10, { model: 'gpt-4o', keyId: 'key-2', atMs: (i * day) / 20 }));
    const rest = times(7, (i) => gpt(100_000, 0, { model: 'gpt-4o', keyId: 'key-2', atMs: (23 + i) * day }));
    const refused = times(50, (i) => ({
      ...gpt(0, 0, { model: 'gpt-4o', keyId: 'key-2', outcome: 'refused', atMs: (29 + i / 100) * day }),
      costNanoUsd: 0,
    }));
    // $0.25 a day.
    const idle = found('idle_key', { key: 'key-2' }, 7.5e9, 'at_most', 7);
    expect(find([...busy, ...rest, ...refused])).toMatchObject([idle]);
    const left = times(300, (i) => gpt(10_000, 0, { model: 'gpt-4o', keyId: 'key-3', atMs: (i * day) / 10 }));
    expect(find(left)).toEqual([]);
    const orphans = keys.map((key) => ({ ...key, isOrphan: key.keyId === 'key-3' }));
    const [finding] = find(left, { keys: orphans });
    expect(finding).toMatchObject({ kind: 'idle_key', scope: { key: 'key-3' } });
    expect((finding?.nanoUsdPerMonth ?? 0) / (300 * 25e6)).toBeCloseTo(1, 2);
    // It is not active any more.
    expect(find(left, { keys: [] })).toEqual([]);
    // Six days before the last seven are too few to tell that a key is idle.
    expect(find([...busy, ...rest], { from: new Date(TO.getTime() - 13 * day) })).toEqual([]);
    const running = recordOf({
      ...{ model: 'gpt-4o', usage: {}, keyId: 'key-3', atMs: 29 * day, reading: { usage: null } },
    });
    expect(running.costNanoUsd).toBeNull();
    const [atLeast] = find([...left, { ...running, reading: null }], { keys: orphans });
    expect(atLeast).toMatchObject({ kind: 'idle_key', certainty: 'at_least' });
    expect(atLeast?.arithmetic).toContain('In the last 7 days it made 71 requests for $1.75. The cost of 1 of them is');
  });

  it('in a day as what it was in that day', () => {
    const lost = times(50, () =>
      gpt(10_000, 1_000, { model: 'gpt-4o', outcome: 'client_aborted', atMs: 29.5 * 24 * HOUR_MS }),
    );
    expect(find(lost)).toMatchObject([{ nanoUsdPerMonth: 50 * 35e6, certainty: 'exact' }]);
    const unknown = { ...gpt(1, 1, { model: 'x', outcome: 'client_aborted' }), costNanoUsd: null };
    const [atLeast] = find([
      ...lost,
      ...times(3, () => ({ ...unknown, provenance: 'unknown' as const, reading: lost[0]!.reading })),
    ]);
    expect(atLeast).toMatchObject({ nanoUsdPerMonth: 50 * 35e6, certainty: 'at_least', requests: 53 });
    expect(atLeast?.arithmetic).toContain('The cost of 3 of them is unknown.');
  });

  it('reserved amounts that were not needed, where they stopped others', () => {
    const reservations = [{ budgetId: 'b1', nanoUsd: 2e9 }];
    const running = times(20, (i) => ({
      ...gpt(1_000, 10, { model: 'gpt-4o', atMs: i * HOUR_MS, totalMs: 60_000 }),
      reservations,
    }));
    const refused = times(10, (i) =>
      recordOf({
        ...{ model: 'gpt-4o', usage: {}, reading: { usage: null }, status: null },
        ...{ outcome: 'refused', blockedBy: 'b1', atMs: i * HOUR_MS + 30_000 },
      }),
    );
    const expected = found('unneeded_reservations', { limit: 'b1' }, 10 * (2e9 - 2.6e6), 'exact', 10);
    expect(find([...running, ...refused])).toMatchObject([expected]);
    expect(find(running)).toEqual([]);
    // They had ended before others were refused.
    expect(find([...running.map((record) => ({ ...record, totalMs: 20_000 })), ...refused])).toEqual([]);
  });
});

describe('20 clean accounts', () => {
  it.each(times(20, (seed) => seed + 1))('have no finding: %i', (seed) => {
    const request = fc.record({
      atMs: fc.integer({ min: 0, max: TO.getTime() - FROM.getTime() - 1 }),
      model: fc.constantFrom('gpt-4o-mini', 'gpt-4.1', 'gpt-4o'),
      tag: fc.constantFrom(null, 'chat', 'sort', 'docs'),
      input: fc.integer({ min: 50, max: 60_000 }),
      output: fc.integer({ min: 1, max: 4_000 }),
      status: fc.constantFrom(200, 200, 200, 200, 429),
      keyId: fc.constantFrom('key-1', 'key-2', 'key-3'),
    });
    const some = fc
      .sample(request, { seed, numRuns: 250 })
      .map(({ input, output, status, ...facts }) =>
        status === 200
          ? gpt(input, output, facts)
          : recordOf({ ...facts, status, usage: {}, reading: { usage: null, usageSource: 'none' } }),
      );
    // An agent that writes its cache and reads it again and again.
    const cached = times(200, (i) =>
      claude(
        { input_tokens: 5, cache_creation_input_tokens: 2_000, cache_read_input_tokens: 50_000 + 2_000 * (i % 20) },
        { tag: 'agent', atMs: i * 2 * MINUTE_MS },
      ),
    );
    // What is paid for is used, and what was reserved was in nobody's way.
    const covered = some.map((record) => ({
      ...record,
      reservations: [{ budgetId: 'b1', nanoUsd: 1e9 }],
      ownPrices: { steps: [{ priceId: 'Plan', kind: 'subscription' }] },
    }));
    const own: OwnPrices = {
      ...noPrices,
      prices: [
        priceOf('Plan', { kind: 'subscription', usdPerMonth: 3 }),
        priceOf('Reserved', { kind: 'commitment', usd: 100, per: 'month' }),
        priceOf('Given', { kind: 'credit', usd: 20 }, '2026-11-30T00:00:00.000Z'),
      ],
      months: {
        '2026-10': month({ Reserved: factor(100e9, 101e9) }),
        '2026-11': month({ Given: factor(20e9, 60e9) }, false),
      },
    };
    expect(find([...covered, ...cached], { own })).toEqual([]);
  });
});

describe('what if', () => {
  const records = [
    gpt(1_000, 100, { model: 'gpt-4o', tag: 'a' }),
    gpt(333, 77, { model: 'gpt-4.1', tag: 'b' }),
    claude({ input_tokens: 7, cache_read_input_tokens: 999 }, { tag: 'a' }),
  ];

  it('a model is compared with itself, nothing changes, to the nano-dollar', () => {
    for (const record of records) {
      const model = record.reading?.modelServed ?? '';
      const { differenceNanoUsd, oldNanoUsd, sameText } = whatIf([record], { model }, pricing, TO);
      expect([differenceNanoUsd, oldNanoUsd]).toEqual([0, record.costNanoUsd]);
      expect(sameText).toEqual({ leastNanoUsd: oldNanoUsd, mostNanoUsd: oldNanoUsd });
    }
  });

  it('another model has its own rates for the same tokens, by model and tag, and says what it leaves out', () => {
    const unknown = gpt(10, 10, { model: 'acme/house-model', tag: null });
    const free = { ...gpt(10, 10, { model: 'gpt-4o' }), provenance: 'free' as const, costNanoUsd: 0 };
    const result = whatIf([...records.slice(0, 2), unknown, free], { model: 'gpt-4o-mini' }, pricing, TO);
    const [one, two] = [1_000 * 150 + 100 * 600, 333 * 150 + 77 * 600];
    expect(result).toMatchObject({ requests: 2, newNanoUsd: one + two });
    expect(result.groups[0]).toMatchObject({ model: 'gpt-4o', tag: 'a', differenceNanoUsd: one - 3_500_000 });
    expect(result.incomparable).toEqual([{ reason: incomparable.unpriced, requests: 1, recordedNanoUsd: null }]);
    expect(whatIf(records.slice(0, 1), { model: 'no-such-model' }, pricing, TO).incomparable).toMatchObject([
      { reason: incomparable.noPrice, requests: 1 },
    ]);
  });

  it('another provider counts its tokens for the same text within bounds', () => {
    const [record] = records as [RequestRecord];
    const change = { provider: 'anthropic', model: 'claude-haiku-4-5' } as const;
    const { newNanoUsd, sameText } = whatIf([record], change, pricing, TO);
    expect(newNanoUsd).toBe(1_000 * 1_000 + 100 * 5_000);
    expect(sameText.leastNanoUsd).toBeLessThan(newNanoUsd);
    expect(sameText.mostNanoUsd).toBeGreaterThan(newNanoUsd);
  });

  it('a batch costs half', () => {
    const { oldNanoUsd, newNanoUsd } = whatIf(records.slice(0, 2), { tier: 'batch' }, pricing, TO);
    expect(newNanoUsd * 2).toBe(oldNanoUsd);
    expect(whatIf(records.slice(2), { tier: 'flex' }, pricing, TO).incomparable).toMatchObject([
      { reason: incomparable.noTier },
    ]);
  });

  it('a tier without a price is none, whatever else is not sure of the cost', () => {
    const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };
    const routed = recordOf({
      ...{ provider: 'openrouter', path: '/api/v1/chat/completions' },
      model: 'openai/gpt-4o',
      usage: { ...usage, cost: 0.001 },
    });
    const cut = recordOf({ provider: 'deepseek', model: 'deepseek-chat', usage, reading: { complete: false } });
    expect(whatIf([routed, cut], { tier: 'batch' }, pricing, TO)).toMatchObject({
      requests: 0,
      incomparable: [{ reason: incomparable.noTier, requests: 2 }],
    });
    const ownRates = { kind: 'rates', usdPerMillionTokens: { input: 1, output: 1 } } as const;
    const accountPrices = { ...pricing.accountPrices, prices: [priceOf('x', ownRates)] };
    expect(whatIf([cut], { tier: 'batch' }, { ...pricing, accountPrices }, TO)).toMatchObject({ newNanoUsd: 1.1e6 });
  });

  it('a contract price, and a commitment with where it breaks even', () => {
    const price = (terms: OwnPrice['terms']): OwnPrice => ({
      ...priceOf('x', terms, TO.toISOString()),
      from: FROM.toISOString(),
      provider: 'openai',
    });
    const some = records.slice(0, 2);
    const old = whatIf(some, {}, pricing, TO).oldNanoUsd;
    expect(whatIf(some, { price: price({ kind: 'discount', percent: 10 }) }, pricing, TO).newNanoUsd).toBe(
      some.reduce((sum, { costNanoUsd }) => sum + Math.round((costNanoUsd ?? 0) * 0.9), 0),
    );
    const commitment = price({ kind: 'commitment', usd: 31, per: 'month' });
    const { newNanoUsd, concernedNanoUsd } = whatIf(records, { price: commitment }, pricing, TO);
    // The eleven days of October in which the price holds.
    expect(newNanoUsd - (records[2]?.costNanoUsd ?? 0)).toBe(11e9);
    expect(concernedNanoUsd).toBe(old);
  });

  it('a credit pays once, in whatever order the requests of its months come', () => {
    const [october, november] = [0, 15].map((days) =>
      gpt(400_000, 0, { model: 'gpt-4o', tag: null, atMs: days * 24 * 60 * MINUTE_MS }),
    ) as [RequestRecord, RequestRecord];
    const price = priceOf('x', { kind: 'credit', usd: 1.5 }, TO.toISOString());
    for (const some of [
      [october, november],
      [november, october],
    ])
      expect(whatIf(some, { price }, pricing, TO)).toMatchObject({ oldNanoUsd: 2e9, newNanoUsd: 0.5e9 });
  });
});
