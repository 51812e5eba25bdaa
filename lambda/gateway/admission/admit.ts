import { isWellFormedAccountKey } from '../../domain/accounts/issued-secret.ts';
import type { Host, HostLabel } from '../../domain/hosts.ts';
import type { Blocks } from '../../domain/limits/block.ts';
import type { Cloud, Provider } from '../../domain/providers.ts';
import type { GatewayRequest } from '../protocol/client.ts';
import type { GatewayErrorCode } from '../protocol/gateway-error.ts';
import { headerValue, type RawHeaders } from '../protocol/headers.ts';
import { pathForm } from '../protocol/target.ts';
import type { AccountLookup, KeyOwner, Lookup } from './account-lookup.ts';
import type { BlockLookup } from './block-lookup.ts';
import type { Unavailable } from './cached-reads.ts';
import { credentialHeaders, type LocatedKey } from './service-key.ts';

/** One host of a cloud, and what the client wants of it. */
interface Place {
  readonly provider: Provider & { readonly label: HostLabel };
  /** The client's path and query without the place. */
  readonly target: string;
}

const FIRST_SEGMENT = /^\/([^/?#]+)(.*)$/s;

/** A signature of AWS covers the host and path that the client sees, and the provider would see others. */
const isSigned = ({ target, headers }: GatewayRequest): boolean =>
  /^\s*AWS4-/i.test(headerValue(headers, 'authorization') ?? '') || /[?&]X-Amz-Signature=/i.test(target);

/**
 * The host that the first segment of a path names: `/us-east-1/model/…`. The segment has to match the cloud's pattern as it is, without
 * decoding, and is the only thing of a client's that becomes a part of a host.
 */
const findPlace = (
  cloud: Cloud & { readonly label: HostLabel },
  request: GatewayRequest,
): Place | 'INVALID_PLACE' | 'SIGNED_REQUEST' => {
  if (isSigned(request)) return 'SIGNED_REQUEST';
  const [, segment = '', rest = ''] = FIRST_SEGMENT.exec(pathForm(request.target)) ?? [];
  const target = pathForm(rest);
  const host = cloud.hostOf(segment, target);
  if (host === null) return 'INVALID_PLACE';
  const needsStreamUsageOption = cloud.streamUsageTargets?.test(target) === true;
  const provider = { ...cloud, hostOf: undefined, origin: `https://${host}`, needsStreamUsageOption };
  return { provider, target };
};

/** A request that may be forwarded. */
export interface Admitted {
  readonly provider: Provider & { readonly label: HostLabel };
  /** The path and query for a cloud: the client's, without the place that they begin with. */
  readonly target?: string;
  readonly serviceKey: string;
  /** The provider's credential without its scheme. Never stored; only its keyed fingerprint is. */
  readonly credential: string;
  /** Null when the account store is down and the key is not cached: the request is bypassed, the recorder finds the owner. */
  readonly owner: KeyOwner | null;
  /** Only an account with budgets that stop requests, or with a pause, has them. */
  readonly blocks?: Blocks | Unavailable;
}

/** Without its scheme. */
const credentialIn = (headers: RawHeaders, names: readonly string[]): string | undefined => {
  for (const name of names) {
    const credential = headerValue(headers, name)
      ?.trim()
      .replace(/^Bearer(\s+|$)/i, '');
    if (credential) return credential;
  }
  return undefined;
};

/** The label in a gateway host: `openai` in `OpenAI.gateway.example.com:443`. Undefined for any other host. */
const labelOfHost = (host: string | undefined, gatewayDomain: string): string | undefined => {
  if (!host) return undefined;
  const name = host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase();
  return name.endsWith(`.${gatewayDomain}`) ? name.slice(0, -gatewayDomain.length - 1) : undefined;
};

/** The gateway host that a request is for; undefined for any other. */
export const hostOf = (
  { hosts, gatewayDomain }: { readonly hosts: ReadonlyMap<string, Host>; readonly gatewayDomain: string },
  { host, label = labelOfHost(host, gatewayDomain) }: GatewayRequest,
): Host | undefined => (label === undefined ? undefined : hosts.get(label.toLowerCase()));

export type Decision = Admitted | GatewayErrorCode;

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
 * @param host the gateway host that was called, undefined for any other
 */
export const admit = (
  { serviceKey, credential: elsewhere, request: received }: LocatedKey,
  host: Host | undefined,
  lookUp: AccountLookup,
  lookUpBlocks: BlockLookup,
): Decision | Promise<Decision> => {
  if (!serviceKey) return 'MISSING_SERVICE_KEY';
  const own = host?.hostOf && host.credentialHeader;
  const credential =
    credentialIn(received.headers, credentialHeaders) ?? (own && credentialIn(received.headers, [own])) ?? elsewhere;
  if (!credential) return 'MISSING_AUTH';
  if (!host) return 'UNKNOWN_PROVIDER';
  if (!isWellFormedAccountKey(serviceKey)) return 'INVALID_SERVICE_KEY';
  let request: Omit<Admitted, 'owner'>;
  if (host.hostOf) {
    const place = findPlace(host, received);
    if (typeof place === 'string') return place;
    request = { ...place, serviceKey, credential };
  } else request = { provider: host, serviceKey, credential };
  const lookup = lookUp(serviceKey);
  return lookup instanceof Promise
    ? lookup.then((owner) => decide(owner, request, lookUpBlocks))
    : decide(lookup, request, lookUpBlocks);
};
