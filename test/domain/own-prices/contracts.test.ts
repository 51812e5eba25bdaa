import { describe, expect, it } from '@jest/globals';
import { priceRequest } from '../../../fixtures/bundled-prices.ts';
import { attoUsdPerUnit } from '../../../lambda/domain/money.ts';
import { applyPrices, basePriceOf } from '../../../lambda/domain/own-prices/apply-prices.ts';
import { addToMonth, type MonthSums, monthFactors } from '../../../lambda/domain/own-prices/month-factors.ts';
import { type MonthPrices, noPrices, type OwnPrice, type Terms } from '../../../lambda/domain/own-prices/own-price.ts';
import { dailyJob } from '../../../lambda/domain/own-prices/price-job.ts';
import type { PriceBook } from '../../../lambda/domain/price/rates.ts';
import type { PriceableRequest } from '../../../lambda/domain/price/request-rates.ts';
import { usdOf } from '../../../lambda/domain/spend/spend-report.ts';
import { closeEvent } from '../../usage-recorder/events.ts';

/** $3 and $15 for a million tokens of any listed model. */
const book: PriceBook = ({ model }) =>
  model.startsWith('own-')
    ? null
    : {
        ...{ source: 'book', match: 'name', version: '1' },
        rates: { input: attoUsdPerUnit(3, 1e6), output: attoUsdPerUnit(15, 1e6) },
      };

type Event = ReturnType<typeof closeEvent>;

let number = 0;
/** A request of a million input tokens and 200,000 output tokens, which lists at $6, unless it says otherwise. */
const request = ({
  model = 'claude-opus-4-8',
  input = 1_000_000,
  output = 200_000,
  serviceTier = null,
  ...facts
}: Partial<Omit<Event, 'reading'>> & {
  model?: string;
  input?: number;
  output?: number;
  serviceTier?: string | null;
} = {}): Event =>
  closeEvent({
    n: ++number,
    provider: 'anthropic',
    path: '/v1/messages',
    startedAt: '2026-11-10T12:00:00.000Z',
    ...facts,
    reading: {
      dialect: 'anthropic-messages',
      usage: { input_tokens: input, output_tokens: output },
      modelRequested: model,
      modelServed: model,
      serviceTier,
    },
  });

let prices = 0;
const price = (terms: Terms, scope: Partial<OwnPrice> = {}): OwnPrice => ({
  priceId: `price-${++prices}`,
  name: 'a price',
  from: '2026-11-01T00:00:00.000Z',
  until: null,
  terms,
  createdAt: '2026-10-01T00:00:00.000Z',
  updatedAt: '2026-10-01T00:00:00.000Z',
  ...scope,
});

const projectOf = new Map([['key-1', 'search']]);
const priceByBook = (of: PriceableRequest) => priceRequest(of, book);

const baseOf = (own: readonly OwnPrice[], event: Event) =>
  basePriceOf(event, priceByBook(event), { prices: own, projectOf }, priceByBook);
const applied = (own: readonly OwnPrice[], event: Event, months: Readonly<Record<string, MonthPrices>> = {}) =>
  applyPrices(event, priceByBook(event), { prices: own, projectOf, months }, priceByBook);

/** The requests of months, each closed in turn, with the given prices. */
const close = (own: readonly OwnPrice[], events: readonly Event[], asOf?: Date) => {
  const months: Record<string, MonthPrices> = {};
  for (const month of [...new Set(events.map(({ startedAt }) => startedAt.slice(0, 7)))].sort()) {
    const sums: MonthSums = {};
    for (const event of events.filter(({ startedAt }) => startedAt.startsWith(month))) {
      const base = baseOf(own, event);
      if (base) addToMonth(sums, base);
    }
    const paidBefore = (id: string) =>
      Object.values(months).reduce((sum, { factors }) => sum + BigInt(factors[id]?.sum ?? 0), 0n);
    const factors = monthFactors(own, sums, { month, asOf: asOf ?? new Date('2027-06-01'), paidBefore });
    months[month] = { factors, asOf: '2027-06-01T00:00:00.000Z', isFinal: true, counted: '' };
  }
  const priced = events.map((event) => applied(own, event, months));
  const sum = (values: readonly (number | null)[]) =>
    usdOf(values.reduce<number>((all, value) => all + (value ?? 0), 0));
  return {
    priced,
    months,
    effective: sum(priced.map(({ costNanoUsd }) => costNanoUsd)),
    list: sum(
      priced.map(({ costNanoUsd, listCostNanoUsd }) => (listCostNanoUsd === undefined ? costNanoUsd : listCostNanoUsd)),
    ),
  };
};

