import { isWellFormedAccountKey } from '../../domain/accounts/account-key.ts';
import { type Provider, type ProviderLabel, providerByLabel } from '../../domain/providers.ts';
import type { GatewayErrorCode } from '../protocol/gateway-error.ts';
import { headerValue, type RawHeaders } from '../protocol/headers.ts';
import type { AccountLookup, KeyOwner, Lookup } from './account-lookup.ts';

/** A request that may be forwarded. */
export interface Admitted {
  readonly provider: Provider & { readonly label: ProviderLabel };
  readonly serviceKey: string;
  /** The provider's own credential, scheme removed. Never stored; only its keyed fingerprint is. */
  readonly credential: string;
  /** Null while the account store is down and nothing is cached: forwarded, bypassed, settled by the recorder later. */
  readonly owner: KeyOwner | null;
}

const credentialHeaders = ['authorization', 'x-api-key', 'x-goog-api-key'];

const credentialIn = (headers: RawHeaders): string | undefined => {
  for (const name of credentialHeaders) {
    const value = headerValue(headers, name)?.trim();
    if (value) return value;
  }
  return undefined;
};

/** The label of a gateway host: `openai` of `OpenAI.gateway.example.com:443`; undefined for any other host. */
export const labelOfHost = (host: string | undefined, gatewayDomain: string): string | undefined => {
  if (!host) return undefined;
  const name = host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase();
  return name.endsWith(`.${gatewayDomain}`) ? name.slice(0, -gatewayDomain.length - 1) : undefined;
};

const judge = (lookup: Lookup, request: Omit<Admitted, 'owner'>): Admitted | GatewayErrorCode => {
  if (lookup === 'no-such-key') return 'INVALID_SERVICE_KEY';
  if (lookup === 'unavailable') return { ...request, owner: null };
  return lookup.active ? { ...request, owner: lookup } : 'ACCOUNT_INACTIVE';
};

/**
 * Decides whether a request is forwarded, in the order of the specification's error table. Synchronous when the key is
 * cached.
 *
 * @param label of the gateway host, undefined for a host that is none
 */
export const admit = (
  headers: RawHeaders,
  label: string | undefined,
  lookUp: AccountLookup,
): Admitted | GatewayErrorCode | Promise<Admitted | GatewayErrorCode> => {
  const serviceKey = headerValue(headers, 'x-service-key')?.trim();
  if (!serviceKey) return 'MISSING_SERVICE_KEY';
  const credential = credentialIn(headers);
  if (!credential) return 'MISSING_AUTH';
  const provider = label === undefined ? undefined : providerByLabel(label);
  if (!provider) return 'UNKNOWN_PROVIDER';
  if (!isWellFormedAccountKey(serviceKey)) return 'INVALID_SERVICE_KEY';
  const request = { provider, serviceKey, credential: credential.replace(/^Bearer\s+/i, '') };
  const lookup = lookUp(serviceKey);
  return lookup instanceof Promise ? lookup.then((settled) => judge(settled, request)) : judge(lookup, request);
};
