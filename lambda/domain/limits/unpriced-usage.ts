import * as z from 'zod/mini';
import { DAY_MS, HOUR_MS } from '../calendar/units.ts';
import { startOf } from '../calendar/utc.ts';
import { minimumRequests, ruleFilter } from './config-members.ts';
import type { Evaluator } from './evaluator.ts';

const configSchema = z.strictObject({
  threshold: z._default(minimumRequests, 1).check(z.describe('Requests whose cost is unknown.')),
  period: z.enum(['hourly', 'daily', 'weekly']),
  filter: ruleFilter,
});

/**
 * A request without an end may still run: a stream that lasts longer than 15 minutes is recorded before it ends. So it counts only once
 * the hour (of an hourly rule) or the day in which it began has been over for this long. Shorter than a period is judged after its end.
 */
const COUNT_UNFINISHED_AFTER_MS = { hour: 2 * HOUR_MS, day: DAY_MS } as const;

/** The cost of requests is unknown, so spend is too low. */
export const unpricedUsage: Evaluator<z.infer<typeof configSchema>> = {
  configSchema,
  periodOf: ({ period }) => period,
  rankedBy: 'unpricedRequests',
  judge: ({ threshold, period: name }, { period, now, series }) => {
    const granularity = name === 'hourly' ? 'hour' : 'day';
    const { requests = 0, unpricedRequests = 0 } = series.sum(period.start, period.end);
    const recent = startOf(granularity, new Date(now.getTime() - COUNT_UNFINISHED_AFTER_MS[granularity])).toISOString();
    const { unfinishedRequests = 0 } = series.sum(recent > period.start ? recent : period.start, period.end);
    const figure = unpricedRequests - unfinishedRequests;
    return {
      exceeded: figure >= threshold,
      unit: 'requests',
      figure,
      limit: threshold,
      unpricedRequests,
      summary: `The cost of ${figure} of ${requests} requests is unknown: spend is higher than it shows.`,
    };
  },
};
