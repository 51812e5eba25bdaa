import * as z from 'zod/mini';
import { granularities } from '../../domain/calendar/utc.ts';
import { grouping } from '../../domain/spend/grouping.ts';
import { costBases } from '../../domain/spend/spend-question.ts';
import { forMachines, inGroup, ok } from '../../http/operation.ts';
import { count, csvFile, described } from '../../http/parameters.ts';
import { changeQuery, spendQuery } from './spend-query.ts';
import { baseSums, displayCost, pointSums, reportPointSums, reportSums } from './sums.ts';

const operation = inGroup('Spend');

const mayAlsoMatch = described(
  z.nullable(z.object(baseSums)),
  'Requests counted under `(other)`, or recorded before a dimension was declared, that may match the filter as well. No sum includes them: sums are lower bounds, and at most this is missing. Null if there are none.',
);

const group = {
  provider: z.optional(z.string()),
  model: z.optional(z.nullable(z.string())),
  tag: z.optional(z.nullable(z.string())),
  key: described(z.optional(z.nullable(z.string())), 'Id of the service key, see GET /keys.'),
  project: described(
    z.optional(z.nullable(z.string())),
    'Id of the project, see GET /projects. Not combined with `key`.',
  ),
  member: described(
    z.optional(z.nullable(z.string())),
    'User id of the member whose key it was, see GET /members. Null for a key of nobody.',
  ),
  providerKey: described(z.optional(z.nullable(z.string())), 'Fingerprint of the provider credential.'),
  client: described(
    z.optional(z.nullable(z.string())),
    'Null for a client that is not recognised; `(unknown)` from before clients were counted.',
  ),
  dim: described(
    z.optional(z.record(z.string(), z.nullable(z.string()))),
    'The value of a declared dimension, by its name. Null for requests without one; `(unknown)` for those recorded while it was not declared.',
  ),
};

const range = { from: z.iso.datetime(), to: described(z.iso.datetime(), 'Exclusive.') };

export const readSpend = operation('readSpend', 'GET /spend', {
  summary: 'Read totals, groups and a series of spend',
  description:
    'Sums are exact for the range, in whole hours (UTC; whole days where hours are no longer kept): other bounds are refused. The first and last point of a series may be a part of a day or month. Longest ranges: 31 days by hour (hours are kept for 89 days), 366 days by day, 60 months by month. Series points list fewer groups if the response would become too long.',
  permission: 'spend:read',
  query: spendQuery,
  success: ok('The report.', {
    ...range,
    granularity: z.enum(granularities),
    timeZone: described(z.string(), 'Whose days the series has.'),
    cost: described(
      z.enum(costBases),
      "Which cost all sums show. Alert rules and budgets use `effective`: with the account's own prices.",
    ),
    displayCurrency: described(
      z.nullable(
        z.object({
          code: z.string(),
          perUsd: described(z.nullable(z.string()), 'The rate of the last day of the range.'),
          problem: described(z.nullable(z.string()), 'Why costs are not converted, where some are not.'),
        }),
      ),
      'The currency of `displayCost`: see PUT /prices/currency. Null for none.',
    ),
    groupBy: z.array(grouping),
    totals: z.object(reportSums),
    isComplete: described(
      z.boolean(),
      'False if some sums are lower bounds, because names were counted under `(other)`, or recorded before a dimension was declared: those of a filter in `mayAlsoMatch`, those of other groups in a group named `(other)` or `(unknown)`.',
    ),
    mayAlsoMatch,
    previous: described(
      z.nullable(z.object({ ...range, totals: z.object(reportSums), mayAlsoMatch })),
      'The preceding range of the same length. Null if it is no longer kept, or if its sums are too large to be exact.',
    ),
    groups: described(z.array(z.object({ ...group, ...reportSums })), 'Highest cost first.'),
    otherGroups: described(
      z.nullable(z.object({ groups: count, ...reportSums })),
      'Sums of the groups beyond the limit.',
    ),
    untracked: described(
      z.object({
        requests: count,
        gaps: described(
          z.array(z.object({ from: z.iso.datetime(), to: z.iso.datetime(), requests: count })),
          'Tracking gaps in ascending order, each from the start of its first request to the start of its last.',
        ),
      }),
      'Requests that were forwarded (`bypassed`) while their usage events could not be stored. No other number here includes them. The number is an upper bound over all providers, models and tags; filters do not apply to it.',
    ),
    series: described(
      z.array(
        z.object({
          time: described(z.string(), '`2026-11-20T16`, `2026-11-20` or `2026-11`, by granularity.'),
          ...reportPointSums,
          mayAlsoMatch,
          groups: z.array(z.object({ ...group, ...pointSums })),
        }),
      ),
      'Every hour, day or month of the range, in ascending order.',
    ),
  }),
});
// Two operations have it: the document has it once.
z.globalRegistry.add(readSpend.success.schema, { id: 'SpendReport' });

