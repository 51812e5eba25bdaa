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
  Filters & { readonly by?: Dimension | undefined; readonly and?: Dimension | undefined };

const timeOf = (value: unknown) =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined;

export const compareSearch = (search: Record<string, unknown>): CompareSearch => ({
  ...filtersOf(search),
  by: isDimension(search['by']) ? search['by'] : undefined,
  and: isDimension(search['and']) ? search['and'] : undefined,
  from: timeOf(search['from']),
  to: timeOf(search['to']),
  compareFrom: timeOf(search['compareFrom']),
  compareTo: timeOf(search['compareTo']),
});

const daysAgo = (now: Date, days: number) => utcDate(new Date(now.getTime() - days * DAY_MS));
const monthsAgo = (now: Date, months: number, day = 1) =>
  utcDate(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, day)));

/** Periods that people compare. One that is running is compared with as much time: the API sees to that. */
export const usualPeriods = (now: Date): Readonly<Record<string, ComparedPeriods>> => ({
  'Today and yesterday': {
    from: daysAgo(now, 0),
    to: daysAgo(now, 0),
    compareFrom: daysAgo(now, 1),
    compareTo: daysAgo(now, 1),
  },
  'Last 7 days and 7 before': {
    from: daysAgo(now, 7),
    to: daysAgo(now, 1),
    compareFrom: daysAgo(now, 14),
    compareTo: daysAgo(now, 8),
  },
  'Last 30 days and 30 before': {
    from: daysAgo(now, 30),
    to: daysAgo(now, 1),
    compareFrom: daysAgo(now, 60),
    compareTo: daysAgo(now, 31),
  },
  'This month and last month': {
    from: monthsAgo(now, 0),
    to: daysAgo(now, 0),
    compareFrom: monthsAgo(now, 1),
    compareTo: monthsAgo(now, 0, 0),
  },
});

/** The periods in a URL, by default the last seven days and the seven before. */
export const periodsOf = ({ from, to, compareFrom, compareTo }: CompareSearch, now: Date): ComparedPeriods =>
  from === undefined
    ? (usualPeriods(now)['Last 7 days and 7 before'] as ComparedPeriods)
    : { from, to, compareFrom, compareTo };

/** The first and last UTC day of a period of the API's response. */
export const daysOf = ({ from, to }: { readonly from: string; readonly to: string }) => ({
  from: from.slice(0, 10),
  to: utcDate(new Date(Date.parse(to) - 1)),
});
