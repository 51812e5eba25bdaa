/** Amounts are in nano-USD (1e-9 USD); null is an unknown amount, which differs from zero. */

const NANO = 1e9;

const usd = (options: Intl.NumberFormatOptions) =>
  new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol', ...options });

const cents = usd({});
/** For amounts below a cent: two significant digits instead of zeros. */
const small = usd({ minimumSignificantDigits: 2, maximumSignificantDigits: 2 });
const compact = usd({ notation: 'compact', minimumFractionDigits: 0, maximumSignificantDigits: 3 });
const whole = usd({ maximumFractionDigits: 0 });

const fine = usd({ minimumFractionDigits: 2, maximumFractionDigits: 6 });

const UNKNOWN = 'unknown';

/** `$12.34`, `$0.0042`, `unknown`. */
export const formatMoney = (nanoUsd: number | null): string => {
  if (nanoUsd === null) return UNKNOWN;
  const amount = nanoUsd / NANO;
  return amount !== 0 && Math.abs(amount) < 0.01 ? small.format(amount) : cents.format(amount);
};

/** `$0.095151`, `$2.11`: the cost of one request, with up to six decimals. */
export const formatFineMoney = (nanoUsd: number | null): string => {
  const isTiny = nanoUsd !== null && nanoUsd !== 0 && Math.abs(nanoUsd) < 1_000;
  return nanoUsd === null || isTiny ? formatMoney(nanoUsd) : fine.format(nanoUsd / NANO);
};

const sixDecimals = usd({ minimumFractionDigits: 6, maximumFractionDigits: 6 });

/** `$0.050760`: the lines of a request's price, in one column with their total. */
export const formatPartMoney = (nanoUsd: number | null): string => {
  const isTiny = nanoUsd !== null && nanoUsd !== 0 && Math.abs(nanoUsd) < 1_000;
  return nanoUsd === null || isTiny ? formatMoney(nanoUsd) : sixDecimals.format(nanoUsd / NANO);
};

const perCall = usd({ minimumFractionDigits: 4, maximumFractionDigits: 4 });

/** `$0.1097`, `$2.1100`: the costs of requests in one column. */
export const formatCallMoney = (nanoUsd: number | null): string => {
  const isTiny = nanoUsd !== null && nanoUsd !== 0 && Math.abs(nanoUsd) < 50_000;
  return nanoUsd === null || isTiny ? formatMoney(nanoUsd) : perCall.format(nanoUsd / NANO);
};

/** `$504`, `$1,230`, `$4.07`: an amount that is not known better, such as a forecast, with three digits at most. */
export const formatRoughMoney = (nanoUsd: number | null): string =>
  nanoUsd === null || Math.abs(nanoUsd) < 10 * NANO
    ? formatMoney(nanoUsd)
    : whole.format(Number((nanoUsd / NANO).toPrecision(3)));

/** Short, for an axis: `$1.2K`, `$40`, `$0.5`. */
export const formatAxisMoney = (nanoUsd: number): string => {
  const amount = nanoUsd / NANO;
  if (amount === 0) return whole.format(0);
  if (Math.abs(amount) >= 1000) return compact.format(amount);
  return Math.abs(amount) >= 10
    ? whole.format(amount)
    : usd({ minimumFractionDigits: 0, maximumSignificantDigits: 2 }).format(amount);
};

/** Up to nine decimals, without trailing zeros: `12.345678901 USD`. */
export const exactMoney = (nanoUsd: number | null): string => {
  if (nanoUsd === null) return 'The cost is unknown.';
  const digits = String(Math.abs(nanoUsd)).padStart(10, '0');
  const decimals = digits.slice(-9).replace(/0+$/, '');
  return `${nanoUsd < 0 ? '-' : ''}${digits.slice(0, -9)}${decimals === '' ? '' : `.${decimals}`} USD`;
};
