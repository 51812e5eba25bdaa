import { DAY_MS, HOUR_MS } from '../calendar/units.ts';
import { startOfNext } from '../calendar/utc.ts';
import { divideHalfUp, type Fraction, times, usdToNanoUsd } from '../money.ts';
import type { BasePrice } from './apply-prices.ts';
import { ALL, product, withoutPercent } from './fraction.ts';
import { type MonthPrices, monthKinds, type OwnPrice, type Terms } from './own-price.ts';

/** Sums of a month by the prices that match together. Base prices in nano-USD, and tokens, as text. */
export type MonthSums = Record<string, [nanoUsd: string, tokens: string]>;

/** The kinds that a sum is kept by: those that depend on the month, and the one between them. */
const summedBy = ['commitment', 'discount', 'volume', 'credit'] as const;

const add = (left: string, right: bigint): string => String(BigInt(left) + right);

/** Adds a request to the sums of its month. Covered by a subscription, or of unknown cost, it adds nothing. In place. */
export const addToMonth = (sums: MonthSums, { prices, priced }: BasePrice): void => {
  if (priced.costNanoUsd === null || prices.has('subscription')) return;
  if (!monthKinds.some((kind) => prices.has(kind))) return;
  const name = JSON.stringify(summedBy.map((kind) => prices.get(kind)?.priceId ?? null));
  const [nanoUsd, tokens] = sums[name] ?? ['0', '0'];
  const used = (priced.usage?.inputTokens ?? 0) + (priced.usage?.outputTokens ?? 0);
  sums[name] = [add(nanoUsd, BigInt(priced.costNanoUsd)), add(tokens, BigInt(used))];
};

/** An amount for each unit of time, in nano-USD for the part of a month in which its price holds. */
const amountIn = (usd: number, per: 'hour' | 'day' | 'month', activeMs: number, monthMs: number): bigint =>
  divideHalfUp(
    BigInt(usdToNanoUsd(usd)) * BigInt(activeMs),
    BigInt(per === 'month' ? monthMs : per === 'day' ? DAY_MS : HOUR_MS),
  );

const activeMs = ({ from, until }: OwnPrice, start: number, end: number): number =>
  Math.max(0, Math.min(end, until === null ? end : Date.parse(until)) - Math.max(start, Date.parse(from)));

/** The cost of a commitment in its part of a month, in nano-USD. */
export const commitmentAmount = (
  price: OwnPrice,
  { usd, per }: Extract<Terms, { kind: 'commitment' }>,
  monthStart: number,
  monthEnd: number,
): bigint => amountIn(usd, per, activeMs(price, monthStart, monthEnd), monthEnd - monthStart);

/** The share of a volume that is left to pay after the discounts of its tiers. */
const volumeFactor = ({ measure, tiers }: Extract<Terms, { kind: 'volume' }>, volume: bigint): Fraction => {
  const starts = tiers.map(({ from }) => (measure === 'usd' ? BigInt(usdToNanoUsd(from)) : BigInt(Math.round(from))));
  let left = (starts[0] ?? 0n) < volume ? (starts[0] ?? 0n) : volume;
  let denominator = 1n;
  for (const [index, { percent }] of tiers.entries()) {
    const start = starts[index] ?? 0n;
    const next = starts[index + 1] ?? volume;
    const end = next < volume ? next : volume;
    if (end <= start) break;
    const share = withoutPercent(percent);
    left = left * (index === 0 ? share.denominator : 1n) + (end - start) * share.numerator;
    denominator = share.denominator;
  }
  return { numerator: left, denominator: denominator * volume };
};

/**
 * The factors of a month's prices, exact and independent of the order of its requests. A commitment's amount is shared by base price, a
 * volume discount and a credit in proportion to the cost.
 *
 * @param asOf until then the amounts of commitments have accrued
 * @param paidBefore what credits paid in earlier months, in nano-USD by price id
 */
export const monthFactors = (
  prices: readonly OwnPrice[],
  sums: MonthSums,
  {
    month,
    asOf,
    paidBefore,
  }: { readonly month: string; readonly asOf: Date; readonly paidBefore: (priceId: string) => bigint },
): MonthPrices['factors'] => {
  const start = Date.parse(month);
  const monthEnd = startOfNext('month', new Date(start)).getTime();
  const end = Math.min(monthEnd, asOf.getTime());
  const groups = Object.entries(sums).map(([name, [nanoUsd, tokens]]) => {
    const [commitment, discount, volume, credit] = JSON.parse(name) as (string | null)[];
    return { commitment, discount, volume, credit, nanoUsd: BigInt(nanoUsd), tokens: BigInt(tokens) };
  });
  type Group = (typeof groups)[number];
  const byId = new Map(prices.map((price) => [price.priceId, price]));
  const factors = new Map<string, Fraction>();
  const found: MonthPrices['factors'] = {};
  const keep = (priceId: string, factor: Fraction, sum: bigint, isShared = true) => {
    factors.set(priceId, factor);
    found[priceId] = {
      numerator: String(factor.numerator),
      denominator: String(factor.denominator),
      sum: String(sum),
      isShared,
    };
  };
  const ofKind = <K extends Terms['kind']>(kind: K) =>
    prices.flatMap((price) => {
      const { terms } = price;
      return terms.kind === kind ? [{ price, terms: terms as Extract<Terms, { kind: K }> }] : [];
    });
  const sumOf = (some: readonly Group[], value: (group: Group) => bigint) =>
    some.reduce((sum, group) => sum + value(group), 0n);
  const factorOf = (priceId: string | null | undefined) => (priceId && factors.get(priceId)) || null;

  for (const { price, terms } of ofKind('commitment')) {
    const own = groups.filter(({ commitment }) => commitment === price.priceId);
    const base = sumOf(own, ({ nanoUsd }) => nanoUsd);
    const amount = amountIn(terms.usd, terms.per, activeMs(price, start, end), monthEnd - start);
    const included =
      terms.includedUsd === undefined
        ? base
        : amountIn(terms.includedUsd, terms.per, activeMs(price, start, end), monthEnd - start);
    const rest = base > included ? base - included : 0n;
    const share = base > 0n ? { numerator: amount + rest, denominator: base } : ALL;
    keep(price.priceId, share, amount, base > 0n);
  }
  for (const { price, terms } of ofKind('volume')) {
    const own = groups.filter(({ volume }) => volume === price.priceId);
    const volume = sumOf(own, ({ nanoUsd, tokens }) => (terms.measure === 'usd' ? nanoUsd : tokens));
    if (volume > 0n) keep(price.priceId, volumeFactor(terms, volume), volume);
  }
  for (const { price, terms } of ofKind('credit')) {
    const own = groups.filter(({ credit }) => credit === price.priceId);
    const cost = sumOf(own, ({ nanoUsd, commitment, discount, volume }) => {
      const terms = discount ? byId.get(discount)?.terms : undefined;
      const before = [
        factorOf(commitment),
        terms?.kind === 'discount' ? withoutPercent(terms.percent) : null,
        factorOf(volume),
      ];
      return times(nanoUsd, product(before.filter((factor) => factor !== null)));
    });
    const open = BigInt(usdToNanoUsd(terms.usd)) - paidBefore(price.priceId);
    const paid = open > cost ? cost : open > 0n ? open : 0n;
    if (cost > 0n) keep(price.priceId, { numerator: cost - paid, denominator: cost }, paid);
  }
  return found;
};
