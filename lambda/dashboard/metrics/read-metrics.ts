import { permits } from '../../domain/accounts/permissions.ts';
import { dayOf } from '../../domain/calendar/utc.ts';
import { providerLabels } from '../../domain/providers.ts';
import type { Implementation } from '../../http/operation.ts';
import type { listBudgets } from '../limits/budget-operations.ts';
import type { readSpend } from '../spend/operations.ts';
import { spendQuery } from '../spend/spend-query.ts';
import { metrics, metricText } from './metrics.ts';
import type { readMetrics as operation } from './operations.ts';

interface MetricsDependencies {
  readonly readSpend: Implementation<typeof readSpend>;
  readonly listBudgets: Implementation<typeof listBudgets>;
  readonly now: () => Date;
}

/** Series of one dimension and period: Prometheus keeps every series that it ever saw. */
const MAX_VALUES = 100;

/** Reads what the API reads, by the same functions, so a metric and a report are equal to the nano-dollar. */
export const readMetrics =
  ({ readSpend, listBudgets, now }: MetricsDependencies): Implementation<typeof operation> =>
  async ({ query, ...input }) => {
    const day = dayOf(now().toISOString());
    const reportsBy = async (by: (typeof query.groupBy)[number], limit: number) => {
      const read = (from: string) =>
        readSpend({ ...input, query: spendQuery.parse({ from, to: day, groupBy: [by], limit }) });
      const [month, today] = await Promise.all([read(`${day.slice(0, -2)}01`), read(day)]);
      return { by, month, today };
    };
    const readBudgets = async () =>
      permits(input.caller.role, 'rules:read') ? (await listBudgets({ ...input, query: undefined })).items : [];
    const [providers, grouped, budgets] = await Promise.all([
      reportsBy('provider', providerLabels.length),
      Promise.all([...new Set(query.groupBy)].map((by) => reportsBy(by, MAX_VALUES))),
      readBudgets(),
    ]);
    const readings = { ...providers, grouped, budgets };
    return (async function* () {
      yield metrics.map((metric) => metricText(metric, metric.samples(readings))).join('');
    })();
  };
