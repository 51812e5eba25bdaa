import { monthOf } from '../calendar/utc.ts';
import { attoUsdPerUnit, capped, costNanoUsd, exactCost, type Fraction, nanoUsdPerUnit, times } from '../money.ts';
import { matchesModel } from '../price/overrides.ts';
import { listedRates } from '../price/rates.ts';
import type { PriceableRequest } from '../price/request-rates.ts';
import type { AppliedPrice, PricedUsage } from '../usage/usage.ts';
import { ALL, factorText, NOTHING, product, withoutPercent } from './fraction.ts';
import { type MatchableRequest, matchingPrices, type PriceMatching } from './matching.ts';
import type { MonthPrices, OwnPrice, PriceKind, Terms } from './own-price.ts';

/** An account's own prices with what they need. */
export interface AccountPrices extends PriceMatching {
  readonly months: Readonly<Record<string, MonthPrices>>;
}

type Request = MatchableRequest & PriceableRequest;
/** The price of a request at list prices, or at the rates that it names. */
type Price = (request: PriceableRequest) => PricedUsage;

/** A request priced at the account's own rates. */
const atOwnRates = (
  request: Request,
  { priceId, model, terms }: OwnPrice,
  list: PricedUsage,
  price: Price,
): PricedUsage => {
  if (terms.kind !== 'rates') return list;
  const source = `own:${priceId}`;
  if (terms.usdPerRequest === undefined) {
    const matches = (billed: string) => model === undefined || matchesModel([model], billed);
    const rates = listedRates(terms.usdPerMillionTokens, terms.usdPerUnit);
    const own = price({ ...request, ownRates: { source, rates, matches } });
    return own.provenance === 'unknown' ? list : own;
  }
  // Nobody knows whether the provider charges for a request that it did not accept.
  if (request.status === null || request.status >= 400) return list;
  const rate = attoUsdPerUnit(terms.usdPerRequest);
  return {
    ...list,
    costNanoUsd: costNanoUsd([{ quantity: 1, rate }]),
    provenance: 'computed',
    priceSource: source,
    lines: [{ kind: 'requests', quantity: 1, rateNanoUsdPerUnit: nanoUsdPerUnit(rate) }],
    reason: null,
  };
};

/** A request at base price: at the account's own rates where it has some, else at list price. */
export interface BasePrice {
  readonly prices: ReadonlyMap<PriceKind, OwnPrice>;
  readonly priced: PricedUsage;
}

/**
 * @param list the request at list price
 * @returns null for requests that own prices do not concern: the free ones
 */
export const basePriceOf = (
  request: Request,
  list: PricedUsage,
  accountPrices: PriceMatching,
  price: Price,
): BasePrice | null => {
  if (list.provenance === 'free') return null;
  const prices = matchingPrices(request, accountPrices);
  if (prices.size === 0) return null;
  const own = prices.get('rates');
  return { prices, priced: own ? atOwnRates(request, own, list, price) : list };
};

/** The order in which prices apply, after own rates and subscriptions. */
const order = ['commitment', 'discount', 'volume', 'credit', 'markup'] as const;

/** The factor of a price before the month's sums are known. */
const firstFactor = (terms: Terms): Fraction => {
  const [first] = terms.kind === 'volume' ? terms.tiers : [];
  return first?.from === 0 ? withoutPercent(first.percent) : ALL;
};

const factorOf = ({ priceId, terms }: OwnPrice, month: MonthPrices | undefined) => {
  if (terms.kind === 'discount') return { factor: withoutPercent(terms.percent), isProvisional: false };
  if (terms.kind === 'markup') return { factor: withoutPercent(-terms.percent), isProvisional: false };
  const known = month?.factors[priceId];
  if (!known) return { factor: firstFactor(terms), isProvisional: true };
  const factor = { numerator: BigInt(known.numerator), denominator: BigInt(known.denominator) };
  return { factor, isProvisional: !month?.isFinal };
};

/** The product of factors in whole nano-USD, rounded half up once. */
const costOf = (factors: readonly Fraction[]): number => capped(times(1n, product(factors)));

/**
 * The price of a request with the account's own prices. The cost becomes the effective one; `listCostNanoUsd` keeps the one at list
 * price where it differs. An unknown cost stays unknown, unless own rates or a subscription make it known. Pure: it depends on the
 * request, the prices and the factors of its month, and not on the order in which requests are recorded.
 *
 * @param accountPrices undefined for an account without own prices
 */
export const applyPrices = (
  request: Request,
  list: PricedUsage,
  accountPrices: AccountPrices | undefined,
  price: Price,
): PricedUsage => {
  const base = accountPrices && basePriceOf(request, list, accountPrices, price);
  if (!base) return list;
  const { prices, priced } = base;
  const steps: AppliedPrice[] = [];
  const own = priced === list ? undefined : prices.get('rates');
  if (own) steps.push({ priceId: own.priceId, kind: 'rates' });
  const finish = (costNanoUsd: number, isProvisional: boolean, markupNanoUsd = 0): PricedUsage => ({
    ...priced,
    lines: list.lines,
    costNanoUsd,
    ...(markupNanoUsd > 0 && { markupNanoUsd }),
    ...(costNanoUsd !== list.costNanoUsd && { listCostNanoUsd: list.costNanoUsd }),
    ...(steps.length > 0 && {
      ownPrices: { steps, ...(own && { lines: [...priced.lines] }), ...(isProvisional && { isProvisional }) },
    }),
  });
  const subscription = prices.get('subscription');
  // A request whose end nobody saw stays unknown: the provider may not have accepted it.
  if (subscription && request.status !== null) {
    steps.push({ priceId: subscription.priceId, kind: 'subscription', factor: factorText(NOTHING) });
    const covered = finish(0, false);
    return priced.provenance === 'unknown' ? { ...covered, provenance: 'computed', reason: null } : covered;
  }
  if (priced.costNanoUsd === null) return list;
  const month = accountPrices.months[monthOf(request.startedAt)];
  const factors = [exactCost(priced.lines, priced.costNanoUsd)];
  let beforeMarkup = priced.costNanoUsd;
  let isProvisional = false;
  for (const kind of order) {
    const price = prices.get(kind);
    if (!price) continue;
    const found = factorOf(price, month);
    if (kind === 'markup') beforeMarkup = costOf(factors);
    factors.push(found.factor);
    isProvisional ||= found.isProvisional;
    steps.push({ priceId: price.priceId, kind, factor: factorText(found.factor) });
  }
  const cost = factors.length > 1 ? costOf(factors) : priced.costNanoUsd;
  return finish(cost, isProvisional, prices.has('markup') ? cost - beforeMarkup : 0);
};