describe('ten contracts, each to the cent', () => {
  it('15 % discount on Anthropic', () => {
    const own = [price({ kind: 'discount', percent: 15 }, { provider: 'anthropic' })];
    const others = request({ provider: 'openai', path: '/v1/messages' });
    const result = close(own, [request(), request({ input: 333_333, output: 7 }), others]);
    // 6 × 0.85 + 1.000104 × 0.85 + 6
    expect(result).toMatchObject({ list: '13.000104', effective: '11.9500884' });
    expect(result.priced[0]).toMatchObject({ costNanoUsd: 5.1e9, listCostNanoUsd: 6e9, provenance: 'computed' });
    expect(result.priced[2]?.listCostNanoUsd).toBeUndefined();
  });

  it('own rates for a self-named model, which has no list price', () => {
    const terms: Terms = { kind: 'rates', usdPerMillionTokens: { input: 0.4, output: 1.2 } };
    const own = [price(terms, { model: 'own-llama*' })];
    const [first, second] = close(own, [request({ model: 'own-llama-70b' }), request({ model: 'own-other' })]).priced;
    // 0.4 + 0.24
    expect(first).toMatchObject({ costNanoUsd: 0.64e9, listCostNanoUsd: null, provenance: 'computed', reason: null });
    expect(second).toMatchObject({ costNanoUsd: null, provenance: 'unknown' });
  });

  it.each([
    ['google/claude-opus*', 'google/claude-opus-4-8'],
    ['claude-opus*', 'google/claude-opus-4-8'],
    ['claude-opus-4-8', 'projects/p/locations/global/publishers/google/models/claude-opus-4-8'],
  ])('a price of %s holds for %s at Vertex AI, which has several forms of names', (pattern, model) => {
    const own = [price({ kind: 'discount', percent: 50 }, { model: pattern })];
    expect(close(own, [request({ model, provider: 'vertex' })]).priced[0]?.costNanoUsd).toBe(3e9);
  });

  it('volume discount: 5 % from $10 and 20 % from $20 of a month, for all its requests in proportion', () => {
    const [low, high] = [
      { from: 10, percent: 5 },
      { from: 20, percent: 20 },
    ] as const;
    const own = [price({ kind: 'volume', measure: 'usd', tiers: [low, high] })];
    const november = Array.from({ length: 5 }, () => request());
    const december = request({ startedAt: '2026-12-01T00:00:00.000Z' });
    // November lists $30: 10 + 10 × 0.95 + 10 × 0.8 = $27.50. December begins anew: $6.
    const result = close(own, [...november, december]);
    expect(result).toMatchObject({ list: '36', effective: '33.5' });
    expect(new Set(result.priced.slice(0, 5).map(({ costNanoUsd }) => costNanoUsd))).toEqual(new Set([5.5e9]));
    expect(close(own, [december, ...november.toReversed()]).effective).toBe('33.5');
  });

  it('committed use: $20 a month pay for $24 at list price, the rest is at list price', () => {
    const own = [price({ kind: 'commitment', usd: 20, per: 'month', includedUsd: 24 })];
    expect(close(own, [request(), request()]).effective).toBe('20');
    // 20 + (30 - 24)
    const five = Array.from({ length: 5 }, () => request());
    expect(close(own, five).effective).toBe('26');
  });

  it('provisioned throughput: $0.05 an hour from 16 November on, shared by its requests', () => {
    const terms: Terms = { kind: 'commitment', usd: 0.05, per: 'hour' };
    const own = [price(terms, { model: 'claude-opus-4-8', from: '2026-11-16T00:00:00.000Z' })];
    const requests = [
      request({ startedAt: '2026-11-20T00:00:00.000Z' }),
      request({ startedAt: '2026-11-20T01:00:00.000Z', input: 2_000_000, output: 400_000 }),
      request({ startedAt: '2026-11-15T23:59:59.999Z' }),
    ];
    // 15 days × 24 × 0.05 = $18, a third and two thirds; the third request is from before.
    const result = close(own, requests);
    expect(result.priced.map(({ costNanoUsd }) => costNanoUsd)).toEqual([6e9, 12e9, 6e9]);
    expect(close(own, []).months).toEqual({});
  });

  it('credit of $10 that expires on 1 December', () => {
    const own = [
      price({ kind: 'credit', usd: 10 }, { from: '2026-10-01T00:00:00.000Z', until: '2026-12-01T00:00:00.000Z' }),
    ];
    const times = ['10-31T23:00:00.000', '11-01T00:00:00.000', '11-30T23:59:59.999', '12-01T00:00:00.000'];
    const requests = times.map((time) => request({ startedAt: `2026-${time}Z` }));
    const result = close(own, requests);
    // October: 6 of 6. November: the 4 that are left of 12. December: expired.
    expect(result.priced.map(({ costNanoUsd }) => costNanoUsd)).toEqual([0, 4e9, 4e9, 6e9]);
    expect(Object.values(result.months['2026-11']?.factors ?? {})[0]).toMatchObject({ sum: '4000000000' });
  });

  it('markup of 12.5 % for one project', () => {
    const own = [price({ kind: 'markup', percent: 12.5 }, { project: 'search' })];
    const result = close(own, [request({ keyId: 'key-1' }), request({ keyId: 'key-2' })]);
    expect(result).toMatchObject({ list: '12', effective: '12.75' });
  });

  it('subscription: its tokens cost $0, and show the list price; API keys do not', () => {
    const own = [price({ kind: 'subscription' }, { provider: 'anthropic', credential: 'subscription' })];
    const covered = request({ credentialKind: 'subscription' });
    const unlisted = request({ credentialKind: 'subscription', model: 'own-model' });
    const result = close(own, [covered, request(), unlisted]);
    expect(result).toMatchObject({ list: '12', effective: '6' });
    expect(result.priced[0]).toMatchObject({ costNanoUsd: 0, listCostNanoUsd: 6e9 });
    expect(result.priced[2]).toMatchObject({ costNanoUsd: 0, listCostNanoUsd: null, provenance: 'computed' });
  });

  it('all at once: discount, then volume, then credit, then markup', () => {
    const [none, half] = [
      { from: 0, percent: 0 },
      { from: 1_200_000, percent: 50 },
    ] as const;
    const own = [
      price({ kind: 'markup', percent: 10 }),
      price({ kind: 'credit', usd: 3 }, { until: '2027-01-01T00:00:00.000Z' }),
      price({ kind: 'volume', measure: 'tokens', tiers: [none, half] }),
      price({ kind: 'discount', percent: 20 }, { provider: 'anthropic' }),
      price({ kind: 'discount', percent: 50 }, { provider: 'anthropic', key: 'key-2' }),
    ];
    const result = close(own, [request(), request({ keyId: 'key-2' })]);
    // Discounts: 6 × 0.8 = 4.8 and 6 × 0.5 = 3. Tokens: half of them at half price: × 0.75 = 3.6 + 2.25 = 5.85.
    // Credit: 5.85 - 3 = 2.85. Markup: 3.135.
    expect(result.effective).toBe('3.135');
    const kinds = result.priced[0]?.ownPrices?.steps.map(({ kind }) => kind);
    expect(kinds).toEqual(['discount', 'volume', 'credit', 'markup']);
  });

  it('rates of one service tier, more specific than those of the model; a commitment has no discount', () => {
    const flex: Terms = { kind: 'rates', usdPerMillionTokens: { input: 1, output: 2 } };
    const own = [
      price({ kind: 'rates', usdPerMillionTokens: { input: 2, output: 10 } }, { model: 'claude-opus*' }),
      price(flex, { model: 'claude-opus*', serviceTier: 'flex' }),
      price({ kind: 'rates', usdPerMillionTokens: { input: 9, output: 9 } }, { model: 'claude*' }),
      price({ kind: 'discount', percent: 10 }),
      price({ kind: 'commitment', usd: 5, per: 'month' }, { key: 'key-9' }),
    ];
    const result = close(own, [request({ serviceTier: 'flex' }), request(), request({ keyId: 'key-9' })]);
    // (1 + 0.4) × 0.9, (2 + 2) × 0.9, 5
    expect(result.priced.map(({ costNanoUsd }) => costNanoUsd)).toEqual([1.26e9, 3.6e9, 5e9]);
  });

  it.each([false, true])(
    'of equally specific prices the latest to begin, then to be made (reversed: %s)',
    (reversed) => {
      const own = [10, 20, 30].map((percent) => price({ kind: 'discount', percent }));
      const earlier = price({ kind: 'discount', percent: 40 }, { from: '2026-10-01T00:00:00.000Z' });
      const all = [...own, earlier];
      expect(close(reversed ? all.toReversed() : all, [request()]).priced[0]?.costNanoUsd).toBe(4.2e9);
    },
  );
});

