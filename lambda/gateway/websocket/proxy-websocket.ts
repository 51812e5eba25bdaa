import { isWellFormedAccountKey } from '../../domain/accounts/issued-secret.ts';
import { WEBSOCKET } from '../../domain/usage/dialect.ts';
import { admit, hostOf } from '../admission/admit.ts';
import { refusalHint } from '../admission/hint.ts';
import { type LocatedKey, locateServiceKey } from '../admission/service-key.ts';
import { sendError } from '../gateway.ts';
import type { GatewayRequest } from '../protocol/client.ts';
import { logFault } from '../relay/fault-log.ts';
import { type ClientConnection, type WebSocketParts, WebSocketRelay } from './websocket-relay.ts';

/**
 * OpenAI's credential as a subprotocol: a page in a browser can set no header. A subprotocol has no colon, so a dot is between the keys.
 * @see https://platform.openai.com/docs/guides/realtime-websocket
 */
const IN_SUBPROTOCOL = /(?<=(?:^|[ ,])openai-insecure-api-key\.)(svc_[0-9a-z]+[.:])?([^ ,]*)/i;
/** Gemini Live's API key, or its ephemeral token. @see https://ai.google.dev/api/live */
const IN_QUERY = /(?<=\?(?:[^#]*&)?(?:key|access_token)=)(svc_[0-9a-z]+(?::|%3A))?([^&#]*)/i;

interface Found {
  readonly key: string | undefined;
  readonly credential: string | undefined;
  readonly rest: string;
}

/** @param canBeKey whether a service key in front of a credential is one, and no part of the credential */
const find = (text: string, place: RegExp, canBeKey: (key: string) => boolean): Found => {
  const [all, before, credential] = place.exec(text) ?? [];
  const key = before?.replace(/(?:[.:]|%3A)$/i, '');
  if (key === undefined || !canBeKey(key)) return { key: undefined, credential: all || undefined, rest: text };
  return { key, credential: credential || undefined, rest: text.replace(place, '$2') };
};

/**
 * Finds the service key and the provider's credential of a handshake: as `locateServiceKey`, and where clients that cannot set headers
 * have the credential, in a subprotocol or in the query string. The service key may be in front of it.
 */
export const locateHandshakeKey = (received: GatewayRequest): LocatedKey => {
  const { serviceKey, request } = locateServiceKey(received);
  const canBeKey = (key: string): boolean => !serviceKey || isWellFormedAccountKey(key);
  const headers = [...request.headers];
  let inSubprotocol: Found | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    if ((headers[i] as string).toLowerCase() !== 'sec-websocket-protocol') continue;
    const found = find(headers[i + 1] as string, IN_SUBPROTOCOL, canBeKey);
    headers[i + 1] = found.rest;
    if (found.credential !== undefined) inSubprotocol ??= found;
  }
  const inQuery = find(request.target, IN_QUERY, canBeKey);
  return {
    serviceKey: serviceKey || (inSubprotocol?.key ?? inQuery.key),
    credential: inSubprotocol?.credential ?? inQuery.credential,
    request: { ...request, target: inQuery.rest, headers },
  };
};

/**
 * Handles one WebSocket connection: admits it like any request, connects to the provider, passes the bytes of both sides unchanged, and records
 * the connection and each response on it. Resolves when the events are delivered. Never rejects.
 */
export const proxyWebSocket = async (
  parts: WebSocketParts,
  received: GatewayRequest,
  connection: ClientConnection,
): Promise<void> => {
  const startedAtMs = performance.now();
  const requestId = parts.newRequestId();
  // The client's connection reports an event of its own, not an error of ours.
  connection.socket.on('error', () => {});
  try {
    const host = hostOf(parts, received);
    const located = locateHandshakeKey(received);
    const admitNow = () => admit(located, host, parts.lookUpAccount, parts.lookUpBlocks);
    const admission = await admitNow();
    if (typeof admission === 'string')
      sendError(
        connection.respond(),
        admission,
        requestId,
        refusalHint(admission, located.request, host !== undefined),
      );
    else {
      const request = { ...located.request, method: WEBSOCKET };
      await new Promise<void>((resolve) =>
        new WebSocketRelay(
          parts,
          { request, admitted: admission, admitNow, requestId, startedAtMs, connection },
          resolve,
        ).begin(),
      );
    }
  } catch (error) {
    logFault(requestId, error);
    connection.socket.destroy();
  }
};
