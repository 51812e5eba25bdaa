/**
 * Exact money. A rate is a bigint of atto-USD (1e-18 USD) per unit, a quantity a bigint of micro-units (1e-6), so products and sums
 * are exact. The final sum is rounded once (half up) to integer nano-USD (1e-9 USD). Rates need this precision: 0.005 USD per
 * million tokens is 5 nano-USD for a token, and batch discounts and fractions of a second divide further.
 */

/** Bigint of 1e-18 USD per unit. */
export type AttoUsd = bigint;

const ATTO_DIGITS = 18;
const QUANTITY_DIGITS = 6;
/** 1e-18 USD x 1e-6 units = 1e-24; nano-USD are 1e-9. */
export const PRODUCT_PER_NANO_USD = 10n ** 15n;
const ATTO_PER_NANO_USD = 10n ** 9n;
/** Keeps a cost a safe integer. No request costs 9 million USD. */
const MAX_COST_NANO_USD = BigInt(Number.MAX_SAFE_INTEGER);

/** Divides whole numbers; the dividend is 0 or more. */
export const divideHalfUp = (dividend: bigint, divisor: bigint): bigint => (2n * dividend + divisor) / (2n * divisor);

/**
 * A finite non-negative number times 10^digits. It uses the shortest decimal form of the number, so that 0.1 is exactly one tenth;
 * further digits are rounded half up. Anything else is 0.
 */
export const scaled = (value: number, digits: number): bigint => {
  if (!Number.isFinite(value) || value <= 0) return 0n;
  if (Number.isSafeInteger(value)) return BigInt(value) * 10n ** BigInt(digits);
  const [mantissa = '0', exponent = '0'] = String(value).split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  const shift = digits + Number(exponent) - fraction.length;
  const number = BigInt(whole + fraction);
  return shift >= 0 ? number * 10n ** BigInt(shift) : divideHalfUp(number, 10n ** BigInt(-shift));
};

/** The rate of one unit when `per` units cost `usd`, rounded half up to a whole atto-USD. */
export const attoUsdPerUnit = (usd: number, per = 1): AttoUsd => divideHalfUp(scaled(usd, ATTO_DIGITS), BigInt(per));

/** An exact factor of a rate or a cost: 0.25 USD instead of 0.15 USD is 5/3, which has no exact decimal form. */
export interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** A whole number, such as a rate, times a factor, rounded half up once. */
export const times = (value: bigint, { numerator, denominator }: Fraction): bigint =>
  divideHalfUp(value * numerator, denominator);

/**
 * A whole number of parts of a currency as a decimal string without trailing zeros: 1500000 is `0.0015`.
 *
 * @param digits decimals of one part; 9 for nano-USD
 */
export const decimalOf = (parts: number | bigint, digits = 9): string => {
  const text = String(parts)
    .replace('-', '')
    .padStart(digits + 1, '0');
  const decimal = `${text.slice(0, -digits)}.${text.slice(-digits)}`.replace(/\.?0+$/, '');
  return parts < 0 ? `-${decimal}` : decimal;
};

/** Atto-USD as nano-USD, possibly fractional: exact to 15 digits. */
export const nanoUsdPerUnit = (rate: AttoUsd): number => Number(rate) / Number(ATTO_PER_NANO_USD);

/** An amount in USD as a provider reports it, in integer nano-USD, rounded half up. */
export const usdToNanoUsd = (usd: number): number => capped(scaled(usd, 9));

export const capped = (nanoUsd: bigint): number => Number(nanoUsd > MAX_COST_NANO_USD ? MAX_COST_NANO_USD : nanoUsd);

interface Charge {
  readonly quantity: number;
  readonly rate: AttoUsd;
}

/** The exact sum of quantity x rate, in 1e-24 USD. */
const sumOfCharges = (charges: readonly Charge[]): bigint =>
  charges.reduce((sum, { quantity, rate }) => sum + scaled(quantity, QUANTITY_DIGITS) * rate, 0n);

/** The sum of quantity x rate in integer nano-USD, rounded half up once. */
export const costNanoUsd = (charges: readonly Charge[]): number =>
  capped(divideHalfUp(sumOfCharges(charges), PRODUCT_PER_NANO_USD));

/** The same of the lines of a price. */
export const costOfLines = (lines: Lines): number => capped(divideHalfUp(sumOfLines(lines), PRODUCT_PER_NANO_USD));

type Lines = readonly { readonly quantity: number; readonly rateNanoUsdPerUnit: number }[];

/** The exact sum of the lines of a price, in 1e-24 USD. */
export const sumOfLines = (lines: Lines): bigint =>
  sumOfCharges(lines.map(({ quantity, rateNanoUsdPerUnit }) => ({ quantity, rate: scaled(rateNanoUsdPerUnit, 9) })));

/** A cost before it is rounded, in nano-USD. A cost that the provider reported has no lines, and is exact. */
export const exactCost = (lines: Lines, nanoUsd: number): Fraction =>
  lines.length === 0
    ? { numerator: BigInt(nanoUsd), denominator: 1n }
    : { numerator: sumOfLines(lines), denominator: PRODUCT_PER_NANO_USD };
