import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import { utcDate } from '../format/time.ts';
import { type Dimension, type Filters, filtersOf, isDimension } from '../spend/filters.ts';
import { type ComparedPeriods, comparedMonth, comparedToday, periodsIn } from '../spend/ranges.ts';

export type CompareSearch = ComparedPeriods &
  Filters & {
    readonly by?: Dimension | undefined;
    readonly and?: Dimension | undefined;
    readonly periods?: PeriodsName | undefined;
  };

export const compareSearch = (search: Record<string, unknown>): CompareSearch => ({
  ...filtersOf(search),
  by: isDimension(search['by']) ? search['by'] : undefined,
  and: isDimension(search['and']) ? search['and'] : undefined,
  periods: (Object.keys(periodLabels) as PeriodsName[]).find((name) => name === search['periods']),
  ...periodsIn(search),
});

const daysAgo = (now: Date, days: number) => utcDate(new Date(now.getTime() - days * DAY_MS));

export const periodLabels = {
  day: 'Today and yesterday',
  '7d': 'Last 7 days and 7 before',
  '30d': 'Last 30 days and 30 before',
  month: 'This month and last month',
} as const;
type PeriodsName = keyof typeof periodLabels;

/** Periods that people compare. The API finds the one before, and cuts it where the period is running. */
const usualPeriods = (now: Date): Readonly<Record<PeriodsName, ComparedPeriods>> => ({
  day: comparedToday(now),
  '7d': { from: daysAgo(now, 7), to: daysAgo(now, 1) },
  // Without it, thirty days that are a month would be compared with a month.
  '30d': { from: daysAgo(now, 30), to: daysAgo(now, 1), compareFrom: daysAgo(now, 60) },
  month: comparedMonth(now),
});

/** The periods in a URL, by default the last seven days and the seven before. Those with a name move with the time. */
export const periodsOf = (
  { periods, from, to, compareFrom, compareTo }: CompareSearch,
  now: Date,
): { readonly name: PeriodsName | undefined; readonly periods: ComparedPeriods } => {
  const name = from === undefined ? (periods ?? '7d') : undefined;
  return { name, periods: name === undefined ? { from, to, compareFrom, compareTo } : usualPeriods(now)[name] };
};

/** A period of the API's response for its fields: UTC days, of which the last may be running, or instants where it begins within a day. */
export const shownDays = ({ from, to }: { readonly from: string; readonly to: string }) =>
  Date.parse(from) % DAY_MS === 0
    ? { from: from.slice(0, 10), to: utcDate(new Date(Date.parse(to) - 1)) }
    : { from, to };
