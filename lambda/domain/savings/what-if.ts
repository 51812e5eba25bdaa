import { monthOf, startOfNext } from '../calendar/utc.ts';
import { type AccountPrices, applyPrices, basePriceOf } from '../own-prices/apply-prices.ts';
import { matchingPrices } from '../own-prices/matching.ts';
import { addToMonth, type MonthSums, monthFactors } from '../own-prices/month-factors.ts';
import { isMonthKind, type MonthPrices, type OwnPrice } from '../own-prices/own-price.ts';
import { priceRequest } from '../price/price-request.ts';
import type { PriceBook } from '../price/rates.ts';
import type { OwnRates, PriceableRequest } from '../price/request-rates.ts';
import { applyTiers, tiersOf } from '../price/service-tiers.ts';
import { isPriceable, type PriceableRecord } from '../spend/contribution.ts';
import { sumOfKnown } from '../spend/known-cost.ts';
import { modelOf, type RequestRecord } from '../spend/request-record.ts';
import { BILLABLE } from '../usage/billable-items.ts';
import { readUsage } from '../usage/normalize.ts';
import { tokenizerFamily, tokenizerOf } from '../usage/tokenizers.ts';
import type { PricedUsage } from '../usage/usage.ts';

/** One change of how requests of the past were sent, or of what they were charged. */
export interface Change {
  readonly model?: string | undefined;
  /** The provider that serves the model. Without it, each request keeps its provider. */
  readonly provider?: PriceableRequest['provider'] | undefined;
  readonly tier?: string | undefined;
  /** A price that the account does not have. */
  readonly price?: OwnPrice | undefined;
}

/** Requests are priced with the price book and the account's own prices. */
export interface Pricing {
  readonly book: PriceBook;
  readonly accountPrices: AccountPrices;
}

/** Why a request has no price with the change. */
export const incomparable = {
  unpriced: 'Its cost is unknown without the change, too.',
  noPrice: 'The model has no price, or none for something that the request used.',
  noTier: 'The tier has no published price for the model.',
  otherUsage: 'The other provider counts its usage in another way.',
} as const;
type Incomparable = keyof typeof incomparable;

/** Rates for no model: the price book is used, also where the provider reported what the model that served cost. */
const NO_RATES: OwnRates = { source: 'book', rates: {}, matches: () => false };

/** A request is priced as the recorder prices it: at list, then with the account's own prices. */
const priceOf = (request: PriceableRecord, { book, accountPrices }: Pricing, ownRates?: OwnRates): PricedUsage => {
  const price = (of: PriceableRequest) => priceRequest(of, book);
  return applyPrices(request, price({ ...request, ownRates }), accountPrices, price);
};

const isSameModel = (record: PriceableRecord, { model, provider = record.provider }: Change): boolean =>
  provider === record.provider && (model === undefined || model.toLowerCase() === modelOf(record)?.toLowerCase());

/** The request as it would have been sent. */
const changedBy = (change: Change, record: PriceableRecord): PriceableRecord => {
  const { model, provider, tier } = change;
  const { [BILLABLE.batch]: _batch, ...items } = record.reading.billableItems;
  return {
    ...record,
    ...(provider && { provider }),
    reading: {
      ...record.reading,
      ...(model !== undefined && !isSameModel(record, change) && { modelServed: model, modelRequested: model }),
      ...(tier !== undefined && {
        serviceTier: tier === 'batch' ? null : tier,
        billableItems: tier === 'batch' ? { ...items, [BILLABLE.batch]: 1 } : items,
      }),
    },
  };
};

/** True where both providers' rules read the same tokens from the usage. */
const countsAlike = (record: PriceableRecord, after: PriceableRecord): boolean => {
  if (record.provider === after.provider) return true;
  const [before, now] = [record, after].map(({ provider, reading }) => readUsage(provider, reading)?.usage);
  return before?.inputTokens === now?.inputTokens && before?.outputTokens === now?.outputTokens;
};

/** The cost with the change, or why there is none. */
const changedCost = (record: PriceableRecord, change: Change, pricing: Pricing): number | Incomparable => {
  const after = changedBy(change, record);
  if (!countsAlike(record, after)) return 'otherUsage';
  const isOther = !isSameModel(record, change) || change.tier !== undefined;
  const priced = priceOf(after, pricing, isOther ? NO_RATES : undefined);
  if (priced.costNanoUsd === null) return 'noPrice';
  if (change.tier === undefined || priced.ownPrices?.lines) return priced.costNanoUsd;
  const model = modelOf(after)?.toLowerCase() ?? '';
  const query = { provider: after.provider, model, at: new Date(after.startedAt) };
  return applyTiers(query, tiersOf(after.reading), {}).isExact ? priced.costNanoUsd : 'noTier';
};