const changedSum = {
  costBeforeNanoUsd: z.nullable(z.int()),
  costNanoUsd: z.nullable(z.int()),
  displayCostBefore: displayCost,
  displayCost,
  costChangeNanoUsd: described(
    z.nullable(z.int()),
    'In 1e-9 USD. Null if one of both costs is unknown. It leaves out requests of unknown cost.',
  ),
  requestsBefore: count,
  requests: count,
  tokensBefore: described(count, 'Input and output tokens.'),
  tokens: count,
  unpricedRequestsBefore: described(count, 'Requests whose cost is unknown. No cost and no change includes them.'),
  unpricedRequests: count,
};

const comparedPeriod = {
  ...range,
  untrackedRequests: described(
    count,
    'Requests that were forwarded while their events could not be stored, at most. Filters do not apply.',
  ),
  mayAlsoMatch,
};

export const compareSpend = operation('compareSpend', 'GET /spend/compare', {
  summary: 'Explain the change of spend between two periods',
  description:
    'Any two periods of at most 366 days, with bounds as for `GET /spend`. The one before has as much time, or as many whole months. A period that is not over ends with the last whole hour, and the one before is cut after as much time. The three effects add up to the change of the total, exactly.',
  permission: 'spend:read',
  query: changeQuery,
  success: ok('The change.', {
    ...comparedPeriod,
    before: z.object(comparedPeriod),
    cost: z.enum(costBases),
    groupBy: z.array(grouping),
    totals: z.object(changedSum),
    displayCurrency: described(z.nullable(z.string()), 'The currency of `displayCost`. Null for none.'),
    effects: described(
      z.nullable(
        z.object({
          volumeNanoUsd: described(z.int(), 'More or fewer tokens, of the same models at the same cost for a token.'),
          mixNanoUsd: described(
            z.int(),
            'Another share of each model, new and vanished models included. What volume and price leave.',
          ),
          priceNanoUsd: described(
            z.int(),
            'A token of the same model costs more or less: rates, discounts, the share of output and of cached tokens.',
          ),
        }),
      ),
      'Parts of the change of the total, in 1e-9 USD, by provider and model, whatever the groups are. Models without tokens are measured in requests. Null if the change is unknown.',
    ),
    groups: described(
      z.array(
        z.object({
          ...group,
          presence: described(
            z.enum(['both', 'new', 'vanished']),
            'Whether both periods have requests of the group, or only the later or the earlier one.',
          ),
          ...changedSum,
        }),
      ),
      'The largest change first; changes that are unknown before all others.',
    ),
    otherGroups: described(
      z.nullable(z.object({ groups: count, ...changedSum })),
      'Sums of the groups beyond the limit.',
    ),
    isComplete: described(
      z.boolean(),
      'False if names were counted under `(other)`, or recorded before a dimension was declared, in one of the periods: changes of groups, and of a filter, are then not exact.',
    ),
  }),
});
z.globalRegistry.add(compareSpend.success.schema, { id: 'SpendChange' });

export const machineReadSpend = forMachines(readSpend);
export const machineCompareSpend = forMachines(compareSpend);

export const exportSpend = operation('exportSpend', 'GET /spend/export.csv', {
  summary: 'Download spend as CSV',
  description:
    'One line for each group in each hour, day or month with requests. `cost_usd` is the cost that the parameter `cost` chooses, `list_cost_usd` the one at list prices. An unknown cost is an empty field; of a line whose sums are too large to be exact (9 million USD), `cost_usd` says so and the other figures are empty. The columns `may_also_match_…` have requests counted under `(other)`, or recorded before a dimension was declared, that may match the filter; the other columns do not include them. With a display currency there are columns `display_cost` and `display_currency`; with `latency`, `latency_p50_ms` and `latency_p95_ms` of the `latency_requests` whose duration is known. Text that a spreadsheet would run as a formula is prefixed with an apostrophe.',
  permission: 'spend:read',
  query: z.omit(spendQuery, { limit: true, seriesLimit: true }),
  success: csvFile('spend.csv'),
});

export const machineExportSpend = forMachines(exportSpend);
