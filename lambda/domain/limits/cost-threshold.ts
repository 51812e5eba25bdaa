import * as z from 'zod/mini';
import { periodNames } from '../calendar/periods.ts';
import { usdToNanoUsd } from '../money.ts';
import { costToCompare } from '../spend/counters.ts';
import { comparedUsd, usdOf } from '../spend/spend-report.ts';
import { ruleFilter, usdAmount } from './config-members.ts';
import type { Evaluator } from './evaluator.ts';

const configSchema = z.strictObject({
  threshold: usdAmount.check(z.describe('In USD.')),
  period: z.enum(periodNames),
  filter: ruleFilter,
});

/** The cost of a period reaches a threshold. */
export const costThreshold: Evaluator<z.infer<typeof configSchema>> = {
  configSchema,
  periodOf: ({ period }) => period,
  filterOf: ({ filter }) => filter,
  lookbackDays: () => 0,
  drivenBy: 'cost',
  judge: ({ threshold }, { period, series }) => {
    const counters = series.sum(period.start, period.end);
    const limit = usdToNanoUsd(threshold);
    const observed = costToCompare(counters, limit);
    return {
      exceeded: observed >= limit,
      unit: 'nanoUsd',
      observed,
      limit,
      unpricedRequests: counters.unpricedRequests ?? 0,
      summary: `Spend is ${comparedUsd(observed)}: it reached the threshold of $${usdOf(limit)}.`,
    };
  },
};
