import { locale } from './reading.ts';

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
const finePercent = new Intl.NumberFormat(locale, { style: 'percent', maximumSignificantDigits: 1 });

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
  return share > 0 && share < 0.005 ? `<${finePercent.format(0.01)}` : percent.format(share);
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
