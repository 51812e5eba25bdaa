import * as z from 'zod/mini';
import { hostLabel } from '../../domain/host-label.ts';
import { provenances } from '../../domain/usage/usage.ts';
import { outcomes } from '../../domain/usage/usage-event.ts';
import { component } from '../../http/operation.ts';
import { count, described } from '../../http/parameters.ts';
import { listMoney } from '../spend/sums.ts';

export const countOrNull = z.nullable(count);
const durationMs = z.nullable(z.number().check(z.nonnegative()));

/** Members of a request in lists. */
export const summary = {
  requestId: described(z.string(), 'The id that X-Service-Request-Id returned.'),
  startedAt: z.iso.datetime(),
  provider: hostLabel,
  model: described(z.nullable(z.string()), 'The model that responded; if unknown, the requested model.'),
  tag: z.nullable(z.string()),
  key: described(z.nullable(z.string()), 'Id of the service key, see GET /keys.'),
  providerKey: described(z.nullable(z.string()), 'Fingerprint of the provider credential.'),
  method: z.string(),
  path: z.string(),
  route: described(z.nullable(z.enum(['governed', 'bypassed'])), 'Null while the end of the request is unknown.'),
  isConfirmedLate: described(
    z.boolean(),
    'Bypassed because tracking was slow: soon after, the request was sure to be on record.',
  ),
  outcome: z.enum(outcomes),
  blockedBy: described(
    z.nullable(z.string()),
    'Id of the budget, pause or access rule that refused the request, see GET /budgets, GET /pauses and GET /access-rules. Also null of a refused request where the gateway could not read them.',
  ),
  status: described(z.nullable(z.int()), 'Status code of the provider; null if it never responded.'),
  streamed: z.nullable(z.boolean()),
  ttfbMs: described(durationMs, 'Time to the first byte of the response.'),
  totalMs: durationMs,
  inputTokens: countOrNull,
  outputTokens: countOrNull,
  costNanoUsd: described(countOrNull, 'In 1e-9 USD; null if unknown.'),
  costUsd: z.nullable(z.string()),
  ...listMoney,
  displayCost: described(
    z.optional(z.nullable(z.string())),
    'The cost in the display currency, at the rate of its day, rounded half up to 9 decimals. Null where the cost or the rate is not known; absent without a display currency.',
  ),
  displayCurrency: described(z.optional(z.string()), 'ISO 4217.'),
  provenance: described(z.enum(provenances), 'Where the cost comes from.'),
  client: described(
    z.nullable(z.string()),
    'The program that sent it, recognized by its User-Agent: `claude-code`, `openai-python` …',
  ),
  session: described(
    z.nullable(
      z.object({
        id: z.string(),
        agentId: described(z.optional(z.string()), 'Absent for the main agent.'),
        parentAgentId: described(z.optional(z.string()), 'Absent if the main agent started this one.'),
      }),
    ),
    'Ids longer than 64 characters, or not printable, are hashes: `sha256:…`.',
  ),
  metadata: described(
    z.record(z.string(), z.string()),
    'Names and values from X-Service-Metadata or another gateway’s headers.',
  ),
};

export const requestSummary = component('RequestSummary', summary);
