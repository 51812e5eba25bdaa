import { secretHash } from '../../domain/accounts/issued-secret.ts';
import { MAX_PATH_CHARACTERS, MAX_TAG_CHARACTERS } from '../../domain/usage/limits.ts';
import { timeOfRequestId } from '../../domain/usage/request-id.ts';
import type { OpenEvent } from '../../domain/usage/usage-event.ts';
import type { Admitted } from '../admission/admit.ts';
import type { GatewayRequest } from '../protocol/client.ts';
import { headersByName } from '../protocol/headers.ts';
import { recognizeClient } from './clients.ts';
import { logFault } from './fault-log.ts';
import { headerText, readMetadata } from './metadata.ts';
import { readSession } from './session.ts';

/** The workload label of a request, and whether it was changed so that it can be stored. */
interface Tag {
  readonly tag: string | null;
  readonly tagTruncated: boolean;
}

/** Most tags are plain ASCII and need no decoding. */
const PLAIN = new RegExp(`^[\\x20-\\x7e]{1,${MAX_TAG_CHARACTERS}}$`);

const NONE: Tag = { tag: null, tagTruncated: false };

const toTag = (value: string): Tag => {
  if (PLAIN.test(value)) return { tag: value, tagTruncated: false };
  const { text, isValid } = headerText(value);
  const characters = [...text];
  return {
    tag: characters.slice(0, MAX_TAG_CHARACTERS).join(''),
    tagTruncated: !isValid || characters.length > MAX_TAG_CHARACTERS,
  };
};

/**
 * Reads X-Service-Tag, else the first tag of LiteLLM's list. It cuts a tag after 64 characters (code points) and replaces bytes that are not
 * UTF-8 with U+FFFD; the record says so. It never refuses a request: the specification has no error for a bad tag.
 *
 * @see https://docs.litellm.ai/docs/proxy/cost_tracking for `x-litellm-tags`
 */
export const readTag = (headers: ReadonlyMap<string, string>): Tag => {
  const own = headers.get('x-service-tag')?.trim();
  if (own) return toTag(own);
  const listed = headers
    .get('x-litellm-tags')
    ?.split(',')
    .map((tag) => tag.trim())
    .filter(Boolean);
  if (!listed?.[0]) return NONE;
  const first = toTag(listed[0]);
  // A request has one tag.
  return { ...first, tagTruncated: first.tagTruncated || listed.length > 1 };
};

/**
 * How the tokens of subscriptions begin, by provider: OAuth tokens of Claude Pro and Max; ChatGPT's access tokens, which are JWTs, where
 * API keys are `sk-…`.
 */
const SUBSCRIPTION_TOKENS: Readonly<Record<string, string>> = { anthropic: 'sk-ant-oat', openai: 'eyJ' };

const isSubscription = ({ provider, credential }: Admitted): boolean => {
  const start = SUBSCRIPTION_TOKENS[provider.label];
  return start !== undefined && credential.startsWith(start);
};

const MAX_METHOD_CHARACTERS = 32;

/** The members that both events of a request share, except the fingerprint of its credential. */
export type RequestIdentity = Omit<OpenEvent, 'kind' | 'providerKey'>;

/** The trace that the client names, and its place in it. @see https://www.w3.org/TR/trace-context/#traceparent-header */
const TRACEPARENT = /^[0-9a-f]{2}-((?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16})-[0-9a-f]{2}/;

/** Where the spend of a request belongs, from what its client says. */
const readBelonging = (request: GatewayRequest) => {
  const headers = headersByName(request.headers);
  const client = recognizeClient(headers);
  const session = readSession(headers, client?.session);
  const trace = TRACEPARENT.exec(headers.get('traceparent') ?? '')?.[1];
  return {
    ...readTag(headers),
    ...readMetadata(headers),
    ...(client && { client: client.name }),
    ...(session && { session }),
    ...(trace && { trace }),
  };
};

/** A fault of ours leaves its spend without a place, and its client alone. */
const readSafely = (request: GatewayRequest, requestId: string): Tag & Partial<ReturnType<typeof readBelonging>> => {
  try {
    return readBelonging(request);
  } catch (error) {
    logFault(requestId, error);
    return NONE;
  }
};

/**
 * Takes `startedAt` from the request id, so that both come from one reading of the clock: the request log finds a request by the time in its
 * id, and spend is counted on the day of its `startedAt`.
 *
 * @param requestId a UUIDv7
 * @param path as forwarded, without the query
 */
export const requestIdentity = (
  request: GatewayRequest,
  admitted: Admitted,
  requestId: string,
  path: string,
): RequestIdentity => ({
  version: 1,
  requestId,
  accountId: admitted.owner?.accountId ?? null,
  keyId: admitted.owner?.keyId ?? null,
  ...(admitted.owner ? {} : { unverifiedKeyHash: secretHash(admitted.serviceKey) }),
  provider: admitted.provider.label,
  ...(isSubscription(admitted) && { credentialKind: 'subscription' as const }),
  ...readSafely(request, requestId),
  method: request.method.slice(0, MAX_METHOD_CHARACTERS),
  path: path.slice(0, MAX_PATH_CHARACTERS),
  startedAt: new Date(timeOfRequestId(requestId) as number).toISOString(),
});
