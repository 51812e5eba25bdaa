import * as z from 'zod/mini';
import { percentText } from '../spend/spend-report.ts';
import { minimumRequests, ruleFilter } from './config-members.ts';
import type { Evaluator } from './evaluator.ts';

const configSchema = z.strictObject({
  threshold: z.number().check(z.minimum(0.01), z.maximum(100), z.describe('Percent of requests.')),
  period: z.enum(['hourly', 'daily']),
  minimumRequests: z
    ._default(minimumRequests, 20)
    .check(z.describe('With fewer requests in the period, the rule does not fire.')),
  filter: ruleFilter,
});

/** Too many of a period's requests are refused, fail or are interrupted. */
export const errorRate: Evaluator<z.infer<typeof configSchema>> = {
  configSchema,
  periodOf: ({ period }) => period,
  rankedBy: 'errors',
  judge: ({ threshold, minimumRequests: minimum }, { period, series }) => {
    const { requests = 0, errors = 0, unpricedRequests = 0 } = series.sum(period.start, period.end);
    if (requests < minimum) return null;
    // Two decimals, rounded down, so that the summary never overstates the rate.
    const figure = Math.floor((errors * 10_000) / requests) / 100;
    return {
      exceeded: errors * 100 >= threshold * requests,
      unit: 'percent',
      figure,
      limit: threshold,
      unpricedRequests,
      summary: `${errors} of ${requests} requests failed (${percentText(figure)}): the limit is ${percentText(threshold)}.`,
    };
  },
};
