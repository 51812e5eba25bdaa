import { decimalOf } from '../../../lambda/domain/money.ts';
import { locale } from './locale.ts';

/** Amounts are in nano-USD (1e-9 USD); null is an unknown amount, which differs from zero. */

const NANO = 1e9;

const formatIn = (currency: string, options: Intl.NumberFormatOptions) =>
  new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    currencyDisplay: currency === 'USD' ? 'narrowSymbol' : 'symbol',
    ...options,
  });
const usd = (options: Intl.NumberFormatOptions) => formatIn('USD', options);

const cents = usd({});
/** For amounts below a cent: two significant digits instead of zeros. */
const small = usd({ minimumSignificantDigits: 2, maximumSignificantDigits: 2 });
const whole = usd({ maximumFractionDigits: 0 });

const UNKNOWN = 'unknown';

/** `$12.34`, `$0.0042`, `unknown`. */
export const formatMoney = (nanoUsd: number | null): string => {
  if (nanoUsd === null) return UNKNOWN;
  const amount = nanoUsd / NANO;
  return amount !== 0 && Math.abs(amount) < 0.01 ? small.format(amount) : cents.format(amount);
};

/** A format with decimals of its own from an amount on; what is smaller, but not zero, has two significant digits. */
const from = (leastNanoUsd: number, minimumFractionDigits: number, maximumFractionDigits: number) => {
  const format = usd({ minimumFractionDigits, maximumFractionDigits });
  return (nanoUsd: number | null): string =>
    nanoUsd === null || (nanoUsd !== 0 && Math.abs(nanoUsd) < leastNanoUsd)
      ? formatMoney(nanoUsd)
      : format.format(nanoUsd / NANO);
};

/** `$0.095151`, `$2.11`: the cost of one request, with up to six decimals. */
export const formatFineMoney = from(1_000, 2, 6);

/** `$0.050760`: the lines of a request's price, in one column with their total. */
export const formatPartMoney = from(1_000, 6, 6);

/** `$0.1097`, `$2.1100`: the costs of requests in one column. */
export const formatCallMoney = from(50_000, 4, 4);

/** `$29`, `CA$29.50`, `¥2,900`: an amount in any currency, as a decimal string. */
export const formatPrice = (amount: string, currency: string): string =>
  new Intl.NumberFormat(locale, { style: 'currency', currency, trailingZeroDisplay: 'stripIfInteger' }).format(
    Number(amount),
  );

const sign = (nanoUsd: number) => (nanoUsd > 0 ? '+' : nanoUsd < 0 ? '−' : '');

/** `+$12.34`, `−$0.0042`, `$0.00`, `unknown`: a change of an amount. */
export const formatMoneyChange = (nanoUsd: number | null): string =>
  nanoUsd === null ? UNKNOWN : `${sign(nanoUsd)}${formatMoney(Math.abs(nanoUsd))}`;

/** `$504`, `$1,230`, `$4.07`: an amount that is not known better, such as a forecast, with three digits at most. */
export const formatRoughMoney = (nanoUsd: number | null): string =>
  nanoUsd === null || Math.abs(nanoUsd) < 10 * NANO
    ? formatMoney(nanoUsd)
    : whole.format(Number((nanoUsd / NANO).toPrecision(3)));

const rate = usd({ minimumFractionDigits: 2, maximumFractionDigits: 9 });

/** `$1.20`, `$0.000075`: a rate or an agreed amount in USD, with all its decimals. */
export const formatRate = (amountUsd: number): string => rate.format(amountUsd);

/** Short, for an axis, of 1e-9 of a currency: `$1.2K`, `€40`, `$0.5`. */
export const formatAxisMoney = (nano: number, code = 'USD'): string => {
  const amount = nano / NANO;
  const size = Math.abs(amount);
  const isWhole = size === 0 || (size >= 10 && size < 1000);
  return formatIn(code, {
    ...(isWhole ? { maximumFractionDigits: 0 } : { minimumFractionDigits: 0, maximumSignificantDigits: 2 }),
    ...(size >= 1000 && { notation: 'compact', maximumSignificantDigits: 3 }),
  }).format(amount);
};

/** Up to nine decimals, without trailing zeros: `12.345678901 USD`. */
export const exactMoney = (nanoUsd: number | null): string =>
  nanoUsd === null ? 'The cost is unknown.' : `${decimalOf(nanoUsd)} USD`;

/** A cost in the display currency. */
export interface Shown {
  /** Decimal string; null where it is not known. */
  readonly decimal: string | null;
  /** ISO 4217. */
  readonly code: string;
}

/** A cost in the display currency; undefined without such a currency. */
export const shownIn = (
  { displayCost, displayCurrency }: { readonly displayCost?: string | null; readonly displayCurrency?: string },
  code = displayCurrency,
): Shown | undefined => (code === undefined || displayCost === undefined ? undefined : { decimal: displayCost, code });

/** `€1,234.50`, `€0.0042`; `digits` at most, where given. */
export const formatShown = (decimal: string, code: string, digits?: number): string => {
  const amount = Number(decimal);
  const isSmall = amount !== 0 && Math.abs(amount) < 0.01;
  const options: Intl.NumberFormatOptions = isSmall
    ? { minimumSignificantDigits: 2, maximumSignificantDigits: 2 }
    : digits === undefined
      ? {}
      : { maximumSignificantDigits: digits, minimumFractionDigits: 0 };
  return formatIn(code, options).format(amount);
};

const DECIMALS = 9;
const scaled = (decimal: string): bigint => {
  const [whole = '0', fraction = ''] = decimal.replace('-', '').split('.');
  const value = BigInt(whole + fraction.padEnd(DECIMALS, '0'));
  return decimal.startsWith('-') ? -value : value;
};

/** The exact sum of decimal strings with at most nine decimals; null where one is not known. */
export const addDecimals = (decimals: readonly (string | null)[]): string | null => {
  if (decimals.includes(null)) return null;
  const sum = decimals.reduce((total, decimal) => total + scaled(decimal ?? '0'), 0n);
  const digits = String(sum < 0n ? -sum : sum).padStart(DECIMALS + 1, '0');
  return `${sum < 0n ? '-' : ''}${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`;
};
