import { isWellFormedAccountKey } from '../../domain/accounts/account-key.ts';
import type { Blocks } from '../../domain/limits/block.ts';
import { type Provider, type ProviderLabel, providerByLabel } from '../../domain/providers.ts';
import type { GatewayErrorCode } from '../protocol/gateway-error.ts';
import { headerValue, type RawHeaders } from '../protocol/headers.ts';
import type { AccountLookup, KeyOwner, Lookup } from './account-lookup.ts';
import type { BlockLookup } from './block-lookup.ts';
import type { Unavailable } from './cached-reads.ts';
import { credentialHeaders, type LocatedKey } from './service-key.ts';

/** A request that may be forwarded. */
export interface Admitted {
  readonly provider: Provider & { readonly label: ProviderLabel };
  readonly serviceKey: string;
  /** The provider's credential without its scheme. Never stored; only its keyed fingerprint is. */
  readonly credential: string;
  /** Null when the account store is down and the key is not cached: the request is bypassed, the recorder finds the owner. */
  readonly owner: KeyOwner | null;
  /** Only an account with budgets that stop requests, or with a pause, has them. */
  readonly blocks?: Blocks | Unavailable;
}

/** Without its scheme. */
const credentialIn = (headers: RawHeaders): string | undefined => {
  for (const name of credentialHeaders) {
    const credential = headerValue(headers, name)
      ?.trim()
      .replace(/^Bearer(\s+|$)/i, '');
    if (credential) return credential;
  }
  return undefined;
};

/** The label in a gateway host: `openai` in `OpenAI.gateway.example.com:443`. Undefined for any other host. */
export const labelOfHost = (host: string | undefined, gatewayDomain: string): string | undefined => {
  if (!host) return undefined;
  const name = host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase();
  return name.endsWith(`.${gatewayDomain}`) ? name.slice(0, -gatewayDomain.length - 1) : undefined;
};

type Decision = Admitted | GatewayErrorCode;

const decide = (
  lookup: Lookup,
  request: Omit<Admitted, 'owner'>,
  lookUpBlocks: BlockLookup,
): Decision | Promise<Decision> => {
  if (lookup === 'no-such-key') return 'INVALID_SERVICE_KEY';
  if (lookup === 'unavailable') return { ...request, owner: null };
  if (lookup.validUntilMs !== undefined && Date.now() >= lookup.validUntilMs) return 'INVALID_SERVICE_KEY';
  if (!lookup.active) return 'ACCOUNT_INACTIVE';
  const admitted = { ...request, owner: lookup };
  if (lookup.withoutBlocks === undefined) return admitted;
  const found = lookUpBlocks(lookup.accountId);
  return found instanceof Promise ? found.then((blocks) => ({ ...admitted, blocks })) : { ...admitted, blocks: found };
};

/**
 * Decides whether a request may be forwarded. Checks in the order of the specification's error table. Synchronous when the
 * key is cached, and the blocks of an account that has any.
 *
 * @param located where `request` has no service key any more
 * @param label the label in the host, undefined if the host is not the gateway's
 */
export const admit = (
  { serviceKey, request: { headers } }: LocatedKey,
  label: string | undefined,
  lookUp: AccountLookup,
  lookUpBlocks: BlockLookup,
): Decision | Promise<Decision> => {
  if (!serviceKey) return 'MISSING_SERVICE_KEY';
  const credential = credentialIn(headers);
  if (!credential) return 'MISSING_AUTH';
  const provider = label === undefined ? undefined : providerByLabel(label);
  if (!provider) return 'UNKNOWN_PROVIDER';
  if (!isWellFormedAccountKey(serviceKey)) return 'INVALID_SERVICE_KEY';
  const request = { provider, serviceKey, credential };
  const lookup = lookUp(serviceKey);
  return lookup instanceof Promise
    ? lookup.then((owner) => decide(owner, request, lookUpBlocks))
    : decide(lookup, request, lookUpBlocks);
};
