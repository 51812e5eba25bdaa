import { providerByLabel } from '../domain/providers.ts';
import type { AccountLookup } from './admission/account-lookup.ts';
import { type Admitted, admit, labelOfHost } from './admission/admit.ts';
import type { ClientResponse, GatewayRequest } from './protocol/client.ts';
import { type GatewayErrorCode, gatewayErrorResponse } from './protocol/gateway-error.ts';
import { pathOf } from './protocol/target.ts';
import { logFault } from './relay/fault-log.ts';
import { type Forwarding, forward, type RelayParts } from './relay/relay.ts';

/** The parts of the gateway; compose.ts makes the real ones. */
export interface GatewayParts extends RelayParts {
  readonly gatewayDomain: string;
  readonly lookUpAccount: AccountLookup;
  /** A new UUIDv7. */
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

const sendError = (client: ClientResponse, code: GatewayErrorCode, requestId: string): void => {
  const { status, headers, body } = gatewayErrorResponse(code, requestId);
  client.start(status, '', headers);
  client.write(body);
  client.end([]);
};

/** A request before admission. */
type Arrival = Omit<Forwarding, 'admitted'>;

const DONE = Promise.resolve();

const forwardOrRefuse = (
  parts: GatewayParts,
  arrival: Arrival,
  admission: Admitted | GatewayErrorCode,
): Promise<void> => {
  if (typeof admission !== 'string') return forward(parts, { ...arrival, admitted: admission });
  sendError(arrival.client, admission, arrival.requestId);
  return DONE;
};

const respondWithFault = (parts: GatewayParts, arrival: Arrival, error: unknown): Promise<void> => {
  logFault(arrival.requestId, error);
  return forwardOrRefuse(parts, arrival, 'INTERNAL');
};

/** Not async, and without closures when the key is cached: both would stay in memory for as long as the response lasts. */
const handle = (parts: GatewayParts, request: GatewayRequest, client: ClientResponse): Promise<void> => {
  const label = request.label ?? labelOfHost(request.host, parts.gatewayDomain);
  const isHealth = /^(GET|HEAD)$/.test(request.method) && pathOf(request.target) === '/health';
  if (isHealth && label !== undefined && providerByLabel(label)) {
    sendHealth(client, request.method);
    return DONE;
  }
  const requestId = parts.newRequestId();
  const arrival: Arrival = { request, client, requestId, startedAt: new Date(), startedAtMs: performance.now() };
  let admission: ReturnType<typeof admit>;
  try {
    admission = admit(request.headers, label, parts.lookUpAccount);
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
