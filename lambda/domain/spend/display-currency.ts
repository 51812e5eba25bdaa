import type { Range } from '../calendar/range.ts';
import { type Day, dayOf } from '../calendar/utc.ts';
import { decimalOf, divideHalfUp } from '../money.ts';
import { addCounters, type Counters, costAtRateName, exact, sumOfCosts } from './counters.ts';

/** The currency that costs are shown in, next to US dollars. A rate holds from its day (UTC) until the next one. */
export interface DisplayCurrency {
  /** ISO 4217. */
  readonly code: string;
  /** Ascending by day. `perUsd` is a decimal with at most nine decimals. */
  readonly rates: readonly { readonly from: Day; readonly perUsd: string }[];
}

const DIGITS = 9;
const NO_RATE = -1;
/** Months are read by day where rates change within one: days are read for a year at most. */
const MAX_MONTHS_BY_DAY = 12;

const rateAt = ({ rates }: DisplayCurrency, day: Day): number => rates.findLastIndex(({ from }) => from <= day);

/** 1e-9 of the currency for one US dollar. */
const scaledRate = (perUsd: string): bigint => {
  const [whole = '0', fraction = ''] = perUsd.split('.');
  return BigInt(whole + fraction.padEnd(DIGITS, '0'));
};

/** Each amount at its rate, in 1e-9 of the currency, rounded half up once. @throws CounterOverflowError */
const converted = (parts: readonly { readonly nanoUsd: number; readonly perUsd: string }[]): bigint => {
  const sum = parts.reduce(
    (total, { nanoUsd, perUsd }) => total + BigInt(exact('costAtRate', nanoUsd)) * scaledRate(perUsd),
    0n,
  );
  const scale = 10n ** BigInt(DIGITS);
  return sum < 0n ? -divideHalfUp(-sum, scale) : divideHalfUp(sum, scale);
};

const convertedCounters = (counters: Counters, { rates }: DisplayCurrency): bigint | null =>
  counters[costAtRateName(NO_RATE)] === undefined
    ? converted(
        rates.flatMap(({ perUsd }, index) => {
          const nanoUsd = counters[costAtRateName(index)];
          return nanoUsd === undefined ? [] : [{ nanoUsd, perUsd }];
        }),
      )
    : null;

/**
 * The sum of each day's cost at the rate of that day, as a decimal string. The sum is exact and is rounded once, half up, to 1e-9 of the
 * currency: so it does not depend on how a report is divided. Null where the cost, or the rate of one of its days, is not known.
 *
 * @param counters read for a question with this currency
 */
export const displayCostOf = (
  counters: Counters,
  costNanoUsd: number | null,
  currency: DisplayCurrency,
): string | null => {
  const nano = costNanoUsd === null ? null : convertedCounters(counters, currency);
  return nano === null ? null : decimalOf(nano);
};

/** The same in 1e-9 of the currency, as a number that has 15 digits; NaN where a rate is not known. Many sums are held as numbers. */
export const displayNanoOf = (counters: Counters, currency: DisplayCurrency): number =>
  Number(convertedCounters(counters, currency) ?? Number.NaN);

/** The decimal string of such a number; null for NaN. */
export const decimalOfNano = (nano: number): string | null => (Number.isNaN(nano) ? null : decimalOf(nano));

/** The cost of one instant, as `displayCostOf`: nothing is nothing at any rate. */
export const displayCostAt = (currency: DisplayCurrency, at: string, costNanoUsd: number | null): string | null => {
  const perUsd = currency.rates[rateAt(currency, dayOf(at))]?.perUsd ?? (costNanoUsd === 0 ? '0' : undefined);
  return perUsd === undefined || costNanoUsd === null ? null : decimalOf(converted([{ nanoUsd: costNanoUsd, perUsd }]));
};

/** An amount in 1e-9 of a currency, for people: four digits below one of it, else cents. */
export const amountText = (nano: number | null, code: string): string => {
  if (nano === null) return 'unknown';
  const amount = Math.abs(nano) / 1e9;
  const isSmall = amount > 0 && amount < 0.0001;
  const options = amount > 0 && amount < 1 ? { minimumFractionDigits: 2, maximumFractionDigits: 4 } : {};
  const format = new Intl.NumberFormat('en-US', { style: 'currency', currency: code, ...options });
  return `${nano < 0 ? '-' : ''}${isSmall ? '<' : ''}${format.format(isSmall ? 0.0001 : amount)}`;
};

/** How sentences show amounts: at the rate of a day, or in US dollars where there is none. */
export const moneyAt = (currency: DisplayCurrency | null, at: string): ((nanoUsd: number) => string) => {
  const perUsd = currency?.rates[rateAt(currency, dayOf(at))]?.perUsd;
  return (nanoUsd) => amountText(nanoUsd * Number(perUsd ?? 1), perUsd && currency ? currency.code : 'USD');
};

const changesWithinMonth = ({ rates }: DisplayCurrency, { from, to }: Range): boolean =>
  rates.some((rate) => !rate.from.endsWith('-01') && rate.from > dayOf(from) && rate.from < dayOf(to));

const isByDay = (currency: DisplayCurrency, range: Range): boolean =>
  range.granularity === 'month' && changesWithinMonth(currency, range);

const isTooLong = ({ from, to }: Range): boolean => {
  const limit = new Date(from);
  limit.setUTCMonth(limit.getUTCMonth() + MAX_MONTHS_BY_DAY);
  return new Date(to) > limit;
};

/** The range to read for costs in a currency (months as days where a rate changes within one), and how counters are split by its rates. */
export const displayRates = (currency: DisplayCurrency, range: Range) => {
  const byDay = isByDay(currency, range);
  const unknown = byDay && isTooLong(range);
  return {
    range: byDay && !unknown ? { ...range, granularity: 'day' as const } : range,
    /** The counters with their cost at the rate of their time, too. */
    split: (time: string, counters: Counters): Counters => {
      const rate = unknown ? NO_RATE : rateAt(currency, time.slice(0, 10).padEnd(10, '-01'));
      return addCounters(counters, { [costAtRateName(rate)]: sumOfCosts(counters) });
    },
  };
};

/** The currency as reports name it, with the reason why costs of the range are not converted, where some are not. */
export const describeCurrency = (currency: DisplayCurrency, range: Range) => {
  const { code, rates } = currency;
  const last = dayOf(new Date(Date.parse(range.to) - 1).toISOString());
  const first = rates[0]?.from;
  const problem =
    isByDay(currency, range) && isTooLong(range)
      ? `A rate changes within a month: choose at most ${MAX_MONTHS_BY_DAY} months, or days.`
      : first === undefined || dayOf(range.from) < first
        ? `There is no rate for days before ${first}: add one to the currency.`
        : null;
  return { code, perUsd: rates[rateAt(currency, last)]?.perUsd ?? null, problem };
};
