import { DAY_MS, HOUR_MS } from '../calendar/units.ts';
import { type Day, dayOf, endOf, monthOf, startOf, startOfNext } from '../calendar/utc.ts';
import { exactCost, type Fraction, PRODUCT_PER_NANO_USD, sumOfLines, times } from '../money.ts';
import { ALL, fractionOf, NOTHING, product } from '../own-prices/fraction.ts';
import { commitmentAmount } from '../own-prices/month-factors.ts';
import type { MonthPrices, OwnPrice } from '../own-prices/own-price.ts';
import { listCostOf, type RequestRecord } from '../spend/request-record.ts';
import type { PriceLine } from '../usage/usage.ts';

/** The costs of a charge, in whole nano-USD. */
interface Costs {
  readonly list: number;
  /** At the account's negotiated rates: own rates, discounts and volumes. */
  readonly contracted: number;
  /** With the share of a commitment that it uses, before credits. */
  readonly effective: number;
  /** Charged for it itself: nothing where a commitment pays. */
  readonly billed: number;
  /** The ledger's cost: effective, less credits, with markup. */
  readonly cost: number;
  readonly markup: number;
}

/** A row of FOCUS. */
export interface Charge {
  readonly category: 'Usage' | 'Purchase' | 'Credit';
  /** Epoch milliseconds; the end is not included. */
  readonly period: { readonly start: number; readonly end: number };
  /** The request; null for what is bought, credited or unused. */
  readonly record: RequestRecord | null;
  /** The own price that the row is of, or the commitment that pays for the request. */
  readonly price: OwnPrice | null;
  /** Kind of the price line; null: the charge has one price as a whole. */
  readonly kind: string | null;
  readonly quantity: number;
  readonly costs: Costs;
  /** USD for one unit. Times the quantity it is the cost, to less than one nano-dollar. */
  readonly listUnitPrice: number;
  readonly contractedUnitPrice: number;
  /** A request's own figures, such as its tokens, are exported with its first charge: so sums over charges are right. */
  readonly isFirst: boolean;
}

/** The account's own prices, and the factors of a month. */
export interface ChargePrices {
  readonly prices: readonly OwnPrice[];
  readonly months: Readonly<Record<string, MonthPrices>>;
}

const NANO = 1e9;

const productOf = (line: PriceLine): bigint => sumOfLines([line]);

/** Splits a whole number in proportion to weights, of which one is not 0. The parts are whole, and their sum is the number. */
export const split = (whole: number, weights: readonly bigint[]): number[] => {
  const sum = weights.reduce((total, weight) => total + weight, 0n);
  const parts = weights.map((weight, index) => {
    const product = BigInt(whole) * weight;
    return { index, floor: product / sum, remainder: product % sum };
  });
  const rest = whole - Number(parts.reduce((total, { floor }) => total + floor, 0n));
  const up = new Set(
    parts
      .toSorted((a, b) => (a.remainder === b.remainder ? 0 : a.remainder > b.remainder ? -1 : 1))
      .slice(0, rest)
      .map(({ index }) => index),
  );
  return parts.map(({ index, floor }) => Number(floor) + Number(up.has(index)));
};

/** True where each part is its product times the factor, rounded. */
const areRounded = (
  parts: readonly number[],
  products: readonly bigint[],
  { numerator, denominator }: Fraction,
): boolean =>
  products.every((product, index) => {
    const limit = PRODUCT_PER_NANO_USD * denominator;
    const difference = BigInt(parts[index] ?? 0) * limit - product * numerator;
    return difference < limit && difference > -limit;
  });

