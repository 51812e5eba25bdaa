import * as z from 'zod/mini';
import { hostLabel } from '../../domain/host-label.ts';
import { provenances } from '../../domain/usage/usage.ts';
import { outcomes } from '../../domain/usage/usage-event.ts';
import { listMoney } from '../spend/sums.ts';

export const countOrNull = z.nullable(z.int().check(z.nonnegative()));
const durationMs = z.nullable(z.number().check(z.nonnegative()));

/** Members of a request in lists. */
export const summary = {
  requestId: z.string().check(z.describe('The id that X-Service-Request-Id returned.')),
  startedAt: z.iso.datetime(),
  provider: hostLabel,
  model: z.nullable(z.string()).check(z.describe('The model that responded; if unknown, the requested model.')),
  tag: z.nullable(z.string()),
  key: z.nullable(z.string()).check(z.describe('Id of the service key, see GET /keys.')),
  providerKey: z.nullable(z.string()).check(z.describe('Fingerprint of the provider credential.')),
  method: z.string(),
  path: z.string(),
  route: z
    .nullable(z.enum(['governed', 'bypassed']))
    .check(z.describe('Null while the end of the request is unknown.')),
  isConfirmedLate: z
    .boolean()
    .check(z.describe('Bypassed because tracking was slow: soon after, the request was sure to be on record.')),
  outcome: z.enum(outcomes),
  blockedBy: z
    .nullable(z.string())
    .check(
      z.describe(
        'Id of the budget, pause or access rule that refused the request, see GET /budgets, GET /pauses and GET /access-rules. Also null of a refused request where the gateway could not read them.',
      ),
    ),
  status: z.nullable(z.int()).check(z.describe('Status code of the provider; null if it never responded.')),
  streamed: z.nullable(z.boolean()),
  ttfbMs: durationMs.check(z.describe('Time to the first byte of the response.')),
  totalMs: durationMs,
  inputTokens: countOrNull,
  outputTokens: countOrNull,
  costNanoUsd: countOrNull.check(z.describe('In 1e-9 USD; null if unknown.')),
  costUsd: z.nullable(z.string()),
  ...listMoney,
  displayCost: z.optional(
    z
      .nullable(z.string())
      .check(
        z.describe(
          'The cost in the display currency, at the rate of its day, rounded half up to 9 decimals. Null where the cost or the rate is not known; absent without a display currency.',
        ),
      ),
  ),
  displayCurrency: z.optional(z.string().check(z.describe('ISO 4217.'))),
  provenance: z.enum(provenances).check(z.describe('Where the cost comes from.')),
  client: z
    .nullable(z.string())
    .check(z.describe('The program that sent it, recognized by its User-Agent: `claude-code`, `openai-python` …')),
  session: z
    .nullable(
      z.object({
        id: z.string(),
        agentId: z.optional(z.string().check(z.describe('Absent for the main agent.'))),
        parentAgentId: z.optional(z.string().check(z.describe('Absent if the main agent started this one.'))),
      }),
    )
    .check(z.describe('Ids longer than 64 characters, or not printable, are hashes: `sha256:…`.')),
  metadata: z
    .record(z.string(), z.string())
    .check(z.describe('Names and values from X-Service-Metadata or another gateway’s headers.')),
};

export const requestSummary = z.object(summary).register(z.globalRegistry, { id: 'RequestSummary' });
