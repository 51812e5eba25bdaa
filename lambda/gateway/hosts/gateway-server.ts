import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type AwsCredentialsSource, environmentCredentials } from '../aws/aws-json.ts';
import { undiciTransport } from '../aws/transport-undici.ts';
import { composeGateway } from '../compose.ts';
import type { Gateway } from '../gateway.ts';
import type { ClientResponse, GatewayRequest } from '../protocol/client.ts';
import { type RawHeaders, responseHead, withoutHeaders } from '../protocol/headers.ts';
import { undiciUpstream } from '../upstream/upstream-undici.ts';
import { proxyWebSocket } from '../websocket/proxy-websocket.ts';
import type { WebSocketParts } from '../websocket/websocket-relay.ts';
import { GatewayResponse } from './http-server.ts';

/** Enough for a client on the same machine to read the end of its response. An event takes longer than that to the queue. */
const WAIT_MS = 1;

/**
 * Makes what runs the work after responses: a millisecond later, all of that time together. Where processors are few, the kernel may not
 * deliver what was written until this process pauses: the client would wait for that work.
 */
export const afterResponses = (): ((work: () => void) => void) => {
  let waiting: (() => void)[] = [];
  const run = (): void => {
    const due = waiting;
    waiting = [];
    for (const work of due) work();
  };
  return (work) => {
    if (waiting.push(work) === 1) setTimeout(run, WAIT_MS);
  };
};

/** Replaces the host and target of a request, for a path such as `/gateway/{label}/…`. */
export interface RequestOverride {
  readonly label?: string;
  readonly target?: string;
}

export interface GatewayServer {
  /** A `node:http` request listener. */
  handle(request: IncomingMessage, response: ServerResponse, override?: RequestOverride): void;
  /** Takes a WebSocket's handshake: an UpgradeListener of http-server.ts. */
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer, override?: RequestOverride): void;
  /** Requests whose response or event has not ended, WebSockets included. */
  openRequests(): number;
  /** Resolves when every event so far is delivered. Stop accepting requests first. */
  close(): Promise<void>;
}

/**
 * The gateway for a `node:http` server: in a container, in the local stack, in a benchmark.
 *
 * @param environment the variables of GatewayEnvironment, and AWS's own (region, endpoints, credentials)
 * @throws Error that names the missing or wrong variable
 */
export const createGatewayServer = (
  environment: Readonly<Record<string, string | undefined>>,
  credentials: AwsCredentialsSource = environmentCredentials(environment),
): GatewayServer => {
  const { gateway, parts, timeouts } = composeGateway(environment, credentials, {
    upstream: undiciUpstream,
    aws: undiciTransport,
    afterResponse: afterResponses(),
  });
  const webSocketParts: WebSocketParts = { ...parts, timeouts };
  let openRequests = 0;
  let onLastFinished = (): void => {};
  const finish = (): void => {
    openRequests -= 1;
    if (openRequests === 0) onLastFinished();
  };
  const track = (work: Promise<void>): void => {
    openRequests += 1;
    void work.then(finish, finish);
  };
  return {
    handle: (request, response, override) => track(serveGateway(gateway, request, response, override)),
    upgrade: (request, socket, head, override) =>
      track(serveWebSocket(webSocketParts, request, { socket, head }, override)),
    openRequests: () => openRequests,
    close: async () => {
      // A request whose connection has just closed may not have handed over its event yet.
      if (openRequests > 0)
        await new Promise<void>((resolve) => {
          onLastFinished = resolve;
        });
      await parts.tracker.drain();
      parts.upstream.close();
    },
  };
};

/** Handles one request of a `node:http` server. Resolves when its event is delivered. */
export const serveGateway = (
  gateway: Gateway,
  request: IncomingMessage,
  response: ServerResponse,
  override?: RequestOverride,
): Promise<void> => gateway(gatewayRequest(request, override), new ServerClient(response));

/** Handles one WebSocket connection from its handshake to its end. Resolves when its events are delivered. */
export const serveWebSocket = (
  parts: WebSocketParts,
  request: IncomingMessage,
  { socket, head }: { readonly socket: Socket; readonly head: Buffer },
  override?: RequestOverride,
): Promise<void> => {
  const respond = (): ClientResponse => {
    const response = new GatewayResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    // Node's server no longer does that for this socket.
    socket.on('drain', () => response.emit('drain'));
    response.on('finish', () => socket.destroySoon());
    return new ServerClient(response);
  };
  return proxyWebSocket(parts, gatewayRequest(request, override), { socket, head, respond });
};

const gatewayRequest = (request: IncomingMessage, override: RequestOverride | undefined): GatewayRequest => ({
  method: request.method as string,
  host: request.headers.host,
  label: override?.label,
  target: override?.target ?? (request.url as string),
  headers: request.rawHeaders,
  body: request,
});

/** Characters that Node accepts in a provider's reason phrase but refuses to send. */
const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/g;

const TRAILER = new Set(['trailer']);

/** How long a client may take none of the rest of an interrupted response. */
const ABORT_MS = 30_000;

/** The client's side over Node's HTTP server. */
class ServerClient implements ClientResponse {
  readonly #response: ServerResponse;
  #hasBody = false;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.sendDate = false;
    // A write to a closed connection: the `close` event reports it.
    response.on('error', ignore);
  }

  /** HTTP/1.0 has no interim responses, and AWS does not say what its load balancer makes of them: its header names it. */
  inform(status: number, statusMessage: string, headers: RawHeaders): void {
    const { req, socket } = this.#response;
    if (req.httpVersion !== '1.1' || req.headers['x-amzn-trace-id'] !== undefined) return;
    socket?.write(responseHead(status, statusMessage.replace(UNSENDABLE, ''), headers), 'latin1');
  }

  start(status: number, statusMessage: string, headers: string[]): void {
    const message = statusMessage.replace(UNSENDABLE, '');
    try {
      this.#response.writeHead(status, message, headers);
    } catch (error) {
      // Node does not announce trailers where none can follow: a body with a length, no body, a client of HTTP/1.0.
      if ((error as NodeJS.ErrnoException).code !== 'ERR_HTTP_TRAILER_INVALID') throw error;
      this.#response.writeHead(status, message, withoutHeaders(headers, TRAILER));
    }
    // Headers go out with the first bytes if those are already here. They never wait for the body.
    setImmediate(() => {
      if (!this.#hasBody && !this.#response.destroyed) this.#response.flushHeaders();
    });
  }

  write(chunk: Buffer): boolean {
    this.#hasBody = true;
    return this.#response.write(chunk);
  }

  onDrain(listener: () => void): void {
    this.#response.on('drain', listener);
  }

  end(trailers: RawHeaders, last?: Buffer): void {
    this.#hasBody = true;
    if (trailers.length > 0) this.#response.addTrailers(pairs(trailers));
    this.#response.end(last);
  }

  abort(): void {
    // First send what was written: the client gets the headers and every byte of the provider's.
    setImmediate(() => {
      const { socket } = this.#response;
      if (!socket) this.#response.destroy();
      else socket.setTimeout(ABORT_MS).destroySoon();
    });
  }

  onDisconnect(listener: () => void): void {
    const response = this.#response;
    const notify = (): void => {
      if (!response.writableFinished) listener();
    };
    // The client may have disconnected while its key was being looked up.
    if (response.destroyed) notify();
    else response.on('close', notify);
  }
}

const ignore = (): void => {};

const pairs = (flat: readonly string[]): [string, string][] =>
  flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1] as string]] : []));
