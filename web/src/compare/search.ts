import { dayIn } from '../../../lambda/domain/calendar/time-zones.ts';
import { addDays } from '../../../lambda/domain/calendar/utc.ts';
import { type Dimension, type Filters, filtersOf, isDimension } from '../spend/filters.ts';
import { type ComparedPeriods, comparedMonth, comparedToday, periodsIn, queryIn } from '../spend/ranges.ts';

export type CompareSearch = ComparedPeriods &
  Filters & {
    readonly by?: Dimension | undefined;
    readonly and?: Dimension | undefined;
    readonly periods?: PeriodsName | undefined;
    /** Whose days they are; without it, UTC. */
    readonly zone?: string | undefined;
  };

export const compareSearch = (search: Record<string, unknown>): CompareSearch => ({
  ...filtersOf(search),
  by: isDimension(search['by']) ? search['by'] : undefined,
  and: isDimension(search['and']) ? search['and'] : undefined,
  periods: (Object.keys(periodLabels) as PeriodsName[]).find((name) => name === search['periods']),
  ...periodsIn(search),
});

export const periodLabels = {
  day: 'Today and yesterday',
  yesterday: 'Yesterday and the day before',
  '7d': 'Last 7 days and 7 before',
  '30d': 'Last 30 days and 30 before',
  month: 'This month and last month',
} as const;
type PeriodsName = keyof typeof periodLabels;

/** Periods that people compare. The API finds the one before, and cuts it where the period is running. */
const usualPeriods = (now: Date, zone: string): Readonly<Record<PeriodsName, ComparedPeriods>> => {
  const daysAgo = (days: number) => addDays(dayIn(zone, now), -days);
  return {
    day: comparedToday(now, zone),
    yesterday: queryIn(zone, { from: daysAgo(1), to: daysAgo(1) }),
    '7d': queryIn(zone, { from: daysAgo(7), to: daysAgo(1) }),
    // Without it, thirty days that are a month would be compared with a month.
    '30d': queryIn(zone, { from: daysAgo(30), to: daysAgo(1), compareFrom: daysAgo(60) }),
    month: comparedMonth(now, zone),
  };
};

/**
 * The periods in a URL, by default the last seven days and the seven before. Those with a name move with the time, and are in the reader's
 * zone.
 */
export const periodsOf = (
  { periods, zone = 'UTC', from, to, compareFrom, compareTo }: CompareSearch,
  now: Date,
  readersZone: string,
): { readonly name: PeriodsName | undefined; readonly periods: ComparedPeriods; readonly zone: string } => {
  if (from !== undefined)
    return { name: undefined, periods: queryIn(zone, { from, to, compareFrom, compareTo }), zone };
  const name = periods ?? '7d';
  return { name, periods: usualPeriods(now, readersZone)[name], zone: readersZone };
};
