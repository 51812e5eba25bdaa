import * as z from 'zod/mini';
import { hostLabel } from '../host-label.ts';
import { dialects } from './dialect.ts';
import {
  MAX_BLOCK_ID_CHARACTERS,
  MAX_CLIENT_CHARACTERS,
  MAX_METADATA_CHARACTERS,
  MAX_METADATA_PAIRS,
  MAX_MODEL_CHARACTERS,
  MAX_PATH_CHARACTERS,
  MAX_SESSION_ID_CHARACTERS,
  MAX_TAG_CHARACTERS,
  MAX_TIER_CHARACTERS,
} from './limits.ts';

const nonNegativeInteger = z.int().check(z.nonnegative());

/** Names and values of metadata: code points, so at most twice as many UTF-16 units, which is what the schema counts. */
const metadataText = z.string().check(z.maxLength(2 * MAX_METADATA_CHARACTERS));
const sessionId = z.string().check(z.minLength(1), z.maxLength(MAX_SESSION_ID_CHARACTERS));

/** The client's own session that a request belongs to, and the agent in it that sent it. Without `agentId`: the session's main agent. */
export const sessionSchema = z.object({
  id: sessionId,
  agentId: z.optional(sessionId),
  /** The agent that started this one; absent where the main agent did. */
  parentAgentId: z.optional(sessionId),
});

const requestIdentity = z.object({
  version: z.literal(1),
  /** UUIDv7: its time is `startedAt`. Unique per proxied request, returned in X-Service-Request-Id. */
  requestId: z.uuid(),
  /** Internal account id. Null while the account store was down at admission: the recorder then finds it by the key's hash. */
  accountId: z.nullable(z.string()),
  /** Id of the service key used (never the key itself); null while unverified. */
  keyId: z.nullable(z.string()),
  unverifiedKeyHash: z.optional(z.string()),
  provider: hostLabel,
  /** Keyed fingerprint of the provider credential: splits spend by provider key without storing the credential. */
  providerKey: z.nullable(z.string()),
  /** The provider's credential is a token of a subscription (Claude Max, ChatGPT plans). Absent for API keys. Nothing else is kept of it. */
  credentialKind: z.optional(z.literal('subscription')),
  /** At most 64 code points, so at most 128 UTF-16 units, which is what the schema counts. */
  tag: z.nullable(z.string().check(z.maxLength(2 * MAX_TAG_CHARACTERS))),
  /** The client's tag was longer than 64 characters and was cut. */
  tagTruncated: z.boolean(),
  /** The client's own names and values for this request (X-Service-Metadata). Absent, as are the next four, where it sent none. */
  metadata: z.optional(
    z
      .record(metadataText, metadataText)
      .check(z.refine((metadata) => Object.keys(metadata).length <= MAX_METADATA_PAIRS)),
  ),
  /** Some of the metadata was cut or ignored. */
  metadataTruncated: z.optional(z.boolean()),
  /** The program that sent the request, by its row in the table of clients: `claude-code`, `openai-python` … */
  client: z.optional(z.string().check(z.maxLength(MAX_CLIENT_CHARACTERS))),
  session: z.optional(sessionSchema),
  /** Ids of the client's trace and of its place in it, in hex. */
  trace: z.optional(z.string().check(z.regex(/^[0-9a-f]{32}-[0-9a-f]{16}$/))),
  /** The account has budgets that stop requests, and the gateway could not read whether one does. */
  blocksUnread: z.optional(z.boolean()),
  /** WEBSOCKET for a WebSocket connection and each response on it. */
  method: z.string(),
  /** Path as forwarded, without the query string, cut at MAX_PATH_CHARACTERS. */
  path: z.string().check(z.maxLength(MAX_PATH_CHARACTERS)),
  /** ISO 8601 UTC, milliseconds. */
  startedAt: z.iso.datetime(),
});

