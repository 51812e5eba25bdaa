import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import { utcDate } from '../format/time.ts';
import { type Dimension, type Filters, filtersOf, isDimension } from '../spend/filters.ts';

/** Two periods as the API takes them: each a day or an instant, the last day included, and a last instant not. */
export interface ComparedPeriods {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly compareFrom?: string | undefined;
  readonly compareTo?: string | undefined;
}

export type CompareSearch = ComparedPeriods &
  Filters & {
    readonly by?: Dimension | undefined;
    readonly and?: Dimension | undefined;
    readonly periods?: PeriodsName | undefined;
  };

const timeOf = (value: unknown) =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined;

export const compareSearch = (search: Record<string, unknown>): CompareSearch => ({
  ...filtersOf(search),
  by: isDimension(search['by']) ? search['by'] : undefined,
  and: isDimension(search['and']) ? search['and'] : undefined,
  periods: (Object.keys(periodLabels) as PeriodsName[]).find((name) => name === search['periods']),
  from: timeOf(search['from']),
  to: timeOf(search['to']),
  compareFrom: timeOf(search['compareFrom']),
  compareTo: timeOf(search['compareTo']),
});

const daysAgo = (now: Date, days: number) => utcDate(new Date(now.getTime() - days * DAY_MS));
const monthsAgo = (now: Date, months: number, day = 1) =>
  utcDate(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, day)));

export const periodLabels = {
  day: 'Today and yesterday',
  '7d': 'Last 7 days and 7 before',
  '30d': 'Last 30 days and 30 before',
  month: 'This month and last month',
} as const;
type PeriodsName = keyof typeof periodLabels;

/** Periods that people compare. One that is running is compared with as much time: the API sees to that. */
const usualPeriods = (now: Date): Readonly<Record<PeriodsName, ComparedPeriods>> => ({
  day: {
    from: daysAgo(now, 0),
    to: daysAgo(now, 0),
    compareFrom: daysAgo(now, 1),
    compareTo: daysAgo(now, 1),
  },
  '7d': {
    from: daysAgo(now, 7),
    to: daysAgo(now, 1),
    compareFrom: daysAgo(now, 14),
    compareTo: daysAgo(now, 8),
  },
  '30d': {
    from: daysAgo(now, 30),
    to: daysAgo(now, 1),
    compareFrom: daysAgo(now, 60),
    compareTo: daysAgo(now, 31),
  },
  month: {
    from: monthsAgo(now, 0),
    to: daysAgo(now, 0),
    compareFrom: monthsAgo(now, 1),
    compareTo: monthsAgo(now, 0, 0),
  },
});

/** The periods in a URL, by default the last seven days and the seven before. Those with a name move with the time. */
export const periodsOf = (
  { periods, from, to, compareFrom, compareTo }: CompareSearch,
  now: Date,
): { readonly name: PeriodsName | undefined; readonly periods: ComparedPeriods } => {
  const name = from === undefined ? (periods ?? '7d') : undefined;
  return { name, periods: name === undefined ? { from, to, compareFrom, compareTo } : usualPeriods(now)[name] };
};

/** The first and last UTC day of a period of the API's response. */
export const daysOf = ({ from, to }: { readonly from: string; readonly to: string }) => ({
  from: from.slice(0, 10),
  to: utcDate(new Date(Date.parse(to) - 1)),
});
