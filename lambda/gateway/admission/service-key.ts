import { isWellFormedAccountKey } from '../../domain/accounts/issued-secret.ts';
import type { GatewayRequest } from '../protocol/client.ts';
import { headerValue, type RawHeaders } from '../protocol/headers.ts';
import { pathForm } from '../protocol/target.ts';

/** The headers that may carry the provider's credential, in the order in which they count. */
export const credentialHeaders: readonly string[] = ['authorization', 'x-api-key', 'x-goog-api-key'];

const FIRST_SEGMENT = /^\/(svc_[^/?#]*)/;
/** The headers that may have a service key in front of the credential: those, and Azure's. */
export const keyCarriers: readonly string[] = [...credentialHeaders, 'api-key'];

/** `Bearer svc_…:sk-…`, or the two without a scheme. Neither part of a service key nor a scheme contains a colon. */
const COMBINED = /^(\s*(?:[a-z]+ +)?)(svc_[0-9a-z]+):/i;

export interface LocatedKey {
  /** As the client sent it, not checked. Undefined or empty: none. */
  readonly serviceKey: string | undefined;
  /** The provider's credential, where it is in no header: a WebSocket's handshake may have it elsewhere. */
  readonly credential?: string | undefined;
  /** The client's request without a service key in its path or in a credential. */
  readonly request: GatewayRequest;
}

const keyInPath = (target: string): { key: string; rest: string } | undefined => {
  const path = pathForm(target);
  const key = FIRST_SEGMENT.exec(path)?.[1];
  if (key === undefined) return undefined;
  const behind = path.slice(key.length + 1);
  const rest = behind.startsWith('/') ? behind : `/${behind}`;
  // A base URL may have been extended twice: no service key reaches a provider or a record.
  const next = isWellFormedAccountKey(key) ? keyInPath(rest) : undefined;
  return { key, rest: next && isWellFormedAccountKey(next.key) ? next.rest : rest };
};

/** Removes service keys from credentials. The same array when there is none. */
const keysInCredentials = (
  headers: RawHeaders,
  isServiceKey: (key: string) => boolean,
): { key: string | undefined; headers: RawHeaders } => {
  let key: string | undefined;
  let rest = headers;
  for (let i = 1; i < headers.length; i += 2) {
    let value = headers[i] as string;
    if (!value.includes('svc_') || !keyCarriers.includes((headers[i - 1] as string).toLowerCase())) continue;
    let isKey = isServiceKey;
    for (let found = COMBINED.exec(value); found?.[2] && isKey(found[2]); found = COMBINED.exec(value)) {
      key ??= found[2];
      value = `${found[1]}${value.slice(found[0].length)}`;
      // It may have been pasted twice, as in a path.
      isKey = isWellFormedAccountKey;
    }
    if (value !== headers[i]) rest = rest.with(i, value);
  }
  return { key, headers: rest };
};

/** The same header twice has one value. */
const onlyOne = (joined: string | undefined): string | undefined => {
  if (!joined?.includes(',')) return joined?.trim();
  const values = joined.split(',').map((value) => value.trim());
  return values.every((value) => value === values[0]) ? values[0] : joined;
};

/**
 * Finds the service key of a request. Clients that cannot send `X-Service-Key` bring it as the first segment of the path
 * (`/svc_…/v1/models`) or in front of the provider's credential (`Authorization: Bearer svc_…:sk-…`; `x-api-key` and `x-goog-api-key`
 * likewise). The header takes precedence, then the path. A key's checksum distinguishes it from anything of a provider's; without the
 * header, a malformed key counts as well, so that the client learns that it is wrong. The keys are removed from the request: no
 * provider, log or record gets them.
 */
export const locateServiceKey = (request: GatewayRequest): LocatedKey => {
  const inHeader = onlyOne(headerValue(request.headers, 'x-service-key'));
  const isServiceKey = (key: string): boolean => !inHeader || isWellFormedAccountKey(key);
  const found = keyInPath(request.target);
  const inPath = found && isServiceKey(found.key) ? found : undefined;
  const inCredential = keysInCredentials(request.headers, isServiceKey);
  if (!inPath && inCredential.key === undefined) return { serviceKey: inHeader, request };
  return {
    serviceKey: inHeader || (inPath?.key ?? inCredential.key),
    request: { ...request, target: inPath?.rest ?? request.target, headers: inCredential.headers },
  };
};
