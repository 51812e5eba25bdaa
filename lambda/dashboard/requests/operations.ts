import * as z from 'zod/mini';
import { hostLabel } from '../../domain/host-label.ts';
import { MAX_METADATA_PAIRS } from '../../domain/usage/limits.ts';
import { provenances } from '../../domain/usage/usage.ts';
import { outcomes } from '../../domain/usage/usage-event.ts';
import { component, forMachines, inGroup, ok } from '../../http/operation.ts';
import { described, PAGE_DESCRIPTION, pageOf, pageParameters, timeRange } from '../../http/parameters.ts';
import { countOrNull, requestSummary, summary } from './summary.ts';

const filterValue = described(
  z.optional(z.string().check(z.maxLength(256))),
  'An empty value selects requests without one.',
);

const lines = z.array(z.object({ kind: z.string(), quantity: z.number(), rateNanoUsdPerUnit: z.number() }));

const request = component('Request', {
  ...summary,
  modelRequested: z.nullable(z.string()),
  modelServed: z.nullable(z.string()),
  serviceTier: z.nullable(z.string()),
  tagTruncated: described(z.boolean(), 'True if the tag was changed: it was longer than 64 characters or not UTF-8.'),
  metadataTruncated: described(z.boolean(), 'True if some of the metadata was cut or ignored.'),
  requestBytes: countOrNull,
  responseBytes: countOrNull,
  usageSource: z.nullable(z.enum(['reported', 'estimated', 'none'])),
  usageComplete: described(z.nullable(z.boolean()), 'False if the response could not be read completely.'),
  usage: described(z.nullable(z.record(z.string(), z.unknown())), 'Normalized usage, see docs/metering.md.'),
  rawUsage: described(z.nullable(z.record(z.string(), z.unknown())), 'Usage as the provider sent it.'),
  priceSource: z.nullable(z.string()),
  priceVersion: described(
    z.nullable(z.string()),
    'Version of the price book: a number of the price feed, or `bundled`.',
  ),
  priceEvidence: described(
    z.nullable(
      z.object({
        sources: described(
          z.record(z.string(), z.nullable(z.string())),
          'The sources that have the price, each with the day of its list, if known.',
        ),
        agree: described(z.nullable(z.boolean()), 'Whether they agree. Null for one source alone.'),
      }),
    ),
    'How sure the list price is. Null where no price book was used.',
  ),
  estimateRange: described(
    z.nullable(z.object({ leastNanoUsd: z.int(), mostNanoUsd: z.int() })),
    'Where the usage is estimated: the list prices between which it lies in nine of ten cases. Null otherwise, and for older requests.',
  ),
  lines: described(lines, 'The list price, line by line.'),
  ownPrices: described(
    z.nullable(
      z.object({
        steps: described(
          z.array(
            z.object({
              priceId: z.string(),
              kind: z.string(),
              factor: described(
                z.nullable(z.string()),
                'What it multiplies the cost by; null for own rates, which replace the list price.',
              ),
            }),
          ),
          'In the order in which they apply.',
        ),
        lines: described(lines, 'The effective price, line by line. Rates are rounded to show.'),
        isProvisional: described(z.boolean(), 'The cost depends on sums of the whole month, which are not final yet.'),
      }),
    ),
    "The account's own prices that the cost comes from, see GET /prices. Null where none applies.",
  ),
  reason: described(z.nullable(z.string()), 'Why the cost is unknown or estimated.'),
  repeatOf: described(z.nullable(z.string()), 'Id of the request with which this response was counted.'),
  recordedAt: z.iso.datetime(),
});

const operation = inGroup('Requests');

export const listRequests = operation('listRequests', 'GET /requests', {
  summary: 'List tracked requests, newest first',
  description: PAGE_DESCRIPTION,
  permission: 'requests:read',
  query: z.strictObject({
    ...timeRange,
    provider: z.optional(hostLabel),
    model: filterValue,
    tag: filterValue,
    key: filterValue,
    project: z.optional(z.string().check(z.maxLength(256))),
    member: described(
      z.optional(z.string().check(z.maxLength(256))),
      'Id of the member whose key it is. An empty value selects keys of nobody.',
    ),
    providerKey: filterValue,
    outcome: z.optional(z.enum(outcomes)),
    provenance: z.optional(z.enum(provenances)),
    status: z.optional(z.coerce.number().check(z.int(), z.minimum(100), z.maximum(599))),
    client: filterValue,
    session: filterValue,
    agent: described(
      z.optional(z.string().check(z.maxLength(256))),
      'Id of an agent of a session. An empty value selects the main agent.',
    ),
    metadata: described(
      z.optional(
        z
          .array(z.string().check(z.regex(/:/, 'must be name:value'), z.maxLength(256)))
          .check(z.maxLength(MAX_METADATA_PAIRS)),
      ),
      '`name:value`. Repeat it for several. An empty value selects requests without that name.',
    ),
    contains: described(
      z.optional(z.string().check(z.minLength(1), z.maxLength(128))),
      'A part of the model, tag, client, path, session id or request id, in upper or lower case.',
    ),
    orderBy: described(
      z.optional(z.enum(['time', 'cost', 'tokens', 'duration'])),
      'time, the default: newest first, page by page. Other orders have one page: the highest among the newest 5,000 requests of the range, see `examinedFrom`.',
    ),
    ...pageParameters({ default: 50, max: 200 }),
  }),
  success: pageOf(requestSummary, {
    examinedFrom: described(
      z.nullable(z.iso.datetime()),
      'In other orders than that of time, requests from this time on were examined, older ones of the range were not. Null where all were.',
    ),
    unreadableRequests: described(
      z.int(),
      'Requests left out because their records cannot be read, whether or not they pass the filter.',
    ),
  }),
  errors: ['NOT_FOUND'],
});

export const readRequest = operation('readRequest', 'GET /requests/{requestId}', {
  summary: 'Read one tracked request',
  permission: 'requests:read',
  params: z.strictObject({ requestId: z.string().check(z.minLength(1), z.maxLength(64)) }),
  success: ok('The request.', request),
  errors: ['NOT_FOUND'],
});

export const machineListRequests = forMachines(listRequests);
export const machineReadRequest = forMachines(readRequest);
