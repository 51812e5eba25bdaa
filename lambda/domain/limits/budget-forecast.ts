import * as z from 'zod/mini';
import { usdToNanoUsd } from '../money.ts';
import { knownCostNanoUsd } from '../spend/counters.ts';
import { forecastMonth, HISTORY_DAYS, RATE_DAYS } from '../spend/month-forecast.ts';
import { costOf, usdOf } from '../spend/spend-report.ts';
import { ruleFilter, usdAmount } from './config-members.ts';
import type { Evaluator } from './evaluator.ts';

const configSchema = z.strictObject({
  budget: usdAmount.check(z.describe('In USD a calendar month (UTC).')),
  filter: ruleFilter,
});

/** The month will cost more than the budget at the current rate (`forecast`), or has cost as much (`used_up`). */
export const budgetForecast: Evaluator<z.infer<typeof configSchema>> = {
  configSchema,
  periodOf: () => 'monthly',
  filterOf: ({ filter }) => filter,
  lookbackDays: () => HISTORY_DAYS,
  drivenBy: 'cost',
  judge: ({ budget }, { period, now, series }) => {
    const counters = series.sum(period.start, period.end);
    const spent = knownCostNanoUsd(counters);
    const limit = usdToNanoUsd(budget);
    const sumDays = (from: string, to: string) => {
      const sum = series.sum(from, to);
      return { requests: sum.requests ?? 0, nanoUsd: knownCostNanoUsd(sum) };
    };
    const forecast = now.toISOString() < period.end ? forecastMonth(period, now, sumDays) : null;
    const facts = {
      unit: 'nanoUsd',
      limit,
      unpricedRequests: counters.unpricedRequests ?? 0,
      ...(forecast && { forecast: forecast.nanoUsd }),
    } as const;
    if (spent >= limit) {
      const outlook =
        forecast === null
          ? ''
          : ` At the rate of the last ${RATE_DAYS} days the month comes to $${usdOf(forecast.nanoUsd)}.`;
      return {
        ...facts,
        exceeded: true,
        event: 'used_up',
        observed: spent,
        summary: `The budget of $${usdOf(limit)} for the month is used up: $${usdOf(spent)} is spent.${outlook}`,
      };
    }
    if (forecast === null) {
      if (now.toISOString() < period.end) return null;
      const summary = `The month came to $${usdOf(spent)}, of a budget of $${usdOf(limit)}.`;
      return { ...facts, exceeded: false, event: 'used_up', observed: spent, summary };
    }
    const exceeded = forecast.nanoUsd > limit;
    const soFar = costOf(counters) === null ? 'what is spent is not known' : `$${usdOf(spent)} is spent`;
    const outlook = exceeded
      ? ` At the rate of the last ${RATE_DAYS} days it runs out on ${forecast.reaches(limit)}.`
      : '';
    return {
      ...facts,
      exceeded,
      event: 'forecast',
      observed: forecast.nanoUsd,
      summary: `Forecast for the month: $${usdOf(forecast.nanoUsd)}, against a budget of $${usdOf(limit)}; ${soFar}.${outlook}`,
    };
  },
};