/** Parts of a request's prompt: sizes, no content. */
const prompt = z.object({
  messages: nonNegativeInteger,
  /** Calls of tools in earlier messages. */
  calls: nonNegativeInteger,
  /** UTF-8 bytes of instructions, messages, tool calls and their results. */
  textBytes: nonNegativeInteger,
  /** Bytes of the tools' definitions, as JSON without white space between its parts. */
  toolBytes: nonNegativeInteger,
  /** The same of the schema that the response must follow. */
  schemaBytes: nonNegativeInteger,
  /** In pixels; null where the request does not show them. `detail` as the request has it (OpenAI). */
  images: z.array(
    z.object({
      width: z.nullable(nonNegativeInteger),
      height: z.nullable(nonNegativeInteger),
      detail: z.nullable(z.string().check(z.maxLength(16))),
    }),
  ),
  /** Further input that cannot be counted: then the counts are a lower bound. `stored`: kept by the provider, named by an id. */
  uncounted: z.array(z.enum(['file', 'audio', 'video', 'image', 'stored', 'tool', 'part'])),
});

export type Prompt = z.infer<typeof prompt>;

/** Sizes of a response's output, as far as the client got it, without content. See `piecesOf` for pieces. */
const output = z.object({
  /** Text, and the names and arguments of tool calls. */
  pieces: nonNegativeInteger,
  /** The reasoning that the response shows. */
  thinkingPieces: nonNegativeInteger,
  calls: nonNegativeInteger,
  /** Characters of reasoning in encrypted form, and in how many parts it came. */
  hiddenBytes: nonNegativeInteger,
  hiddenParts: nonNegativeInteger,
});

export type VisibleSizes = z.infer<typeof output>;

/** The meter's reading of one response: see lambda/gateway/meter. In the provider's terms, not yet normalized. */
const reading = z.object({
  dialect: z.enum(dialects),
  /** The provider's final usage object as sent (Anthropic: message_start with message_delta on top), null when there was none. */
  usage: z.nullable(z.record(z.string(), z.unknown())),
  /**
   * `reported`: by the provider. `estimated`: from what is visible in the request and response; `usage` has what was reported
   * all the same, and in events of older gateways the estimate itself. `none`: neither.
   */
  usageSource: z.enum(['reported', 'estimated', 'none']),
  /**
   * Sizes from which usage is estimated: see estimate-usage.ts. `outputBytes`: UTF-8 bytes of the output that the client got.
   * `output` is absent where there is none, and in events of older gateways.
   */
  visible: z.optional(z.object({ prompt, outputBytes: nonNegativeInteger, output: z.optional(output) })),
  /** False when the body was cut, did not have its stated length, or could not be decoded: usage may be too low. */
  complete: z.boolean(),
  modelRequested: z.nullable(z.string().check(z.maxLength(MAX_MODEL_CHARACTERS))),
  modelServed: z.nullable(z.string().check(z.maxLength(MAX_MODEL_CHARACTERS))),
  /** True when the client asked for a stream. */
  streamed: z.boolean(),
  /** The service tier that the response names (`flex`, `priority`, `default`, `batch`, `standard` …). */
  serviceTier: z.nullable(z.string().check(z.maxLength(MAX_TIER_CHARACTERS))),
  /** Billable things outside the usage object, counted by name: e.g. `{ web_search_call: 2 }`, or parameters that set the price, e.g. `{ "image.size": "1024x1024" }`. */
  billableItems: z.record(z.string(), z.union([z.number(), z.string()])),
});

/** See limits/reservation.ts. */
export const reservationSchema = z.object({
  budgetId: z.string().check(z.maxLength(MAX_BLOCK_ID_CHARACTERS)),
  /** The budget's period, as periodId has it. */
  periodId: z.string().check(z.maxLength(MAX_BLOCK_ID_CHARACTERS)),
  /** When it was made, in minutes since 1970: reservations are stored as sums by minute. */
  minute: nonNegativeInteger,
  nanoUsd: nonNegativeInteger,
  /** The budget counts this where the cost turns out to be unknown. */
  unknownNanoUsd: nonNegativeInteger,
  /** The value that it is reserved for, of a limit of each. */
  value: z.optional(z.nullable(metadataText)),
});
/** An account may have this number of budgets. */
const MAX_RESERVATIONS = 50;

