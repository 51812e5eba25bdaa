import { scaled } from '../money.ts';
import { listCostOf, type RequestRecord } from '../spend/request-record.ts';
import type { PriceLine } from '../usage/usage.ts';

/** One line of the price of one request, with its part of the request's whole nano-dollars. */
export interface Charge {
  readonly record: RequestRecord;
  /** Kind of the price line; null: the request has one price as a whole. */
  readonly kind: string | null;
  readonly quantity: number;
  readonly listNanoUsd: number;
  readonly costNanoUsd: number;
  /** USD for one unit. Times the quantity it is the cost, to less than one nano-dollar. */
  readonly listUnitPrice: number;
  readonly unitPrice: number;
  /** A request's own figures, such as its tokens, are exported with its first charge: so sums over charges are right. */
  readonly isFirst: boolean;
}

const NANO = 1e9;
/** Digits of a quantity and of a rate in nano-USD. */
const [QUANTITY_DIGITS, RATE_DIGITS] = [6, 9];
/** Scale of a product of both. */
const PRODUCT_PER_NANO_USD = 10n ** BigInt(QUANTITY_DIGITS + RATE_DIGITS);

const productOf = ({ quantity, rateNanoUsdPerUnit }: PriceLine): bigint =>
  scaled(quantity, QUANTITY_DIGITS) * scaled(rateNanoUsdPerUnit, RATE_DIGITS);

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

/** True where each part is its product, rounded. */
const areRounded = (parts: readonly number[], products: readonly bigint[]): boolean =>
  products.every((product, index) => {
    const difference = BigInt(parts[index] ?? 0) * PRODUCT_PER_NANO_USD - product;
    return difference < PRODUCT_PER_NANO_USD && difference > -PRODUCT_PER_NANO_USD;
  });

/**
 * The charges of a request: one for each line of its price, or one in all where it has no lines. None where its cost is unknown: a charge
 * has a cost. The sums of their costs are the costs of the request, exactly.
 */
export const chargesOf = (record: RequestRecord): Charge[] => {
  const { costNanoUsd: cost, lines } = record;
  if (cost === null) return [];
  // FOCUS has no unknown list cost: the cost stands for it, and the column x_IsListCostKnown says so.
  const listCost = listCostOf(record) ?? cost;
  const products = lines.map(productOf);
  if (products.every((product) => product === 0n)) {
    const prices = { listUnitPrice: listCost / NANO, unitPrice: cost / NANO };
    return [{ record, kind: null, quantity: 1, listNanoUsd: listCost, costNanoUsd: cost, ...prices, isFirst: true }];
  }
  const listCosts = split(listCost, products);
  const costs = split(cost, products);
  const [atListRates, atRates] = [areRounded(listCosts, products), areRounded(costs, products)];
  return lines.map(({ kind, quantity, rateNanoUsdPerUnit }, index) => {
    const [listNanoUsd, costNanoUsd] = [listCosts[index] ?? 0, costs[index] ?? 0];
    const priceOf = (nanoUsd: number, isRounded: boolean): number =>
      (isRounded || quantity === 0 ? rateNanoUsdPerUnit : nanoUsd / quantity) / NANO;
    return {
      record,
      kind,
      quantity,
      listNanoUsd,
      costNanoUsd,
      listUnitPrice: priceOf(listNanoUsd, atListRates),
      unitPrice: priceOf(costNanoUsd, atRates),
      isFirst: index === 0,
    };
  });
};
