import * as z from 'zod/mini';
import { type Period, type PeriodName, periodBefore } from '../calendar/periods.ts';
import { usdToNanoUsd } from '../money.ts';
import { knownCostNanoUsd } from '../spend/counters.ts';
import { costOf, usdOf } from '../spend/spend-report.ts';
import { median } from './burn-rate.ts';
import { ruleFilter, usdAmount } from './config-members.ts';
import type { Evaluator, JudgedPeriod } from './evaluator.ts';

const configSchema = z.strictObject({
  period: z.enum(['daily', 'weekly']),
  factor: z
    ._default(z.number().check(z.gt(1), z.maximum(1000)), 3)
    .check(z.describe('Times the median of the recent periods.')),
  minimum: z._default(usdAmount, 1).check(z.describe('In USD. Below it, nothing is an anomaly.')),
  filter: ruleFilter,
});

/** How many earlier periods it reads, and how many of them must have requests before it compares. */
const baseline = { daily: { periods: 14, atLeast: 5 }, weekly: { periods: 8, atLeast: 3 } } as const;

/**
 * Costs of the earlier periods that have requests and a known cost: a day off is no measure for a working day, and a day of unknown cost
 * is no day of $0.
 */
const recentCosts = (period: Period, count: number, series: JudgedPeriod['series']): number[] => {
  const costs: number[] = [];
  // Only budgets have fixed periods.
  let before = period as Period<PeriodName>;
  for (let i = 0; i < count; i++) {
    before = periodBefore(before);
    const counters = series.sum(before.start, before.end);
    const cost = costOf(counters);
    if ((counters.requests ?? 0) > 0 && cost !== null) costs.push(cost);
  }
  return costs;
};

/** A period costs a multiple of the account's recent periods. */
export const spendAnomaly: Evaluator<z.infer<typeof configSchema>> = {
  configSchema,
  periodOf: ({ period }) => period,
  lookbackDays: ({ period }) => (period === 'daily' ? 1 : 7) * baseline[period].periods,
  judge: ({ period: name, factor, minimum }, { period, series }) => {
    const costs = recentCosts(period, baseline[name].periods, series);
    if (costs.length < baseline[name].atLeast) return null;
    const usual = Math.round(median(costs));
    const counters = series.sum(period.start, period.end);
    const figure = knownCostNanoUsd(counters);
    const limit = Math.max(Math.round(usual * factor), usdToNanoUsd(minimum));
    return {
      exceeded: figure >= limit,
      unit: 'nanoUsd',
      figure,
      limit,
      usual,
      unpricedRequests: counters.unpricedRequests ?? 0,
      summary: `Spend is $${usdOf(figure)}: the median of the last ${costs.length} active ${name === 'daily' ? 'days' : 'weeks'} is $${usdOf(usual)}, and the limit $${usdOf(limit)}.`,
    };
  },
};