/** How a request may have ended, in a close event. */
const closedOutcomes = [
  /** The provider's whole response, whatever its status, was relayed. */
  'completed',
  /** The client disconnected before the end. */
  'client_aborted',
  /** The provider's response was interrupted or timed out after its headers. */
  'upstream_aborted',
  /** No response from the provider: 502 PROVIDER_ERROR. */
  'unreachable',
  /** The gateway did not forward it: a budget of the account is used up, or somebody paused it. */
  'refused',
] as const;

/** How a proxied request ended, from the gateway's side. The provider's own status is `status`. */
export const outcomes = [
  ...closedOutcomes,
  /** No close event arrived: the gateway crashed, or the queue lost the event. Only the recorder sets it. */
  'unknown',
] as const;

export type Outcome = (typeof outcomes)[number];

export const openEventSchema = z.extend(requestIdentity, { kind: z.literal('open') });

export const closeEventSchema = z.extend(requestIdentity, {
  kind: z.literal('close'),
  route: z.enum(['governed', 'bypassed']),
  /** Bypassed only because the queue confirmed the open event after the response's headers had left. */
  isConfirmedLate: z.optional(z.literal(true)),
  outcome: z.enum(closedOutcomes),
  /** The budget or pause that refused the request. Null where the account's blocks could not be read. */
  blockedBy: z.optional(z.nullable(z.string().check(z.maxLength(MAX_BLOCK_ID_CHARACTERS)))),
  /** HTTP status of the provider, 101 for a WebSocket; null without a response. */
  status: z.nullable(nonNegativeInteger),
  /** Time to first byte of the body, from admission; null when there was none. */
  ttfbMs: z.nullable(z.number().check(z.nonnegative())),
  totalMs: z.number().check(z.nonnegative()),
  /**
   * Time that the gateway itself took before it sent the request upstream: admission, and buffering the body where it adds the
   * usage option. Null when nothing was sent; absent in events of older gateways.
   */
  overheadMs: z.optional(z.nullable(z.number().check(z.nonnegative()))),
  requestBytes: nonNegativeInteger,
  responseBytes: nonNegativeInteger,
  /** Reservations that the gateway made before it forwarded the request. */
  reservations: z.optional(z.array(reservationSchema).check(z.maxLength(MAX_RESERVATIONS))),
  reading,
});

/**
 * Requests that were forwarded and bypassed, without events of their own: neither queue nor table accepted the events, and there
 * were too many to keep. The number is an upper limit: the queue may have accepted an event although its response was lost.
 */
export const untrackedEventSchema = z.object({
  version: z.literal(1),
  kind: z.literal('untracked'),
  /** Id of this report, not of a request: a report that arrives twice counts once. */
  requestId: z.uuid(),
  accountId: z.nullable(z.string()),
  unverifiedKeyHash: z.optional(z.string()),
  /** When the first and the last of them began, ISO 8601 UTC; less than an hour apart. */
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  requests: nonNegativeInteger,
});

export const usageEventSchema = z.discriminatedUnion('kind', [openEventSchema, closeEventSchema, untrackedEventSchema]);

export type Session = z.infer<typeof sessionSchema>;
export type OpenEvent = z.infer<typeof openEventSchema>;
export type CloseEvent = z.infer<typeof closeEventSchema>;
export type UntrackedEvent = z.infer<typeof untrackedEventSchema>;
export type RequestEvent = OpenEvent | CloseEvent;
export type UsageEvent = z.infer<typeof usageEventSchema>;
/** The meter's reading of one response; part of the close event. */
export type Reading = z.infer<typeof reading>;
