import * as z from 'zod/mini';
import { DAY_MS } from '../calendar/units.ts';
import { dayOf, startOf } from '../calendar/utc.ts';
import { usdToNanoUsd } from '../money.ts';
import { knownCostNanoUsd } from '../spend/counters.ts';
import { usdOf } from '../spend/spend-report.ts';
import { ruleFilter, usdAmount } from './config-members.ts';
import type { Evaluator } from './evaluator.ts';

const configSchema = z.strictObject({
  budget: usdAmount.check(z.describe('In USD a calendar month (UTC).')),
  filter: ruleFilter,
});

/** The rate of spending is that of the last seven whole days: one week has every weekday once. */
const RATE_DAYS = 7;

const iso = (ms: number): string => new Date(ms).toISOString();

/** At the current rate, the month will cost more than the budget. The summary has the day on which the budget runs out. */
export const budgetForecast: Evaluator<z.infer<typeof configSchema>> = {
  configSchema,
  periodOf: () => 'monthly',
  filterOf: ({ filter }) => filter,
  lookbackDays: () => RATE_DAYS,
  drivenBy: 'cost',
  judge: ({ budget }, { period, now, series }) => {
    const counters = series.sum(period.start, period.end);
    const spent = knownCostNanoUsd(counters);
    const limit = usdToNanoUsd(budget);
    const [nowMs, endMs] = [now.getTime(), Date.parse(period.end)];
    const todayMs = startOf('day', now).getTime();
    const lastWeek = knownCostNanoUsd(series.sum(iso(todayMs - RATE_DAYS * DAY_MS), iso(todayMs)));
    const ratePerMs = lastWeek / (RATE_DAYS * DAY_MS);
    const observed = spent + Math.round(ratePerMs * (endMs - nowMs));
    const runsOutMs = nowMs + (limit - spent) / ratePerMs;
    const outlook =
      spent >= limit
        ? 'It is used up.'
        : `At the rate of the last ${RATE_DAYS} days it runs out on ${dayOf(iso(Math.min(runsOutMs, endMs)))}.`;
    return {
      exceeded: observed > limit || spent >= limit,
      unit: 'nanoUsd',
      observed,
      limit,
      unpricedRequests: counters.unpricedRequests ?? 0,
      summary: `Forecast for the month: $${usdOf(observed)}, against a budget of $${usdOf(limit)}; $${usdOf(spent)} is spent. ${outlook}`,
    };
  },
};