/** How the own prices of a request led from its base cost to what is paid. */
const paymentOf = (record: RequestRecord, { prices, months }: ChargePrices, month: string) => {
  const steps = record.ownPrices?.steps ?? [];
  const factorOf = (...kinds: string[]): Fraction =>
    product(steps.flatMap(({ kind, factor }) => (kinds.includes(kind) && factor ? [fractionOf(factor)] : [])));
  const commitment = steps.find(({ kind }) => kind === 'commitment');
  const found = commitment && months[month]?.factors[commitment.priceId];
  // Usage beyond the included amount is paid by itself.
  const beyond = found?.isShared ? BigInt(found.numerator) - BigInt(found.sum) : 0n;
  return {
    isCovered: steps.some(({ kind }) => kind === 'subscription'),
    commitment: commitment ? (prices.find(({ priceId }) => priceId === commitment.priceId) ?? null) : null,
    hasCommitment: commitment !== undefined,
    credit: steps.find(({ kind }) => kind === 'credit')?.priceId,
    negotiated: factorOf('discount', 'volume'),
    shared: factorOf('commitment'),
    billed: found && beyond > 0n ? { numerator: beyond, denominator: BigInt(found.numerator) } : NOTHING,
  };
};

type Payment = ReturnType<typeof paymentOf>;

const costsOf = (record: RequestRecord, cost: number, payment: Payment): Costs => {
  // FOCUS has no unknown list cost: the cost stands for it, and the column x_IsListCostKnown says so.
  const list = listCostOf(record) ?? cost;
  const markup = record.markupNanoUsd ?? 0;
  const paid = cost - markup;
  const base = exactCost(record.ownPrices?.lines ?? record.lines, list);
  const at = (...factors: Fraction[]): number => Number(times(1n, product([base, ...factors])));
  const { isCovered, hasCommitment, credit } = payment;
  if (isCovered) return { list, contracted: 0, effective: 0, billed: 0, cost, markup };
  const contracted = hasCommitment ? at() : credit === undefined ? paid : at(payment.negotiated);
  const beforeCredit = credit === undefined ? paid : at(hasCommitment ? payment.shared : payment.negotiated);
  // A credit takes nothing away below zero, whatever was rounded.
  const effective = Math.max(beforeCredit, paid);
  const billed = hasCommitment ? Number(times(BigInt(effective), payment.billed)) : effective;
  return { list, contracted, effective, billed, cost, markup };
};

const names = ['list', 'contracted', 'effective', 'billed', 'cost', 'markup'] as const;

/** Splits every cost among lines; the contracted one by the account's own rates. */
const splitCosts = (costs: Costs, products: readonly bigint[], own: readonly bigint[]): Costs[] => {
  const parts = names.map((name) => [name, split(costs[name], name === 'contracted' ? own : products)] as const);
  return products.map((_, index) =>
    Object.fromEntries(parts.map(([name, some]) => [name, some[index] ?? 0])),
  ) as unknown as Costs[];
};

/**
 * The charges of a request: one for each line of its price, or one in all where it has no lines. None where its cost is unknown: a charge
 * has a cost. The sums of their costs are the costs of the request, exactly.
 */
const chargesOfRequest = (record: RequestRecord, payment: Payment): Charge[] => {
  const { costNanoUsd: cost, lines } = record;
  if (cost === null) return [];
  const costs = costsOf(record, cost, payment);
  const start = startOf('hour', new Date(record.startedAt)).getTime();
  const shared = {
    category: 'Usage',
    period: { start, end: start + HOUR_MS },
    record,
    price: payment.commitment,
  } as const;
  const products = lines.map(productOf);
  if (products.every((product) => product === 0n)) {
    const prices = { listUnitPrice: costs.list / NANO, contractedUnitPrice: costs.contracted / NANO };
    return [{ ...shared, kind: null, quantity: 1, costs, ...prices, isFirst: true }];
  }
  const ownLines = record.ownPrices?.lines ?? lines;
  const isSameKinds =
    ownLines.length === lines.length && ownLines.every(({ kind }, index) => kind === lines[index]?.kind);
  const rated = isSameKinds && ownLines.some((line) => productOf(line) > 0n) ? ownLines : lines;
  const own = rated.map(productOf);
  const parts = splitCosts(costs, products, own);
  const factor = payment.hasCommitment ? ALL : payment.negotiated;
  const atListRates = areRounded(
    parts.map(({ list }) => list),
    products,
    ALL,
  );
  const atRates = areRounded(
    parts.map(({ contracted }) => contracted),
    own,
    factor,
  );
  const timesFactor = Number(factor.numerator) / Number(factor.denominator);
  return lines.map(({ kind, quantity, rateNanoUsdPerUnit }, index) => {
    const each = parts[index] as Costs;
    const priceOf = (nanoUsd: number, rate: number, isRate: boolean): number =>
      (isRate || quantity === 0 ? rate : nanoUsd / quantity) / NANO;
    const ownRate = (rated[index]?.rateNanoUsdPerUnit ?? 0) * timesFactor;
    return {
      ...shared,
      kind,
      quantity,
      costs: each,
      listUnitPrice: priceOf(each.list, rateNanoUsdPerUnit, atListRates),
      contractedUnitPrice: priceOf(each.contracted, ownRate, atRates),
      isFirst: index === 0,
    };
  });
};

