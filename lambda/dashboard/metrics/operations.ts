import * as z from 'zod/mini';
import { grouping } from '../../domain/spend/grouping.ts';
import { forMachines, inGroup } from '../../http/operation.ts';
import { described } from '../../http/parameters.ts';

const operation = inGroup('Spend');

/** Each is one more reading of the month. */
const MAX_GROUPINGS = 3;

export const readMetrics = operation('readMetrics', 'GET /metrics', {
  summary: 'Read spend as Prometheus metrics',
  description:
    'The text format of Prometheus. Money is in gauges, which repricing may lower. What is in counters only grows, since spend began, in at most five calendar years. Every sample has the label `account`. A cost that is not known has no sample: `ai_spend_unknown_cost_requests` counts its requests. Budgets are included where the role has `rules:read`.',
  permission: 'spend:read',
  query: z.strictObject({
    groupBy: described(
      z._default(z.array(grouping).check(z.maxLength(MAX_GROUPINGS)), ['model']),
      'Dimensions of `ai_spend_group_cost_usd`, each by itself, with its 100 costliest values.',
    ),
  }),
  success: {
    status: 200,
    description: 'Metrics.',
    schema: z.string(),
    streamed: { contentType: 'text/plain; version=0.0.4; charset=utf-8', filename: 'metrics.txt' },
  },
});

export const machineReadMetrics = forMachines(readMetrics);
