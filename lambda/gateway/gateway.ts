import type { Host } from '../domain/hosts.ts';
import type { AccountLookup } from './admission/account-lookup.ts';
import { type Admitted, admit, hostOf } from './admission/admit.ts';
import type { BlockLookup } from './admission/block-lookup.ts';
import { refusalHint } from './admission/hint.ts';
import { locateServiceKey } from './admission/service-key.ts';
import type { ClientResponse, GatewayRequest } from './protocol/client.ts';
import { type GatewayErrorCode, gatewayErrorResponse } from './protocol/gateway-error.ts';
import { headerValue, withoutHeaders } from './protocol/headers.ts';
import { pathOf } from './protocol/target.ts';
import { logFault } from './relay/fault-log.ts';
import { type Forwarding, forward, type RelayParts } from './relay/relay.ts';

/** A day: browsers keep a preflight's result for two hours to a day, whatever is allowed. */
const MAX_AGE_SECONDS = 86_400;
const allowHeaders = new Set(['access-control-allow-origin', 'access-control-expose-headers', 'vary']);

/** A browser's question whether a page may send a request. @see https://fetch.spec.whatwg.org/#cors-preflight-request */
const isPreflight = ({ method, headers }: GatewayRequest): boolean =>
  method === 'OPTIONS' &&
  headerValue(headers, 'origin') !== undefined &&
  headerValue(headers, 'access-control-request-method') !== undefined;

/** The request's origin where its pages may call the gateway. */
const allowedOriginOf = ({ headers }: GatewayRequest, allowedOrigins: ReadonlySet<string>): string | undefined => {
  if (allowedOrigins.size === 0) return undefined;
  const origin = headerValue(headers, 'origin');
  return origin !== undefined && allowedOrigins.has(origin) ? origin : undefined;
};

