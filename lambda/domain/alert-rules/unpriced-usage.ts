import * as z from 'zod/mini';
import { minimumRequests, ruleFilter } from './config-members.ts';
import type { Evaluator } from './evaluator.ts';

const configSchema = z.strictObject({
  threshold: z._default(minimumRequests, 1).check(z.describe('Requests whose cost is unknown.')),
  period: z.enum(['hourly', 'daily', 'weekly']),
  filter: ruleFilter,
});

/** The cost of requests is unknown, so spend is too low. */
export const unpricedUsage: Evaluator<z.infer<typeof configSchema>> = {
  configSchema,
  periodOf: ({ period }) => period,
  filterOf: ({ filter }) => filter,
  lookbackDays: () => 0,
  drivenBy: 'unpricedRequests',
  judge: ({ threshold }, { period, series }) => {
    const { requests = 0, unpricedRequests = 0 } = series.sum(period.start, period.end);
    return {
      exceeded: unpricedRequests >= threshold,
      unit: 'requests',
      observed: unpricedRequests,
      limit: threshold,
      unpricedRequests,
      summary: `The cost of ${unpricedRequests} of ${requests} requests is unknown: spend is higher than it shows.`,
    };
  },
};
