import { providerByLabel } from '../domain/providers.ts';
import type { AccountLookup } from './admission/account-lookup.ts';
import { type Admitted, admit, labelOfHost } from './admission/admit.ts';
import type { BlockLookup } from './admission/block-lookup.ts';
import { refusalHint } from './admission/hint.ts';
import { locateServiceKey } from './admission/service-key.ts';
import { allowedOriginOf, isPreflight, readableBy, sendPreflight } from './protocol/browser.ts';
import type { ClientResponse, GatewayRequest } from './protocol/client.ts';
import { type GatewayErrorCode, gatewayErrorResponse } from './protocol/gateway-error.ts';
import { headerValue } from './protocol/headers.ts';
import { pathOf } from './protocol/target.ts';
import { logFault } from './relay/fault-log.ts';
import { type Forwarding, forward, type RelayParts } from './relay/relay.ts';

/** The parts of the gateway; compose.ts makes the real ones. */
export interface GatewayParts extends RelayParts {
  readonly gatewayDomain: string;
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
  readonly label: string | undefined;
}

const DONE = Promise.resolve();

const forwardOrRefuse = (
  parts: GatewayParts,
  arrival: Arrival,
  admission: Admitted | GatewayErrorCode,
): Promise<void> => {
  if (typeof admission !== 'string') return forward(parts, { ...arrival, admitted: admission });
  const { client, requestId, request, label } = arrival;
  sendError(client, admission, requestId, refusalHint(admission, request, label));
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
  const label = received.label ?? labelOfHost(received.host, parts.gatewayDomain);
  const origin = allowedOriginOf(received, parts.allowedOrigins);
  const client = origin === undefined ? direct : readableBy(origin, direct);
  const isHealth = /^(GET|HEAD)$/.test(received.method) && pathOf(received.target) === '/health';
  if (isHealth && label !== undefined && providerByLabel(label)) {
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
  const arrival: Arrival = { request, client, label, requestId, startedAtMs: performance.now() };
  let admission: ReturnType<typeof admit>;
  try {
    admission = admit(located, label, parts.lookUpAccount, parts.lookUpBlocks);
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
