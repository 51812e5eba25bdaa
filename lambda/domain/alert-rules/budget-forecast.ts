import * as z from 'zod/mini';
import { usdToNanoUsd } from '../money.ts';
import { knownCostNanoUsd } from '../spend/counters.ts';
import { usdOf } from '../spend/spend-report.ts';
import { ruleFilter, usdAmount } from './config-members.ts';
import type { Evaluator } from './evaluator.ts';

const configSchema = z.strictObject({
  budget: usdAmount.check(z.describe('In USD a calendar month (UTC).')),
  filter: ruleFilter,
});

const DAY_MS = 86_400_000;
/** The rate of spending is that of the last seven whole days: one week has every weekday once. */
const RATE_DAYS = 7;

const startOfDay = (at: number): number => at - (at % DAY_MS);
const iso = (ms: number): string => new Date(ms).toISOString();

/** At the present rate, the month will cost more than the budget. Says on which day the budget runs out. */
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
    const today = startOfDay(nowMs);
    const lastWeek = knownCostNanoUsd(series.sum(iso(today - RATE_DAYS * DAY_MS), iso(today)));
    const ratePerMs = lastWeek / (RATE_DAYS * DAY_MS);
    const observed = Math.round(spent + ratePerMs * Math.max(0, endMs - nowMs));
    const runsOutMs = nowMs + (limit - spent) / ratePerMs;
    const outlook =
      spent >= limit
        ? 'It is used up.'
        : `At the rate of the last ${RATE_DAYS} days it runs out on ${iso(Math.min(runsOutMs, endMs)).slice(0, 10)}.`;
    return {
      exceeded: observed > limit || spent >= limit,
      unit: 'nanoUsd',
      observed: Math.max(observed, spent),
      limit,
      unpricedRequests: counters.unpricedRequests ?? 0,
      summary: `The month is heading for $${usdOf(Math.max(observed, spent))} against a budget of $${usdOf(limit)}; $${usdOf(spent)} is spent. ${outlook}`,
    };
  },
};
