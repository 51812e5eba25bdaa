import { decimalOf, type Fraction, scaled, times } from '../money.ts';

export const NOTHING: Fraction = { numerator: 0n, denominator: 1n };
export const ALL: Fraction = { numerator: 1n, denominator: 1n };

const SCALE = 1_000_000n;

/** Factor after a discount, or with a markup (below 0), of a percentage with at most four decimals. */
export const withoutPercent = (percent: number): Fraction => ({
  numerator: SCALE - BigInt(Math.round(percent * 10_000)),
  denominator: SCALE,
});

export const product = (factors: readonly Fraction[]): Fraction => ({
  numerator: factors.reduce((all, { numerator }) => all * numerator, 1n),
  denominator: factors.reduce((all, { denominator }) => all * denominator, 1n),
});

/** A factor to show: at most nine decimals. */
export const factorText = (factor: Fraction): string => decimalOf(times(10n ** 9n, factor));

/** The factor of such a text. */
export const fractionOf = (text: string): Fraction => ({ numerator: scaled(Number(text), 9), denominator: 10n ** 9n });