/** A row that no request makes. */
const rowOf = (price: OwnPrice, category: Charge['category'], period: Charge['period'], costs: Costs): Charge => ({
  category,
  period,
  record: null,
  price,
  kind: null,
  quantity: 1,
  costs,
  listUnitPrice: costs.list / NANO,
  contractedUnitPrice: costs.contracted / NANO,
  isFirst: false,
});

const same = (nanoUsd: number): Costs => ({
  list: nanoUsd,
  contracted: nanoUsd,
  effective: nanoUsd,
  billed: nanoUsd,
  cost: 0,
  markup: 0,
});

/**
 * A commitment is bought for its part of a month on the first day of that part. Where no request of the month had a share of it, what was
 * paid is unused, on the last day.
 */
const commitmentRows = (day: Day, { prices, months }: ChargePrices): Charge[] => {
  const month = monthOf(day);
  const [monthStart, monthEnd] = [Date.parse(month), endOf(month).getTime()];
  const isOn = (instant: number): boolean => dayOf(new Date(instant).toISOString()) === day;
  return prices.flatMap((price) => {
    if (price.terms.kind !== 'commitment') return [];
    const start = Math.max(monthStart, Date.parse(price.from));
    const end = Math.min(monthEnd, price.until === null ? monthEnd : Date.parse(price.until));
    if (start >= end) return [];
    const amount = Number(commitmentAmount(price, price.terms, monthStart, monthEnd));
    const period = {
      start: startOf('hour', new Date(start)).getTime(),
      end: startOfNext('hour', new Date(end - 1)).getTime(),
    };
    const known = months[month];
    const isUnused = known?.isFinal === true && known.factors[price.priceId]?.isShared === false;
    return [
      ...(isOn(start) ? [rowOf(price, 'Purchase', period, { ...same(amount), effective: 0 })] : []),
      ...(isUnused && isOn(end - 1) ? [rowOf(price, 'Usage', period, { ...same(0), effective: amount })] : []),
    ];
  });
};

/**
 * The charges of a day, from its requests: what they used, then what was bought, left unused, and credited. Over a month the billed costs
 * are what is paid, and the effective ones the same amounts where they were used; the ledger's cost is the effective one, less credits,
 * with markup.
 */
export const openCharges = (day: Day, own: ChargePrices) => {
  const credited = new Map<string, number>();
  const month = monthOf(day);
  return {
    ofRequest: (record: RequestRecord): Charge[] => {
      const payment = paymentOf(record, own, month);
      const charges = chargesOfRequest(record, payment);
      if (payment.credit !== undefined) {
        const part = charges.reduce((sum, { costs }) => sum + costs.effective + costs.markup - costs.cost, 0);
        credited.set(payment.credit, (credited.get(payment.credit) ?? 0) + part);
      }
      return charges;
    },
    ofDay: (): Charge[] => {
      const start = Date.parse(day);
      const credits = own.prices.flatMap((price) => {
        const nanoUsd = credited.get(price.priceId) ?? 0;
        return nanoUsd === 0 ? [] : [rowOf(price, 'Credit', { start, end: start + DAY_MS }, same(-nanoUsd))];
      });
      return [...commitmentRows(day, own), ...credits];
    },
  };
};