/** Allows what the browser asks for: any method and header, since those are the provider's to judge. */
const sendPreflight = ({ headers }: GatewayRequest, client: ClientResponse, origin: string): void => {
  const method = headerValue(headers, 'access-control-request-method') as string;
  const names = headerValue(headers, 'access-control-request-headers');
  client.start(204, 'No Content', [
    ...['Access-Control-Allow-Origin', origin, 'Access-Control-Allow-Methods', method],
    ...(names === undefined ? [] : ['Access-Control-Allow-Headers', names]),
    ...['Access-Control-Max-Age', String(MAX_AGE_SECONDS)],
    ...['Vary', 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers'],
  ]);
  client.end([]);
};

/** The client's side with headers that let pages of `origin` read the response. They replace the provider's of the same names. */
const readableBy = (origin: string, client: ClientResponse): ClientResponse => ({
  start: (status, statusMessage, headers) => {
    const vary = headerValue(headers, 'vary');
    const kept = withoutHeaders(headers, allowHeaders);
    kept.push('Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', '*');
    kept.push('Vary', vary === undefined ? 'Origin' : `Origin, ${vary}`);
    client.start(status, statusMessage, kept);
  },
  inform: (status, statusMessage, headers) => client.inform?.(status, statusMessage, headers),
  write: (chunk) => client.write(chunk),
  onDrain: (listener) => client.onDrain(listener),
  end: (trailers, last) => client.end(trailers, last),
  abort: () => client.abort(),
  onDisconnect: (listener) => client.onDisconnect(listener),
});

/** The parts of the gateway; compose.ts makes the real ones. */
export interface GatewayParts extends RelayParts {
  readonly gatewayDomain: string;
  /** By label in lower case. */
  readonly hosts: ReadonlyMap<string, Host>;
  /** Origins whose pages may call the gateway from a browser. */
  readonly allowedOrigins: ReadonlySet<string>;
  readonly lookUpAccount: AccountLookup;
  readonly lookUpBlocks: BlockLookup;
  /** A new UUIDv7. Its time is when the request started. */
  readonly newRequestId: () => string;
}

/**
 * Handles one request on any host: admits, forwards, relays, meters and records it. Resolves when the close event is
 * delivered; the client has its last byte before that. Never rejects.
 */
export type Gateway = (request: GatewayRequest, client: ClientResponse) => Promise<void>;

const HEALTH_BODY = Buffer.from('{"status":"ok"}');

const sendHealth = (client: ClientResponse, method: string): void => {
  client.start(200, 'OK', [
    'Content-Type',
    'application/json',
    'Content-Length',
    String(HEALTH_BODY.length),
    'Cache-Control',
    'no-store',
  ]);
  if (method !== 'HEAD') client.write(HEALTH_BODY);
  client.end([]);
};

/** Responds with an error of the gateway's own. */
export const sendError = (client: ClientResponse, code: GatewayErrorCode, requestId: string, hint?: string): void => {
  const { status, headers, body } = gatewayErrorResponse(code, requestId, hint);
  client.start(status, '', headers);
  client.write(body);
  client.end([]);
};

/** A request before admission. */
interface Arrival extends Omit<Forwarding, 'admitted'> {
  readonly host: Host | undefined;
}

const DONE = Promise.resolve();

const forwardOrRefuse = (
  parts: GatewayParts,
  arrival: Arrival,
  admission: Admitted | GatewayErrorCode,
): Promise<void> => {
  if (typeof admission !== 'string') return forward(parts, { ...arrival, admitted: admission });
  const { client, requestId, request, host } = arrival;
  sendError(client, admission, requestId, refusalHint(admission, request, host !== undefined));
  return DONE;
};

const respondWithFault = (parts: GatewayParts, arrival: Arrival, error: unknown): Promise<void> => {
  logFault(arrival.requestId, error);
  return forwardOrRefuse(parts, arrival, 'INTERNAL');
};

/** API Gateway may drop `Upgrade`, which belongs to one connection; the handshake's key arrives. Handshakes are GET requests. */
const isWebSocketHandshake = ({ method, headers }: GatewayRequest): boolean =>
  method === 'GET' &&
  (headerValue(headers, 'upgrade')?.toLowerCase() === 'websocket' ||
    headerValue(headers, 'sec-websocket-key') !== undefined);

/** Not async, and without closures when the key is cached: both would stay in memory for as long as the response lasts. */
const handle = (parts: GatewayParts, received: GatewayRequest, direct: ClientResponse): Promise<void> => {
  const host = hostOf(parts, received);
  const origin = allowedOriginOf(received, parts.allowedOrigins);
  const client = origin === undefined ? direct : readableBy(origin, direct);
  const isHealth = /^(GET|HEAD)$/.test(received.method) && pathOf(received.target) === '/health';
  if (isHealth && host) {
    sendHealth(client, received.method);
    return DONE;
  }
  const requestId = parts.newRequestId();
  if (isPreflight(received)) {
    if (origin === undefined) sendError(client, 'BROWSER_NOT_ALLOWED', requestId);
    else sendPreflight(received, direct, origin);
    return DONE;
  }
  if (isWebSocketHandshake(received)) {
    sendError(client, 'WEBSOCKET_NOT_SUPPORTED', requestId);
    return DONE;
  }
  const located = locateServiceKey(received);
  const { request } = located;
  const arrival: Arrival = { request, client, host, requestId, startedAtMs: performance.now() };
  let admission: ReturnType<typeof admit>;
  try {
    admission = admit(located, host, parts.lookUpAccount, parts.lookUpBlocks);
  } catch (error) {
    return respondWithFault(parts, arrival, error);
  }
  if (!(admission instanceof Promise)) return forwardOrRefuse(parts, arrival, admission);
  return admission.then(
    (resolved) => forwardOrRefuse(parts, arrival, resolved),
    (error: unknown) => respondWithFault(parts, arrival, error),
  );
};

export const createGateway =
  (parts: GatewayParts): Gateway =>
  (request, client) => {
    try {
      return handle(parts, request, client);
    } catch (error) {
      return Promise.reject(error);
    }
  };
