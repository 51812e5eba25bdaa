import { decimalOf } from '../../../lambda/domain/money.ts';
import type { SpendChange } from '../api/responses.ts';
import { locale, readsDollars } from './reading.ts';

const compact = new Intl.NumberFormat(locale, { notation: 'compact', maximumSignificantDigits: 3 });
const even = new Intl.NumberFormat(locale, {
  notation: 'compact',
  minimumSignificantDigits: 3,
  maximumSignificantDigits: 3,
});
const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat(locale, { maximumFractionDigits: 9 });
const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 });
const exactPercent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 2 });

/** `13.0K`, `1.24M`, `9,999`: counts in one column, with the same precision. */
export const formatCount = (count: number): string =>
  Math.abs(count) < 10_000 ? whole.format(count) : even.format(count);

/** `10K`, `1.24M`: a count in a sentence. Numbers below 10,000 are written in full. */
export const formatCompact = (count: number): string =>
  Math.abs(count) < 10_000 ? whole.format(count) : compact.format(count);

export const formatWhole = (count: number): string => whole.format(count);

/** With all its decimals. */
export const formatExact = (count: number): string => fine.format(count);

/** `12.5%` of a number in percent, the unit in rules. */
export const formatPercent = (percentage: number): string => exactPercent.format(percentage / 100);

/** `38%`. A small share is `<1%` and an unknown one `–`: only zero is `0%`. */
export const formatShare = (share: number | null): string => {
  if (share === null) return '–';
  return share > 0 && share < 0.005 ? `<${percent.format(0.01)}` : percent.format(share);
};

