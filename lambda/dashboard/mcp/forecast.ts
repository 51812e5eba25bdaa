import * as z from 'zod/mini';
import { periodAt } from '../../domain/calendar/periods.ts';
import { DAY_MS } from '../../domain/calendar/units.ts';
import { dayOf } from '../../domain/calendar/utc.ts';
import { sumOfKnown } from '../../domain/spend/known-cost.ts';
import { forecastMonth, HISTORY_DAYS } from '../../domain/spend/month-forecast.ts';
import { type Implementation, inGroup, ok } from '../../http/operation.ts';
import type { Reading } from '../open-reading.ts';
import { spendQuery } from '../spend/spend-query.ts';

const operation = inGroup('Spend');

const { provider, model, tag, key, project, member, client } = spendQuery.shape;

/** Only a tool: pages and budgets compute the same from what they have read. */
export const forecast = operation('readForecast', 'GET /spend/forecast', {
  summary: 'Forecast the month',
  permission: 'spend:read',
  query: z.strictObject({ provider, model, tag, key, project, member, client }),
  success: ok('The forecast.', {
    from: z.string(),
    to: z.string(),
    costNanoUsd: z.nullable(z.int()),
    unpricedRequests: z.int(),
    forecastCostNanoUsd: z.nullable(z.int()),
    basis: z.string(),
  }),
});

/** The forecast of the overview and of `budget_forecast` rules. */
export const readForecast =
  ({ readSpend, now }: Pick<Reading, 'readSpend' | 'now'>): Implementation<typeof forecast> =>
  async ({ query, ...input }) => {
    const at = now();
    const month = periodAt('monthly', at);
    const ask = (from: string) =>
      readSpend({
        ...input,
        query: spendQuery.parse({ ...query, from, to: dayOf(at.toISOString()), granularity: 'day' }),
      });
    const history = dayOf(new Date(at.getTime() - HISTORY_DAYS * DAY_MS).toISOString());
    const first = dayOf(month.start);
    const [{ totals }, { series }] = await Promise.all([ask(first), ask(history < first ? history : first)]);
    const projected = forecastMonth(month, at, (from, to) => {
      const days = series.filter(({ time }) => time >= dayOf(from) && time < dayOf(to));
      const requests = days.reduce((all, day) => all + day.requests, 0);
      return { requests, nanoUsd: sumOfKnown(days.map(({ costNanoUsd }) => costNanoUsd)) };
    });
    const isKnown = totals.costNanoUsd !== null && projected !== null;
    return {
      from: month.start,
      to: month.end,
      costNanoUsd: totals.costNanoUsd,
      unpricedRequests: totals.unpricedRequests,
      forecastCostNanoUsd: isKnown ? projected.nanoUsd : null,
      basis: isKnown
        ? 'The mean of the last seven whole days for each day that is left. Requests of unknown cost are not in it.'
        : 'Not known: there is less than a week of requests, or the cost of the month, or of the last seven days, is unknown.',
    };
  };
