import { dayIn } from '../../../lambda/domain/calendar/time-zones.ts';
import { addDays } from '../../../lambda/domain/calendar/utc.ts';
import { oneOf, searchOf } from '../search.ts';
import { groupsSearch } from '../spend/filters.ts';
import { type ComparedPeriods, comparedMonth, comparedToday, periodsIn, queryIn } from '../spend/ranges.ts';

export const periodLabels = {
  day: 'Today and yesterday',
  yesterday: 'Yesterday and the day before',
  '7d': 'Last 7 days and 7 before',
  '30d': 'Last 30 days and 30 before',
  month: 'This month and last month',
} as const;
type PeriodsName = keyof typeof periodLabels;

const named = searchOf({ periods: oneOf(Object.keys(periodLabels) as PeriodsName[]) });

export const compareSearch = (search: Record<string, unknown>) => ({
  ...groupsSearch(search),
  ...named(search),
  ...periodsIn(search),
});

export type CompareSearch = ReturnType<typeof compareSearch>;

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