/** `1 request`, `2 requests`. */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${whole.format(count)} ${count === 1 ? one : many}`;

/** `840 ms`, `1.4 s`, `3 min 5 s`. */
export const formatDuration = (ms: number | null): string => {
  if (ms === null) return '–';
  if (ms < 999.5) return `${whole.format(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const rounded = Math.round(seconds);
  return rounded < 60 ? `${rounded} s` : `${Math.floor(rounded / 60)} min ${rounded % 60} s`;
};

const BYTES = ['B', 'kB', 'MB', 'GB'];

/** `12.4 kB`; 1 kB is 1,000 bytes. */
export const formatBytes = (bytes: number | null): string => {
  if (bytes === null) return '–';
  const power = bytes < 1000 ? 0 : Math.min(BYTES.length - 1, Math.floor(Math.log10(bytes) / 3));
  const amount = bytes / 1000 ** power;
  return `${power === 0 ? amount : amount.toFixed(1)} ${BYTES[power]}`;
};

/** Amounts are in nano-USD (1e-9 USD); null is an unknown amount, which differs from zero. */

const NANO = 1e9;

const UNKNOWN = 'unknown';

const formats = new Map<string, Intl.NumberFormat>();

/** A format of a currency. Making one takes longer than using it. */
const formatIn = (currency: string, options: Intl.NumberFormatOptions = {}): Intl.NumberFormat => {
  const key = currency + JSON.stringify(options);
  const currencyDisplay = currency === 'USD' ? 'narrowSymbol' : 'symbol';
  const format =
    formats.get(key) ?? new Intl.NumberFormat(locale, { style: 'currency', currency, currencyDisplay, ...options });
  formats.set(key, format);
  return format;
};

/** The smallest amount that a currency has coins for, in 1e-9 of it: a cent, a yen. */
export const minorUnit = (code = 'USD'): number =>
  10 ** (9 - (formatIn(code).resolvedOptions().maximumFractionDigits ?? 2));

/** Below `least`, up to two significant digits instead of zeros; from it on, decimals of its own. By default those of the currency. */
interface Precision {
  readonly least?: number;
  readonly options?: Intl.NumberFormatOptions;
}

const decimals = (minimumFractionDigits: number, maximumFractionDigits: number): Intl.NumberFormatOptions => ({
  minimumFractionDigits,
  maximumFractionDigits,
});

const precisions = {
  /** `$12.34`, `$0.0042` */
  sum: {},
  /** `$0.1097`, `$2.1100`: the costs of requests in one column. */
  call: { least: 0.000_05, options: decimals(4, 4) },
  /** `$0.095151`, `$2.11`: the cost of one request. */
  fine: { least: 0.000_001, options: decimals(2, 6) },
  /** `$0.050760`: the lines of a request's price, in one column with their total. */
  part: { least: 0.000_001, options: decimals(6, 6) },
} as const satisfies Record<string, Precision>;

/** `rough` is an amount that is not known better, such as a forecast: `$504`, `$1,230`; `change` has a sign: `+$12.34`, `−$0.0042`. */
export type MoneyStyle = keyof typeof precisions | 'rough' | 'change';

/** An amount in 1e-9 of a currency, by default of US dollars: `$12.34`, `€0.0042`, `unknown`. */
export const formatMoney = (nano: number | null, style: MoneyStyle = 'sum', code = 'USD'): string => {
  if (nano === null) return UNKNOWN;
  if (nano < 0) return `−${formatMoney(-nano, style === 'change' ? 'sum' : style, code)}`;
  if (style === 'change') return `${nano > 0 ? '+' : ''}${formatMoney(nano, 'sum', code)}`;
  const amount = nano / NANO;
  if (style === 'rough')
    return amount < 10
      ? formatMoney(nano, 'sum', code)
      : formatIn(code, { maximumFractionDigits: 0 }).format(Number(amount.toPrecision(3)));
  const { least = minorUnit(code) / NANO, options }: Precision = precisions[style];
  if (amount !== 0 && amount < least) return formatIn(code, { maximumSignificantDigits: 2 }).format(amount);
  const text = formatIn(code, options).format(amount);
  // Limits count no further.
  return nano === Number.MAX_SAFE_INTEGER ? `more than ${text}` : text;
};

/** `$29`, `CA$29.50`, `¥2,900`: an amount in any currency, as a decimal string. */
export const formatPrice = (amount: string, currency: string): string =>
  formatIn(currency, { trailingZeroDisplay: 'stripIfInteger' }).format(Number(amount));

/** `$50`, `$0.000001`: the amount of a limit, with the decimals that it has. */
export const formatLimit = (amountUsd: number | string): string =>
  formatIn('USD', decimals(0, 6)).format(Number(amountUsd));

/** `$1.20`, `$0.000075`: a rate or an agreed amount in USD, with all its decimals. */
export const formatRate = (amountUsd: number): string => formatIn('USD', decimals(2, 9)).format(amountUsd);

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

/** A cost in the display currency; undefined without such a currency, and for readers of dollars alone. */
export const shownIn = (
  { displayCost, displayCurrency }: { readonly displayCost?: string | null; readonly displayCurrency?: string },
  code: string | null | undefined = displayCurrency,
): Shown | undefined =>
  !code || readsDollars || displayCost === undefined ? undefined : { decimal: displayCost, code };

/** The sum of decimal strings with at most nine decimals, exact to 15 digits; null where one is not known. */
export const addDecimals = (decimals: readonly (string | null)[]): string | null => {
  if (decimals.includes(null)) return null;
  return decimalOf(decimals.reduce((total, decimal) => total + Math.round(Number(decimal) * NANO), 0));
};

/** Costs of a sum before and now. */
export type Costs = Partial<Pick<SpendChange['totals'], 'displayCost' | 'displayCostBefore'>> &
  Pick<SpendChange['totals'], 'costNanoUsd' | 'costBeforeNanoUsd'>;

/** Costs before and now, and their change, in the display currency: each period at its own rates. */
export const shownCosts = (
  { displayCost = null, displayCostBefore = null }: Costs,
  code: string | null | undefined,
): Readonly<Record<'before' | 'now' | 'change', Shown | undefined>> => {
  const isKnown = displayCost !== null && displayCostBefore !== null;
  return {
    before: shownIn({ displayCost: displayCostBefore }, code),
    now: shownIn({ displayCost }, code),
    change: shownIn({ displayCost: isKnown ? String(Number(displayCost) - Number(displayCostBefore)) : null }, code),
  };
};
