import { createServer, type RequestListener, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { uuidv7 } from 'uuidv7';
import { type GatewayErrorCode, gatewayErrorResponse } from '../protocol/gateway-error.ts';

/** How the gateway's server treats connections, wherever it runs: in a container, on a developer's machine, in tests. */
const gatewayServerOptions = {
  /** Node's own limit is 16 KB. API Gateway takes 10 KB; providers' edges take 16 to 64 KB. */
  maxHeaderSize: 64 * 1024,
  /** A client that sends its headers slower than this holds a socket for nothing. */
  headersTimeout: 20_000,
  /** As long as a request may last at all; a large upload over a slow line takes its time. */
  requestTimeout: 900_000,
  connectionsCheckingInterval: 5_000,
  /** Longer than load balancers keep a connection (60 s on AWS), so that it is they who close it, between two requests. */
  keepAliveTimeout: 75_000,
  /** Finds peers that are gone without a word. */
  keepAlive: true,
  keepAliveInitialDelay: 60_000,
  /** A request without a host is answered like any other for no provider. */
  requireHostHeader: false,
} as const satisfies ServerOptions;

const codeOf = ({ code }: NodeJS.ErrnoException): GatewayErrorCode | undefined => {
  if (code === 'HPE_HEADER_OVERFLOW') return 'HEADERS_TOO_LARGE';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'REQUEST_TIMEOUT';
  return code?.startsWith('HPE_') ? 'MALFORMED_REQUEST' : undefined;
};

/** A `node:http` server for the gateway's requests. What is no HTTP is answered in the service's error shape, too. */
export const gatewayHttpServer = (listener: RequestListener, options: ServerOptions = {}): Server => {
  /** Answers of a connection that are not over, or whose request's body is not. */
  const underWay = new WeakMap<Duplex, Set<ServerResponse>>();
  const answersOf = (socket: Duplex): Set<ServerResponse> => {
    const known = underWay.get(socket);
    if (known) return known;
    const answers = new Set<ServerResponse>();
    underWay.set(socket, answers);
    return answers;
  };
  const over = (response: ServerResponse): void => {
    underWay.get(response.req.socket)?.delete(response);
  };
  /** Node calls it on the answer: a function of its own for each would stay for as long as the answer takes. */
  const closed = function (this: ServerResponse): void {
    if (this.req.complete) over(this);
    else this.req.on('end', () => over(this));
  };
  const server = createServer({ ...gatewayServerOptions, ...options }, (request, response) => {
    answersOf(request.socket).add(response);
    response.on('close', closed);
    listener(request, response);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const code = codeOf(error);
    // Nothing may be written into an answer that has begun, nor behind one as if it belonged to the next request.
    const begun = [...answersOf(socket)].some(({ headersSent }) => headersSent);
    if (code === undefined || begun || !socket.writable) {
      socket.destroy(error);
      return;
    }
    const { status, headers, body } = gatewayErrorResponse(code, uuidv7());
    const lines = [`HTTP/1.1 ${status} `, 'Connection: close'];
    for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
    socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
  });
  return server;
};
