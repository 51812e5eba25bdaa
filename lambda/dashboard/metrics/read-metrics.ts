import type { NamesOf } from '../../data/accounts/value-names.ts';
import { scopeOf } from '../../domain/accounts/scope.ts';
import { dayIn } from '../../domain/calendar/time-zones.ts';
import { dayOf } from '../../domain/calendar/utc.ts';
import { periodOn, type ReportCalendar } from '../../domain/reports/report-period.ts';
import type { Implementation } from '../../http/operation.ts';
import type { listBudgets } from '../limits/budget-operations.ts';
import type { readSpend } from '../spend/operations.ts';
import { spendQuery } from '../spend/spend-query.ts';
import { metrics, metricText } from './metrics.ts';
import type { readMetrics as operation } from './operations.ts';

interface MetricsDependencies {
  readonly readSpend: Implementation<typeof readSpend>;
  readonly listBudgets: Implementation<typeof listBudgets>;
  readonly namesOf: NamesOf;
  /** Whose today and month they are. */
  readonly findCalendar: (accountId: string) => Promise<ReportCalendar>;
  readonly now: () => Date;
}

/** Series of one dimension and period: Prometheus keeps every series that it ever saw. */
const MAX_VALUES = 100;

const YEARS = 5;

/** Reads what the API reads, by the same functions, so a metric and a report are equal to the nano-dollar. */
export const readMetrics =
  ({ readSpend, listBudgets, namesOf, findCalendar, now }: MetricsDependencies): Implementation<typeof operation> =>
  async ({ query, ...input }) => {
    const { accountId } = input.caller;
    const calendar = await findCalendar(accountId);
    const [day, ownDay] = [dayOf(now().toISOString()), dayIn(calendar.timeZone, now())];
    type Dimension = (typeof query.groupBy)[number];
    const read = (by: Dimension, from: string, options: object = {}) =>
      readSpend({ ...input, query: spendQuery.parse({ from, to: day, groupBy: [by], limit: MAX_VALUES, ...options }) });
    const reportsBy = async (by: Dimension, options?: object) => {
      const [month, today] = await Promise.all([
        read(by, periodOn('monthly', ownDay, calendar).from, options),
        read(by, periodOn('daily', ownDay, calendar).from, options),
      ]);
      return { by, month, today, names: await namesOf(accountId, by) };
    };
    // From January on, so that no month leaves the sum while a year runs: a counter must not fall.
    const first = `${Number(day.slice(0, 4)) - YEARS + 1}-01-01`;
    const readBudgets = async () =>
      scopeOf(input.caller).permits('rules:read') ? (await listBudgets({ ...input, query: undefined })).items : [];
    const [providers, ever, grouped, budgets] = await Promise.all([
      reportsBy('provider', { latency: 'true' }),
      read('provider', first, { granularity: 'month' }),
      Promise.all([...new Set(query.groupBy)].map((by) => reportsBy(by))),
      readBudgets(),
    ]);
    const readings = { ...providers, ever, grouped, budgets };
    return (async function* () {
      yield metrics.map((metric) => metricText(metric, metric.samples(readings), { account: accountId })).join('');
    })();
  };
