import { serviceKeyHash } from '../../domain/accounts/account-key.ts';
import { MAX_PATH_CHARACTERS } from '../../domain/usage/limits.ts';
import { timeOfRequestId } from '../../domain/usage/request-id.ts';
import type { OpenEvent } from '../../domain/usage/usage-event.ts';
import type { Admitted } from '../admission/admit.ts';
import type { GatewayRequest } from '../protocol/client.ts';
import { headersByName } from '../protocol/headers.ts';
import { recognizeClient } from './clients.ts';
import { readMetadata } from './metadata.ts';
import { readSession } from './session.ts';
import { readTag } from './tag.ts';

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

/** Where the spend of a request belongs, from what its client says. */
const readBelonging = (request: GatewayRequest) => {
  const headers = headersByName(request.headers);
  const client = recognizeClient(headers.get('user-agent'));
  const session = readSession(headers, client?.session);
  return {
    ...readTag(headers),
    ...readMetadata(headers),
    ...(client && { client: client.name }),
    ...(session && { session }),
  };
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
  ...(admitted.owner ? {} : { unverifiedKeyHash: serviceKeyHash(admitted.serviceKey) }),
  provider: admitted.provider.label,
  ...(isSubscription(admitted) && { credentialKind: 'subscription' as const }),
  ...readBelonging(request),
  method: request.method.slice(0, MAX_METHOD_CHARACTERS),
  path: path.slice(0, MAX_PATH_CHARACTERS),
  ...(admitted.blocks === 'unavailable' && { blocksUnread: true }),
  startedAt: new Date(timeOfRequestId(requestId) as number).toISOString(),
});
