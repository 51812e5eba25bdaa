import * as z from 'zod/mini';
import { DAY_MS, HOUR_MS } from '../calendar/units.ts';
import { startOf } from '../calendar/utc.ts';
import { countText, percentText, requestsText } from '../spend/spend-report.ts';
import { minimumRequests, ruleFilter } from './config-members.ts';
import type { Evaluator } from './evaluator.ts';

const errorRateConfig = z.strictObject({
  threshold: z.number().check(z.minimum(0.01), z.maximum(100), z.describe('Percent of requests.')),
  period: z.enum(['hourly', 'daily']),
  minimumRequests: z
    ._default(minimumRequests, 20)
    .check(z.describe('With fewer requests in the period, the rule does not fire.')),
  filter: ruleFilter,
});

/** Too many of a period's requests are refused, fail or are interrupted. */
export const errorRate: Evaluator<z.infer<typeof errorRateConfig>> = {
  configSchema: errorRateConfig,
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
      summary: `${countText(errors)} of ${requestsText(requests)} failed (${percentText(figure)}): the limit is ${percentText(threshold)}.`,
    };
  },
};

const unpricedUsageConfig = z.strictObject({
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
export const unpricedUsage: Evaluator<z.infer<typeof unpricedUsageConfig>> = {
  configSchema: unpricedUsageConfig,
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
      summary: `The cost of ${countText(figure)} of ${requestsText(requests)} is unknown: spend is higher than it shows.`,
    };
  },
};
