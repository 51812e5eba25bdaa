import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { uuidv7 } from 'uuidv7';
import { STOP } from '../protocol/client.ts';
import { type GatewayErrorCode, gatewayErrorResponse } from '../protocol/gateway-error.ts';
import { responseHead } from '../protocol/headers.ts';

/** Connection settings of every gateway server: container, local stack, tests. */
const gatewayServerOptions = {
  /** Node's default is 16 KB. API Gateway takes 10 KB, providers take 16 to 64 KB. */
  maxHeaderSize: 64 * 1024,
  /** A client that sends its headers more slowly only occupies a socket. */
  headersTimeout: 20_000,
  /** The longest that a request may take to arrive: a large upload over a slow connection takes time. Its response may take longer. */
  requestTimeout: 900_000,
  connectionsCheckingInterval: 5_000,
  /** Longer than load balancers keep a connection (60 s on AWS unless set), so that they close it, between two requests. */
  keepAliveTimeout: 75_000,
  /** Finds peers that disappeared without closing the connection. */
  keepAlive: true,
  keepAliveInitialDelay: 60_000,
  /** A request without a host gets the error for an unknown provider. */
  requireHostHeader: false,
} as const satisfies ServerOptions;

declare module 'node:http' {
  interface ServerResponse {
    _send(data: string | Uint8Array, encoding?: BufferEncoding, ...rest: unknown[]): boolean;
  }
}

/**
 * Headers keep their bytes. Where it knows the length of a body, Node decodes a `Content-Disposition` as UTF-8: it need not know the length,
 * because the headers have it. It encodes headers as UTF-8 that go out before the body.
 */
export class GatewayResponse extends ServerResponse {
  override _send(data: string | Uint8Array, encoding?: BufferEncoding, ...rest: unknown[]): boolean {
    return super._send(data, data === '' ? 'latin1' : encoding, ...rest);
  }
  get _contentLength(): null {
    return null;
  }
  set _contentLength(_length: unknown) {}
}

const codeOf = ({ code }: NodeJS.ErrnoException): GatewayErrorCode | undefined => {
  if (code === 'HPE_HEADER_OVERFLOW') return 'HEADERS_TOO_LARGE';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'REQUEST_TIMEOUT';
  return code?.startsWith('HPE_') ? 'MALFORMED_REQUEST' : undefined;
};

/** Takes the handshake of a WebSocket, and the connection with it. @param head what the client sent behind the handshake */
export type UpgradeListener = (request: IncomingMessage, socket: Socket, head: Buffer) => void;

const isWebSocket = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === 'websocket';

/**
 * Passes handshakes of WebSockets to the listener; other upgrades (h2c) stay ordinary requests. A Node.js before 24.9 cannot tell them apart:
 * there WebSockets are ordinary requests, too, which the gateway refuses. `closeAllConnections` ends WebSockets as well.
 */
const acceptUpgrades = (server: Server, listener: UpgradeListener): void => {
  if (!('shouldUpgradeCallback' in server)) return;
  const sockets = new Set<Socket>();
  server.on('upgrade', (request, stream, head) => {
    const socket = stream as Socket;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    listener(request, socket, head);
  });
  const closeAllConnections = server.closeAllConnections.bind(server);
  server.closeAllConnections = () => {
    closeAllConnections();
    for (const socket of sockets) if (!socket.emit(STOP)) socket.destroy();
  };
};

/** A client that keeps its connection would keep a server waiting that closes: between two requests it is closed. */
const IDLE_SWEEP_MS = 20;

/** Accepts no more connections, and waits for open requests and WebSockets. What is still there after the grace is interrupted. */
export const closeServer = async (server: Server, graceMs: number): Promise<void> => {
  const closed = new Promise((resolve) => server.close(resolve));
  const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
};

/**
 * A `node:http` server for the gateway's requests. Malformed HTTP gets an error of the service's shape, too.
 *
 * @param onUpgrade takes WebSockets; without it they are ordinary requests
 */
export const gatewayHttpServer = (
  listener: RequestListener,
  options: ServerOptions = {},
  onUpgrade?: UpgradeListener,
): Server => {
  /** The responses of each connection that have not ended, or whose request body has not. */
  const openResponses = new WeakMap<Duplex, Set<ServerResponse>>();
  const openResponsesOf = (socket: Duplex): Set<ServerResponse> => {
    const known = openResponses.get(socket);
    if (known) return known;
    const responses = new Set<ServerResponse>();
    openResponses.set(socket, responses);
    return responses;
  };
  const remove = (response: ServerResponse): void => {
    openResponses.get(response.req.socket)?.delete(response);
  };
  /** One listener for all responses, called with the response as `this`: a closure for each would stay as long as the response lasts. */
  const onClose = function (this: ServerResponse): void {
    if (this.req.complete) remove(this);
    else this.req.on('end', () => remove(this));
  };
  const upgrades: ServerOptions = onUpgrade ? { shouldUpgradeCallback: isWebSocket } : {};
  const settings = { ...gatewayServerOptions, ...upgrades, ServerResponse: GatewayResponse, ...options };
  const server = createServer(settings, (request, response) => {
    openResponsesOf(request.socket).add(response);
    response.on('close', onClose);
    listener(request, response);
  });
  // `maxHeaderSize` bounds them.
  server.maxHeadersCount = 0;
  if (onUpgrade) acceptUpgrades(server, onUpgrade);
  // Node itself would respond without a body.
  server.on('checkExpectation', (_request, response: ServerResponse) => {
    const { status, headers, body } = gatewayErrorResponse('EXPECTATION_FAILED', uuidv7());
    response.writeHead(status, '', [...headers, 'Connection', 'close']);
    response.end(body);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const code = codeOf(error);
    // An error must not end up inside a response that has begun, nor after one as the response to the next request.
    const hasBegun = [...openResponsesOf(socket)].some(({ headersSent }) => headersSent);
    if (code === undefined || hasBegun || !socket.writable) {
      socket.destroy(error);
      return;
    }
    const { status, headers, body } = gatewayErrorResponse(code, uuidv7());
    socket.end(`${responseHead(status, '', ['Connection', 'close', ...headers])}${body}`, () => socket.destroy());
  });
  return server;
};
