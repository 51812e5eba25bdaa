import * as z from 'zod/mini';
import { hostLabel } from '../../domain/host-label.ts';
import { MAX_METADATA_PAIRS } from '../../domain/usage/limits.ts';
import { provenances } from '../../domain/usage/usage.ts';
import { outcomes } from '../../domain/usage/usage-event.ts';
import { forMachines, inGroup } from '../../http/operation.ts';
import { PAGE_DESCRIPTION, pageOf, pageParameters, timeRange } from '../../http/parameters.ts';
import { countOrNull, requestSummary, summary } from './summary.ts';

const filterValue = z.optional(
  z.string().check(z.maxLength(256), z.describe('An empty value selects requests without one.')),
);

const lines = z.array(z.object({ kind: z.string(), quantity: z.number(), rateNanoUsdPerUnit: z.number() }));

const request = z
  .object({
    ...summary,
    modelRequested: z.nullable(z.string()),
    modelServed: z.nullable(z.string()),
    serviceTier: z.nullable(z.string()),
    tagTruncated: z
      .boolean()
      .check(z.describe('True if the tag was changed: it was longer than 64 characters or not UTF-8.')),
    metadataTruncated: z.boolean().check(z.describe('True if some of the metadata was cut or ignored.')),
    requestBytes: countOrNull,
    responseBytes: countOrNull,
    usageSource: z.nullable(z.enum(['reported', 'estimated', 'none'])),
    usageComplete: z.nullable(z.boolean()).check(z.describe('False if the response could not be read completely.')),
    usage: z.nullable(z.record(z.string(), z.unknown())).check(z.describe('Normalized usage, see docs/metering.md.')),
    rawUsage: z.nullable(z.record(z.string(), z.unknown())).check(z.describe('Usage as the provider sent it.')),
    priceSource: z.nullable(z.string()),
    priceVersion: z
      .nullable(z.string())
      .check(z.describe('Version of the price book: a number of the price feed, or `bundled`.')),
    priceEvidence: z
      .nullable(
        z.object({
          sources: z
            .record(z.string(), z.nullable(z.string()))
            .check(z.describe('The sources that have the price, each with the day of its list, if known.')),
          agree: z.nullable(z.boolean()).check(z.describe('Whether they agree. Null for one source alone.')),
        }),
      )
      .check(z.describe('How sure the list price is. Null where no price book was used.')),
    estimateRange: z
      .nullable(z.object({ leastNanoUsd: z.int(), mostNanoUsd: z.int() }))
      .check(
        z.describe(
          'Where the usage is estimated: the list prices between which it lies in nine of ten cases. Null otherwise, and for older requests.',
        ),
      ),
    lines: lines.check(z.describe('The list price, line by line.')),
    ownPrices: z
      .nullable(
        z.object({
          steps: z
            .array(
              z.object({
                priceId: z.string(),
                kind: z.string(),
                factor: z
                  .nullable(z.string())
                  .check(
                    z.describe('What it multiplies the cost by; null for own rates, which replace the list price.'),
                  ),
              }),
            )
            .check(z.describe('In the order in which they apply.')),
          lines: lines.check(z.describe('The effective price, line by line. Rates are rounded to show.')),
          isProvisional: z
            .boolean()
            .check(z.describe('The cost depends on sums of the whole month, which are not final yet.')),
        }),
      )
      .check(
        z.describe("The account's own prices that the cost comes from, see GET /prices. Null where none applies."),
      ),
    reason: z.nullable(z.string()).check(z.describe('Why the cost is unknown or estimated.')),
    repeatOf: z.nullable(z.string()).check(z.describe('Id of the request with which this response was counted.')),
    recordedAt: z.iso.datetime(),
  })
  .register(z.globalRegistry, { id: 'Request' });

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
    member: z.optional(
      z
        .string()
        .check(
          z.maxLength(256),
          z.describe('Id of the member whose key it is. An empty value selects keys of nobody.'),
        ),
    ),
    providerKey: filterValue,
    outcome: z.optional(z.enum(outcomes)),
    provenance: z.optional(z.enum(provenances)),
    status: z.optional(z.coerce.number().check(z.int(), z.minimum(100), z.maximum(599))),
    client: filterValue,
    session: filterValue,
    agent: z.optional(
      z
        .string()
        .check(z.maxLength(256), z.describe('Id of an agent of a session. An empty value selects the main agent.')),
    ),
    metadata: z.optional(
      z
        .array(z.string().check(z.regex(/:/, 'must be name:value'), z.maxLength(256)))
        .check(
          z.maxLength(MAX_METADATA_PAIRS),
          z.describe('`name:value`. Repeat it for several. An empty value selects requests without that name.'),
        ),
    ),
    contains: z.optional(
      z
        .string()
        .check(
          z.minLength(1),
          z.maxLength(128),
          z.describe('A part of the model, tag, client, path, session id or request id, in upper or lower case.'),
        ),
    ),
    orderBy: z
      .optional(z.enum(['time', 'cost', 'tokens', 'duration']))
      .check(
        z.describe(
          'time, the default: newest first, page by page. Other orders have one page: the highest among the newest 5,000 requests of the range, see `examinedFrom`.',
        ),
      ),
    ...pageParameters({ default: 50, max: 200 }),
  }),
  success: pageOf(requestSummary, {
    examinedFrom: z
      .nullable(z.iso.datetime())
      .check(
        z.describe(
          'In other orders than that of time, requests from this time on were examined, older ones of the range were not. Null where all were.',
        ),
      ),
    unreadableRequests: z
      .int()
      .check(
        z.describe('Requests left out because their records cannot be read, whether or not they pass the filter.'),
      ),
  }),
  errors: ['NOT_FOUND'],
});

export const readRequest = operation('readRequest', 'GET /requests/{requestId}', {
  summary: 'Read one tracked request',
  permission: 'requests:read',
  params: z.strictObject({ requestId: z.string().check(z.minLength(1), z.maxLength(64)) }),
  success: { status: 200, description: 'The request.', schema: request },
  errors: ['NOT_FOUND'],
});

export const machineListRequests = forMachines(listRequests);
export const machineReadRequest = forMachines(readRequest);
