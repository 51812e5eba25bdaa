import * as z from 'zod/mini';
import { tokenCounterNames } from '../../domain/spend/counters.ts';
import { component } from '../../http/operation.ts';
import { count, described } from '../../http/parameters.ts';

/** Schemas of sums, as all operations show them: see `sumsOf`. */

const money = {
  costNanoUsd: described(
    z.nullable(z.int()),
    'Known cost in 1e-9 USD. Null if no part of it is known: no known cost is above 0, and the cost of some requests is unknown, or they may belong to the sum.',
  ),
  costUsd: described(z.nullable(z.string()), 'The same amount in USD as a decimal string.'),
};

export const displayCost = described(
  z.optional(z.nullable(z.string())),
  "The same in the account's display currency, as a decimal string: each day at the rate of that day, added exactly and rounded once, half up, to 9 decimals. Null where the cost or a rate is not known; absent without a display currency.",
);

/** The numbers that every sum shows. */
export const baseSums = {
  requests: count,
  ...money,
  displayCost,
  unpricedRequests: described(count, 'Requests whose cost is unknown. The cost does not include them.'),
};

/** The numbers that every point of a series shows. */
export const pointSums = {
  ...baseSums,
  errors: described(count, 'Requests that the provider rejected, failed or interrupted.'),
  tokens: described(count, 'Input and output tokens.'),
};

const moneySchema = component('Money', money);

/** A cost at list prices. */
export const listMoney = {
  listCostNanoUsd: described(
    z.nullable(z.int()),
    'What it costs at list prices, in 1e-9 USD: the same, unless the account has prices of its own.',
  ),
  listCostUsd: z.nullable(z.string()),
};

const durationMs = count;

/** How long the requests of a sum took. */
const latency = described(
  z.optional(
    z.nullable(
      component('Latency', {
        p50Ms: described(durationMs, 'Half of the requests took this long at most.'),
        p95Ms: described(durationMs, '95 % of the requests took this long at most.'),
        requests: described(count, 'The number of requests whose duration is known.'),
      }),
    ),
  ),
  'Total duration of requests in ms, within 10 %, up to an hour; absent unless asked for. Null if no duration is known. Requests that were not forwarded, whose end is not known, or that were recorded before durations were counted are not included.',
);

/** All that is known of a sum. */
export const sums = {
  ...baseSums,
  ...listMoney,
  listUnpricedRequests: described(
    count,
    'Requests whose cost at list prices is unknown. `listCostNanoUsd` does not include them.',
  ),
  costByProvenance: z.object({
    provider: described(moneySchema, 'Cost as reported by the provider.'),
    computed: described(moneySchema, 'Usage as reported by the provider, multiplied by prices from the price book.'),
    estimated: described(moneySchema, 'Cost of estimated usage.'),
  }),
  freeRequests: described(count, 'Calls that cost nothing, such as listing models.'),
  errors: described(count, 'Requests that the provider rejected, failed or interrupted.'),
  partialRequests: described(count, 'Responses that could not be read completely. Their usage may be too low.'),
  unfinishedRequests: described(count, 'Requests whose end is not known yet, or never became known.'),
  bypassedRequests: described(
    count,
    'Requests that were forwarded before they were sure to be on record, and were still counted.',
  ),
  confirmedLateRequests: described(
    count,
    'Those of `bypassedRequests` that were sure to be on record soon after: tracking was slow. For the others it failed.',
  ),
  overflowRequests: described(
    count,
    'Requests counted under `(other)` because that day or month had too many distinct values. A tag or model of that very name is shown as `\\(other)`.',
  ),
  tokens: z.object(
    Object.fromEntries(tokenCounterNames.map((name) => [name, count])) as Record<
      (typeof tokenCounterNames)[number],
      typeof count
    >,
  ),
  units: described(z.record(z.string(), z.number()), 'Billable units other than tokens, by kind.'),
};

/** All that a report says of a sum, and of a point of its series. */
export const reportSums = { ...sums, latency };
export const reportPointSums = { ...pointSums, latency };
