import * as z from 'zod/mini';
import { providerLabels } from '../providers.ts';
import { dialects } from './dialect.ts';
import { MAX_MODEL_CHARACTERS, MAX_PATH_CHARACTERS, MAX_TAG_CHARACTERS } from './limits.ts';

const nonNegativeInteger = z.int().check(z.nonnegative());

const requestIdentity = z.object({
  version: z.literal(1),
  /** UUIDv7: its time is `startedAt`. Unique per proxied request, returned in X-Service-Request-Id. */
  requestId: z.uuid(),
  /** Internal account id. Null while the account store was down at admission: the recorder then finds it by the key's hash. */
  accountId: z.nullable(z.string()),
  /** Id of the service key used (never the key itself); null while unverified. */
  keyId: z.nullable(z.string()),
  unverifiedKeyHash: z.optional(z.string()),
  provider: z.enum(providerLabels),
  /** Keyed fingerprint of the provider credential: splits spend by provider key without storing the credential. */
  providerKey: z.nullable(z.string()),
  /** At most 64 code points, so at most 128 UTF-16 units, which is what the schema counts. */
  tag: z.nullable(z.string().check(z.maxLength(2 * MAX_TAG_CHARACTERS))),
  /** The client's tag was longer than 64 characters and was cut. */
  tagTruncated: z.boolean(),
  method: z.string(),
  /** Path as forwarded, without the query string, cut at MAX_PATH_CHARACTERS. */
  path: z.string().check(z.maxLength(MAX_PATH_CHARACTERS)),
  /** ISO 8601 UTC, milliseconds. */
  startedAt: z.iso.datetime(),
});

/** What the meter read off one response: see lambda/gateway/meter. The provider's words, not yet normalised. */
const reading = z.object({
  dialect: z.enum(dialects),
  /** The provider's final usage object as sent (Anthropic: message_delta laid over message_start), null when none was seen. */
  usage: z.nullable(z.record(z.string(), z.unknown())),
  /** `reported`: by the provider. `estimated`: counted by the gateway from visible text. `none`: nothing to go by. */
  usageSource: z.enum(['reported', 'estimated', 'none']),
  /** False when the body was cut, lied about its length, or could not be decoded: usage may be too low. */
  complete: z.boolean(),
  modelRequested: z.nullable(z.string().check(z.maxLength(MAX_MODEL_CHARACTERS))),
  modelServed: z.nullable(z.string().check(z.maxLength(MAX_MODEL_CHARACTERS))),
  /** True where the client asked for a stream. */
  streamed: z.boolean(),
  /** Tier the response says it was served on (`flex`, `priority`, `default`, `batch`, `standard` …). */
  serviceTier: z.nullable(z.string().check(z.maxLength(64))),
  /** Billable things outside the usage object, counted by name: e.g. `{ web_search_call: 2 }`, or parameters that set the price, e.g. `{ "image.size": "1024x1024" }`. */
  billableItems: z.record(z.string(), z.union([z.number(), z.string()])),
});

/** What a close event may say of how the request ended. */
const closedOutcomes = [
  /** The provider's answer, whatever its status, was relayed whole. */
  'completed',
  /** The client left before the end. */
  'client_aborted',
  /** The provider's answer broke off, or it stalled past the time-out, after its headers. */
  'upstream_aborted',
  /** No answer from the provider: 502 PROVIDER_ERROR. */
  'unreachable',
] as const;

/** How a proxied request ended, from the gateway's side. The provider's own status is `status`. */
export const outcomes = [
  ...closedOutcomes,
  /** No close event ever came: the gateway died, or the queue lost sight of it. Set by the recorder alone. */
  'unknown',
] as const;

export type Outcome = (typeof outcomes)[number];

export const openEventSchema = z.extend(requestIdentity, { kind: z.literal('open') });

export const closeEventSchema = z.extend(requestIdentity, {
  kind: z.literal('close'),
  route: z.enum(['governed', 'bypassed']),
  outcome: z.enum(closedOutcomes),
  /** HTTP status of the provider; null when it never answered. */
  status: z.nullable(nonNegativeInteger),
  /** Time to first byte of the body, from admission; null when there was none. */
  ttfbMs: z.nullable(z.number().check(z.nonnegative())),
  totalMs: z.number().check(z.nonnegative()),
  /**
   * What the gateway itself took before it sent upstream: from the request's arrival over its admission, and the gathering of its
   * body where usage had to be asked for. Null when nothing was sent; absent in events of gateways older than the recorder.
   */
  overheadMs: z.optional(z.nullable(z.number().check(z.nonnegative()))),
  requestBytes: nonNegativeInteger,
  responseBytes: nonNegativeInteger,
  reading,
});

/**
 * Requests that were forwarded, bypassed, and of which nothing else will ever tell: neither queue nor table took their events, and
 * they were too many to be kept until one did. At most so many: the queue may have taken one whose answer was lost.
 */
export const untrackedEventSchema = z.object({
  version: z.literal(1),
  kind: z.literal('untracked'),
  /** Of this report, not of a request: a report that comes twice counts once. */
  requestId: z.uuid(),
  accountId: z.nullable(z.string()),
  unverifiedKeyHash: z.optional(z.string()),
  /** When the first and the last of them began, ISO 8601 UTC; less than an hour apart. */
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  requests: nonNegativeInteger,
});

export const usageEventSchema = z.discriminatedUnion('kind', [openEventSchema, closeEventSchema, untrackedEventSchema]);

export type OpenEvent = z.infer<typeof openEventSchema>;
export type CloseEvent = z.infer<typeof closeEventSchema>;
export type UntrackedEvent = z.infer<typeof untrackedEventSchema>;
/** What one request is known by. */
export type RequestEvent = OpenEvent | CloseEvent;
export type UsageEvent = z.infer<typeof usageEventSchema>;
/** @see reading above: the meter's answer, carried by the close event. */
export type Reading = z.infer<typeof reading>;
