import * as z from 'zod/mini';
import { granularities } from '../../domain/calendar/utc.ts';
import { tokenCounterNames } from '../../domain/spend/counters.ts';
import { operation } from '../../http/operation.ts';
import { groupings, spendQuery } from './spend-query.ts';

const count = z.int().check(z.nonnegative());

const money = {
  costNanoUsd: z
    .nullable(z.int())
    .check(z.describe('Known cost in 1e-9 USD. Null where there were requests and no cost of them is known.')),
  costUsd: z.nullable(z.string()).check(z.describe('The same as a decimal string in USD.')),
};

const leanSums = {
  requests: count,
  ...money,
  unpricedRequests: count.check(z.describe('Requests whose cost is unknown: the cost leaves them out.')),
};

const moneySchema = z.object(money).register(z.globalRegistry, { id: 'Money' });

const sums = {
  ...leanSums,
  costByProvenance: z.object({
    provider: moneySchema.check(z.describe('As the provider reported it.')),
    computed: moneySchema.check(z.describe('Usage as the provider reported it, times the price book.')),
    estimated: moneySchema.check(z.describe('Usage was estimated.')),
  }),
  freeRequests: count.check(z.describe('Calls that cost nothing, such as listing models.')),
  errors: count.check(z.describe('Requests that the provider refused, failed or interrupted.')),
  partialRequests: count.check(z.describe('Responses that could not be read whole: their usage may be too low.')),
  unfinishedRequests: count.check(z.describe('Requests whose end is not known (yet).')),
  bypassedRequests: count.check(z.describe('Forwarded while tracking was failing, and counted all the same.')),
  overflowRequests: count.check(
    z.describe('Counted under `(other)`, since there were too many distinct values that day.'),
  ),
  tokens: z.object(
    Object.fromEntries(tokenCounterNames.map((name) => [name, count])) as Record<
      (typeof tokenCounterNames)[number],
      typeof count
    >,
  ),
  units: z.record(z.string(), z.number()).check(z.describe('Billable units that are not tokens, by kind.')),
};

const group = {
  provider: z.optional(z.string()),
  model: z.optional(z.nullable(z.string())),
  tag: z.optional(z.nullable(z.string())),
  key: z.optional(z.nullable(z.string()).check(z.describe('Id of the service key: see GET /keys.'))),
  providerKey: z.optional(z.nullable(z.string()).check(z.describe('Fingerprint of the provider credential.'))),
};

const range = { from: z.iso.datetime(), to: z.iso.datetime().check(z.describe('The first instant not included.')) };

export const readSpend = operation({
  id: 'readSpend',
  method: 'GET',
  path: '/spend',
  group: 'Spend',
  summary: 'Read totals, groups and a series of spend',
  description:
    'Times are UTC. Bounds are widened to whole hours, days or months. Ranges: at most 31 days by hour (kept for 89 days), 366 days by day, 60 months by month. Series points name fewer groups where the response would get too long.',
  access: 'authorizer',
  query: spendQuery,
  success: {
    status: 200,
    description: 'The report.',
    schema: z.object({
      ...range,
      granularity: z.enum(granularities),
      groupBy: z.array(z.enum(groupings)),
      totals: z.object(sums),
      previous: z
        .nullable(z.object({ ...range, totals: z.object(sums) }))
        .check(
          z.describe(
            'The range of the same length before. Null where it is no longer kept, or too large for an exact number.',
          ),
        ),
      groups: z.array(z.object({ ...group, ...sums })).check(z.describe('The costliest first.')),
      otherGroups: z
        .nullable(z.object({ groups: count, ...sums }))
        .check(z.describe('The groups beyond the limit, summed up.')),
      untracked: z
        .object({
          requests: count,
          gaps: z
            .array(z.object({ from: z.iso.datetime(), to: z.iso.datetime(), requests: count }))
            .check(z.describe('Gaps, ascending: when the first and the last of their requests began.')),
        })
        .check(
          z.describe(
            'Requests that were forwarded (`bypassed`) while nothing could take their events, and that no other number here holds: at most so many, of whatever provider, model and tag. Filters leave them in.',
          ),
        ),
      series: z
        .array(
          z.object({
            time: z.string().check(z.describe('`2026-11-20T16`, `2026-11-20` or `2026-11`, by granularity.')),
            ...leanSums,
            groups: z.array(z.object({ ...group, ...leanSums })),
          }),
        )
        .check(z.describe('Every hour, day or month of the range, ascending.')),
    }),
  },
  errors: [],
});
