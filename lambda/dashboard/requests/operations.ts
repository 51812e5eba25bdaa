import * as z from 'zod';
import { providerLabels } from '../../domain/providers.ts';
import { provenances } from '../../domain/usage.ts';
import { outcomes } from '../../domain/usage-event.ts';
import { operation } from '../../http/operation.ts';
import { PAGE_DESCRIPTION, pageOf, pageParameters } from '../../http/page.ts';
import { dayOrInstant } from '../../http/time-parameters.ts';

const filterValue = z.string().max(256).describe('Empty stands for "none".').optional();

const durationMs = z.number().nonnegative().nullable();

const summary = {
  requestId: z.string().describe('Returned in X-Service-Request-Id.'),
  startedAt: z.iso.datetime(),
  provider: z.enum(providerLabels),
  model: z.string().nullable().describe('The model that answered, else the one asked for.'),
  tag: z.string().nullable(),
  key: z.string().nullable().describe('Id of the service key: see GET /keys.'),
  providerKey: z.string().nullable().describe('Fingerprint of the provider credential.'),
  method: z.string(),
  path: z.string(),
  route: z.enum(['governed', 'bypassed']).nullable().describe('Null while the end of the request is not known.'),
  outcome: z.enum(outcomes),
  status: z.number().int().nullable().describe("The provider's status; null when it never answered."),
  streamed: z.boolean().nullable(),
  ttfbMs: durationMs.describe('Time to the first byte of the answer.'),
  totalMs: durationMs,
  inputTokens: z.number().int().nonnegative().nullable(),
  outputTokens: z.number().int().nonnegative().nullable(),
  costNanoUsd: z.number().int().nonnegative().nullable().describe('In 1e-9 USD; null where it is unknown.'),
  costUsd: z.string().nullable(),
  provenance: z.enum(provenances).describe('How the cost is known.'),
};

const requestSummary = z.object(summary).meta({ id: 'RequestSummary' });

const request = z
  .object({
    ...summary,
    modelRequested: z.string().nullable(),
    modelAnswered: z.string().nullable(),
    serviceTier: z.string().nullable(),
    tagTruncated: z.boolean().describe('The tag was longer than 64 characters and was cut.'),
    requestBytes: z.number().int().nonnegative().nullable(),
    responseBytes: z.number().int().nonnegative().nullable(),
    usageSource: z.enum(['reported', 'estimated', 'none']).nullable(),
    usageComplete: z.boolean().nullable().describe('False where the answer could not be read whole.'),
    usage: z.record(z.string(), z.unknown()).nullable().describe('Normalised: see docs/metering.md.'),
    rawUsage: z.record(z.string(), z.unknown()).nullable().describe("The provider's own words."),
    priceSource: z.string().nullable(),
    lines: z.array(z.object({ kind: z.string(), quantity: z.number(), rateNanoUsdPerUnit: z.number() })),
    reason: z.string().nullable().describe('Why the cost is unknown or estimated.'),
    repeatOf: z.string().nullable().describe('The request that this answer was counted with.'),
    recordedAt: z.iso.datetime(),
  })
  .meta({ id: 'Request' });

const group = 'Requests';

export const listRequests = operation({
  id: 'listRequests',
  method: 'GET',
  path: '/requests',
  group,
  summary: 'List tracked requests, newest first',
  description: PAGE_DESCRIPTION,
  access: 'authorizer',
  query: z.strictObject({
    from: dayOrInstant.describe('First day or instant. Default: 30 days before `to`.').optional(),
    to: dayOrInstant.describe('Last day, or first instant not included. Default: now.').optional(),
    provider: z.enum(providerLabels).optional(),
    model: filterValue,
    tag: filterValue,
    key: filterValue,
    providerKey: filterValue,
    outcome: z.enum(outcomes).optional(),
    provenance: z.enum(provenances).optional(),
    status: z.coerce.number().int().min(100).max(599).optional(),
    ...pageParameters({ default: 50, max: 200 }),
  }),
  success: {
    status: 200,
    description: 'A page.',
    schema: pageOf(requestSummary),
  },
  errors: ['NOT_FOUND'],
});

export const readRequest = operation({
  id: 'readRequest',
  method: 'GET',
  path: '/requests/{requestId}',
  group,
  summary: 'Read one tracked request',
  access: 'authorizer',
  params: z.strictObject({ requestId: z.string().min(1).max(64) }),
  success: { status: 200, description: 'The request.', schema: request },
  errors: ['NOT_FOUND'],
});