/** The account's prices with one more. Where that depends on sums of a month, they are those of the requests. */
const withPrice = (
  records: readonly PriceableRecord[],
  price: OwnPrice,
  { book, accountPrices }: Pricing,
  end: Date,
): Pricing => {
  const prices = { ...accountPrices, prices: [...accountPrices.prices, price] };
  if (!isMonthKind(price.terms.kind)) return { book, accountPrices: prices };
  const sums = new Map<string, MonthSums>();
  for (const record of records) {
    const base = basePriceOf(record, priceRequest(record, book), prices, (of) => priceRequest(of, book));
    const month = monthOf(record.startedAt);
    if (base) sums.set(month, sums.get(month) ?? {});
    if (base) addToMonth(sums.get(month) as MonthSums, base);
  }
  const months: Record<string, MonthPrices> = { ...accountPrices.months };
  let paid = 0n;
  for (const [month, ofMonth] of [...sums].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const monthEnd = startOfNext('month', new Date(month));
    const asOf = monthEnd < end ? monthEnd : end;
    const known = months[month] ?? { factors: {}, asOf: asOf.toISOString(), isFinal: true, counted: '' };
    const { [price.priceId]: factor } = monthFactors(prices.prices, ofMonth, { month, asOf, paidBefore: () => paid });
    paid += BigInt(factor?.sum ?? 0);
    months[month] = { ...known, factors: { ...known.factors, ...(factor && { [price.priceId]: factor }) } };
  }
  return { book, accountPrices: { ...prices, months } };
};

/** Tokens of the other model for the same text, for each of this one; 1 within a family. */
const tokenFactor = (record: RequestRecord, { model }: Change): number => {
  const [before, after] = [modelOf(record) ?? '', model ?? modelOf(record) ?? ''];
  if (tokenizerFamily(before) === tokenizerFamily(after)) return 1;
  return tokenizerOf(after).tokensPerPiece / tokenizerOf(before).tokensPerPiece;
};

/** How far the factor of one text may be from that of the families. Measured: see docs/metering.md. */
const FACTOR_BOUNDS = [0.85, 1.15] as const;

interface Sum {
  requests: number;
  oldNanoUsd: number;
  newNanoUsd: number;
}
const nothing = (): Sum => ({ requests: 0, oldNanoUsd: 0, newNanoUsd: 0 });
const withDifference = (sum: Sum) => ({ ...sum, differenceNanoUsd: sum.newNanoUsd - sum.oldNanoUsd });

const recordedOf = (records: readonly RequestRecord[]) => sumOfKnown(records.map(({ costNanoUsd }) => costNanoUsd));

/**
 * The same requests priced again with a change, by the code that priced them. `old` is what repricing gives now, `recorded` what the records
 * have. Requests that cannot be compared are in neither `old` nor `new`. The tokens are the same: `sameText` has what the other model would
 * cost with its own tokens for the same text.
 *
 * @param end of the range, for prices that accrue with time
 */
export const whatIf = (records: readonly RequestRecord[], change: Change, pricing: Pricing, end: Date) => {
  const total = nothing();
  const groups = new Map<string, Sum>();
  const leftOut: { readonly reason: Incomparable; readonly record: RequestRecord }[] = [];
  const sameText = { leastNanoUsd: 0, mostNanoUsd: 0 };
  let concernedNanoUsd = 0;
  const priceable = records.filter(isPriceable);
  const changedPricing = change.price ? withPrice(priceable, change.price, pricing, end) : pricing;
  for (const record of records) {
    if (record.provenance === 'free') continue;
    const old = isPriceable(record) ? priceOf(record, pricing).costNanoUsd : null;
    if (old === null || !isPriceable(record)) {
      leftOut.push({ reason: 'unpriced', record });
      continue;
    }
    const cost = changedCost(record, change, changedPricing);
    if (typeof cost === 'string') {
      leftOut.push({ reason: cost, record });
      continue;
    }
    const key = JSON.stringify([record.provider, modelOf(record), record.tag]);
    const group = groups.get(key) ?? nothing();
    groups.set(key, group);
    for (const sum of [group, total]) {
      sum.requests++;
      sum.oldNanoUsd += old;
      sum.newNanoUsd += cost;
    }
    const { price } = change;
    const isConcerned =
      price && matchingPrices(record, changedPricing.accountPrices).get(price.terms.kind)?.priceId === price.priceId;
    if (isConcerned) concernedNanoUsd += old;
    const factor = tokenFactor(record, change);
    const [least, most] = factor === 1 ? [1, 1] : FACTOR_BOUNDS;
    sameText.leastNanoUsd += Math.round(cost * factor * least);
    sameText.mostNanoUsd += Math.round(cost * factor * most);
  }
  return {
    recordedNanoUsd: recordedOf(records),
    ...withDifference(total),
    sameText,
    /** The cost of the requests that the price is for: the amount at which a commitment breaks even. */
    concernedNanoUsd,
    groups: [...groups]
      .map(([key, sum]) => {
        const [provider, model, tag] = JSON.parse(key) as [string, string | null, string | null];
        return { provider, model, tag, ...withDifference(sum) };
      })
      .sort((a, b) => Math.abs(b.differenceNanoUsd) - Math.abs(a.differenceNanoUsd)),
    incomparable: [...Map.groupBy(leftOut, ({ reason }) => reason)].map(([reason, some]) => ({
      reason: incomparable[reason],
      requests: some.length,
      recordedNanoUsd: recordedOf(some.map(({ record }) => record)),
    })),
  };
};
