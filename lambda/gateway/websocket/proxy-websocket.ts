import { WEBSOCKET } from '../../domain/usage/dialect.ts';
import { admit, labelOfHost } from '../admission/admit.ts';
import { refusalHint } from '../admission/hint.ts';
import { locateServiceKey } from '../admission/service-key.ts';
import { sendError } from '../gateway.ts';
import type { GatewayRequest } from '../protocol/client.ts';
import { logFault } from '../relay/fault-log.ts';
import { type ClientConnection, type WebSocketParts, WebSocketRelay } from './websocket-relay.ts';

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
    const label = received.label ?? labelOfHost(received.host, parts.gatewayDomain);
    const located = locateServiceKey(received);
    const admission = await admit(located, label, parts.lookUpAccount, parts.lookUpBlocks);
    if (typeof admission === 'string')
      sendError(connection.respond(), admission, requestId, refusalHint(admission, located.request, label));
    else {
      const request = { ...located.request, method: WEBSOCKET };
      await new Promise<void>((resolve) =>
        new WebSocketRelay(
          parts,
          { request, admitted: admission, requestId, startedAtMs, connection },
          resolve,
        ).begin(),
      );
    }
  } catch (error) {
    logFault(requestId, error);
    connection.socket.destroy();
  }
};
