import * as z from 'zod';
import { tokenCounterNames } from '../../domain/spend/counters.ts';
import { granularities } from '../../domain/spend-span.ts';
import { operation } from '../../http/operation.ts';
import { groupings, spendQuery } from './spend-query.ts';

const count = z.number().int().nonnegative();

const money = {
  costNanoUsd: z
    .number()
    .int()
    .nullable()
    .describe('Known cost in 1e-9 USD. Null where there were requests and no cost of them is known.'),
  costUsd: z.string().nullable().describe('The same as a decimal string in USD.'),
};

const leanSums = {
  requests: count,
  ...money,
  unpricedRequests: count.describe('Requests whose cost is unknown: the cost leaves them out.'),
};

const moneySchema = z.object(money).meta({ id: 'Money' });

const sums = {
  ...leanSums,
  costByProvenance: z.object({
    provider: moneySchema.describe('As the provider reported it.'),
    computed: moneySchema.describe('Usage as the provider reported it, times the price book.'),
    estimated: moneySchema.describe('Usage was estimated.'),
  }),
  freeRequests: count.describe('Calls that cost nothing, such as listing models.'),
  errors: count.describe('Requests the provider refused, failed or broke off.'),
  partialRequests: count.describe('Answers that could not be read whole: their usage may be too low.'),
  unsettledRequests: count.describe('Requests whose end is not known (yet).'),
  bypassedRequests: count.describe('Forwarded while tracking was failing, and counted all the same.'),
  foldedRequests: count.describe('Counted under `(other)`, since there were too many distinct values that day.'),
  tokens: z.object(
    Object.fromEntries(tokenCounterNames.map((name) => [name, count])) as Record<
      (typeof tokenCounterNames)[number],
      typeof count
    >,
  ),
  units: z.record(z.string(), z.number()).describe('Billable units that are not tokens, by kind.'),
};

const group = {
  provider: z.string().optional(),
  model: z.string().nullable().optional(),
  tag: z.string().nullable().optional(),
  key: z.string().nullable().describe('Id of the service key: see GET /keys.').optional(),
  providerKey: z.string().nullable().describe('Fingerprint of the provider credential.').optional(),
};

const span = { from: z.iso.datetime(), to: z.iso.datetime().describe('The first instant not included.') };

export const readSpend = operation({
  id: 'readSpend',
  method: 'GET',
  path: '/spend',
  group: 'Spend',
  summary: 'Read totals, groups and a series of spend',
  description:
    'Times are UTC. Bounds are widened to whole hours, days or months. Spans: at most 31 days by hour (kept for 89 days), 366 days by day, 60 months by month. Series points name fewer groups where the answer would get too long.',
  access: 'authorizer',
  query: spendQuery,
  success: {
    status: 200,
    description: 'The report.',
    schema: z.object({
      ...span,
      granularity: z.enum(granularities),
      groupBy: z.array(z.enum(groupings)),
      totals: z.object(sums),
      previous: z
        .object({ ...span, totals: z.object(sums) })
        .nullable()
        .describe(
          'The span of the same length before. Null where it is no longer kept, or too large to be told exactly.',
        ),
      groups: z.array(z.object({ ...group, ...sums })).describe('The costliest first.'),
      otherGroups: z
        .object({ groups: count, ...sums })
        .nullable()
        .describe('The groups beyond the limit, summed up.'),
      untracked: z
        .object({
          requests: count,
          spans: z
            .array(z.object({ from: z.iso.datetime(), to: z.iso.datetime(), requests: count }))
            .describe('Gaps, ascending: when the first and the last of their requests began.'),
        })
        .describe(
          'Requests that were forwarded (`bypassed`) while nothing could take their events, and that no other number here holds: at most so many, of whatever provider, model and tag. Filters leave them in.',
        ),
      series: z
        .array(
          z.object({
            time: z.string().describe('`2026-11-20T16`, `2026-11-20` or `2026-11`, by granularity.'),
            ...leanSums,
            groups: z.array(z.object({ ...group, ...leanSums })),
          }),
        )
        .describe('Every hour, day or month of the span, ascending.'),
    }),
  },
  errors: [],
});
