import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import { listen, urlOf } from '../../../fixtures/listen.ts';

/** A fake provider of WebSockets that follows its scripts. */
export interface SocketOrigin {
  readonly origin: string;
  readonly handshakes: IncomingMessage[];
  /** Called with each WebSocket that opens. */
  onSocket: (socket: WebSocket, request: IncomingMessage) => void;
  /** Called instead of the handshake if it is set. */
  onUpgrade: ((request: IncomingMessage, socket: Socket) => void) | undefined;
  onRequest: (request: IncomingMessage, response: ServerResponse) => void;
  close(): Promise<void>;
}

export const startSocketOrigin = async (options: ServerOptions = {}): Promise<SocketOrigin> => {
  const server = createServer((request, response) => handle.onRequest(request, response));
  const sockets = new WebSocketServer({ noServer: true, ...options });
  const connections = new Set<Socket>();
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.on('error', () => {});
  });
  server.on('upgrade', (request, socket, head) => {
    handle.handshakes.push(request);
    if (handle.onUpgrade) handle.onUpgrade(request, socket as Socket);
    else sockets.handleUpgrade(request, socket, head, (opened) => handle.onSocket(opened, request));
  });
  await listen(server);
  const handle: SocketOrigin = {
    origin: urlOf(server),
    handshakes: [],
    onSocket: () => {},
    onUpgrade: undefined,
    onRequest: (_request, response) => response.end(),
    close: async () => {
      for (const socket of connections) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return handle;
};