it('rounds own rates and the prices after them once', () => {
  const rates: Terms = { kind: 'rates', usdPerMillionTokens: { input: 0.0005, output: 0 } };
  const own = [price(rates), price({ kind: 'discount', percent: 50 }), price({ kind: 'markup', percent: 10 })];
  // 0.5 nano-USD × 0.5 × 1.1, and 5,000.5 × 0.5 × 1.1 of which 2,500.25 go to the provider
  const { priced } = close(own, [request({ input: 1, output: 0 }), request({ input: 10_001, output: 0 })]);
  expect(priced.map(({ costNanoUsd, markupNanoUsd }) => [costNanoUsd, markupNanoUsd])).toEqual([
    [0, undefined],
    [2_750, 250],
  ]);
});

describe('what is not known', () => {
  it('stays unknown with a discount, and becomes known by a flat rate', () => {
    const unlisted = request({ model: 'own-model' });
    const discounted = close([price({ kind: 'discount', percent: 15 })], [unlisted]).priced[0];
    expect(discounted).toMatchObject({ costNanoUsd: null, provenance: 'unknown' });
    expect(discounted?.ownPrices).toBeUndefined();
    const flat = [price({ kind: 'rates', usdPerRequest: 0.02 }), price({ kind: 'discount', percent: 50 })];
    expect(close(flat, [unlisted]).priced[0]).toMatchObject({ costNanoUsd: 0.01e9, listCostNanoUsd: null });
    const unanswered = request({ model: 'own-model', status: null });
    expect(close(flat, [unanswered]).priced[0]).toMatchObject({ costNanoUsd: null, provenance: 'unknown' });
  });

  it('leaves free requests alone, and says that a month that runs is provisional', () => {
    const own = [
      price({ kind: 'rates', usdPerRequest: 1 }),
      price({ kind: 'volume', measure: 'usd', tiers: [{ from: 0, percent: 10 }] }),
    ];
    const reading = { ...request().reading, usage: null, usageSource: 'none' as const };
    const refused = { ...request(), status: 429, reading };
    expect(close(own, [refused]).priced[0]).toMatchObject({ costNanoUsd: 0, provenance: 'free' });
    expect(applied(own.slice(1), request())).toMatchObject({ costNanoUsd: 5.4e9, ownPrices: { isProvisional: true } });
  });
});

