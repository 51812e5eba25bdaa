import { decimalOf } from '../../domain/money.ts';

/** Said of a cost that is not known: a reader may take null for nothing, and nothing for $0. */
const UNKNOWN = 'unknown';

const NANO_DIGITS = 9;
/** Digits of a rate below a nano-USD, as records have them at most. */
const RATE_DIGITS = 12;

/** Nano-USD, possibly fractional (a rate), in USD as an exact decimal string. */
const usdText = (nanoUsd: number): string =>
  Number.isInteger(nanoUsd)
    ? decimalOf(nanoUsd)
    : decimalOf(BigInt(nanoUsd.toFixed(RATE_DIGITS).replace('.', '')), NANO_DIGITS + RATE_DIGITS);

const isCost = (name: string) => /cost/i.test(name);

const withoutUnknown = (name: string, value: unknown): unknown => (value === null && isCost(name) ? UNKNOWN : value);

/**
 * The same value with each amount once, in USD as an exact decimal string: `costNanoUsd: 1500000` is `costUsd: "0.0015"`. A cost that is not
 * known is `"unknown"`.
 */
export const withDecimalAmounts = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withDecimalAmounts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]): [string, unknown] => {
      if (name.includes('NanoUsd') && (member === null || typeof member === 'number')) {
        const inUsd = name.replace('NanoUsd', 'Usd');
        return [inUsd, member === null ? withoutUnknown(name, null) : usdText(member)];
      }
      return [name, name.endsWith('Usd') ? withoutUnknown(name, member) : withDecimalAmounts(member)];
    }),
  );
};