it('a credit that was lowered below what it has paid takes nothing back', () => {
  const credit = price({ kind: 'credit', usd: 10 });
  const sums: MonthSums = {};
  addToMonth(sums, baseOf([credit], request())!);
  const asOf = new Date('2026-12-01');
  const factors = monthFactors([credit], sums, { month: '2026-11', asOf, paidBefore: () => 12n * 10n ** 9n });
  expect(factors[credit.priceId]).toMatchObject({ numerator: '6000000000', denominator: '6000000000', sum: '0' });
});

it('remembers as long as a credit exists what it paid, so that it pays that once', async () => {
  const [at, factor] = ['2024-01-01T00:00:00.000Z', { numerator: '0', denominator: '1', sum: '5', isShared: true }];
  const months = Array.from({ length: 30 }, (_, index) => new Date(Date.UTC(2024, index)).toISOString().slice(0, 7));
  const own = {
    ...noPrices,
    prices: [
      price({ kind: 'credit', usd: 9 }, { priceId: 'credit', from: at }),
      price({ kind: 'commitment', usd: 9, per: 'month' }, { priceId: 'flat', from: at }),
    ],
    months: Object.fromEntries(
      months.map((month, index) => [
        month,
        { factors: { [index === 0 ? 'credit' : 'flat']: factor }, asOf: at, isFinal: true, counted: '' },
      ]),
    ),
  };
  const next = await dailyJob(own, new Date('2026-07-20T16:30:00Z'), async () => '');
  expect(Object.keys(next?.months ?? {}).sort()).toEqual([months[0], ...months.slice(-15)]);
});
