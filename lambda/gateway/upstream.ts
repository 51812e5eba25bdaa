import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Readable } from 'node:stream';
import type { Framing } from './headers.ts';

export interface UpstreamTimeouts {
  /** Name look-up, TCP and TLS together. */
  readonly connectTimeoutMs: number;
  /** From the last byte sent to the provider's headers. */
  readonly headersTimeoutMs: number;
  /** Between two pieces of the answer. */
  readonly idleTimeoutMs: number;
}

export interface UpstreamRequest {
  readonly method: string;
  readonly origin: string;
  readonly target: string;
  readonly headers: string[];
  readonly framing: Framing;
  readonly body: Readable | Buffer | null;
}

/** What one upstream exchange tells. `onError` comes at most once and ends the exchange, before or after the headers. */
export interface UpstreamListener {
  /** The provider's headers are here; the body waits until it is read. */
  onHeaders(response: IncomingMessage): void;
  onError(error: Error): void;
  /** A piece of the request's body has gone to the provider. */
  onRequestBytes(chunk: Buffer): void;
}

export interface UpstreamExchange {
  /** Ends the exchange from our side; nothing is told after it. */
  abort(): void;
  /** The exchange goes on: starts the wait for the next piece anew. */
  stillAlive(): void;
}

export interface Upstream {
  send(request: UpstreamRequest, listener: UpstreamListener): UpstreamExchange;
  /** Drops kept connections that stood idle: after a freeze of the process they may be dead without our knowing. */
  dropIdleConnections(): void;
  close(): void;
}

/**
 * Kept connections idle for longer are closed. Providers' own limits are a minute or more, so that a request is hardly
 * ever sent on a connection the provider is closing at that moment: a POST cannot be sent again by us without asking.
 */
const KEEP_ALIVE_MS = 4_000;
const MAX_FREE_CONNECTIONS = 256;

/** Answers with larger headers than Node's 16 KB are real (cookies, policies); a megabyte of them is not. */
const MAX_HEADER_BYTES = 128 * 1024;

/** Upstream over node:http(s): in every Lambda runtime, loads in a few milliseconds, changes no byte. */
export const nodeUpstream = (timeouts: UpstreamTimeouts): Upstream => {
  const options = {
    keepAlive: true,
    timeout: KEEP_ALIVE_MS,
    maxFreeSockets: MAX_FREE_CONNECTIONS,
    scheduling: 'lifo' as const,
  };
  let http = new HttpAgent(options);
  let https = new HttpsAgent(options);
  const origins = new Map<string, { hostname: string; port: string; secure: boolean }>();

  const parse = (origin: string) => {
    let parsed = origins.get(origin);
    if (!parsed) {
      const url = new URL(origin);
      parsed = { hostname: url.hostname.replace(/^\[|\]$/g, ''), port: url.port, secure: url.protocol === 'https:' };
      origins.set(origin, parsed);
    }
    return parsed;
  };

  return {
    send: (request, listener) => {
      const { hostname, port, secure } = parse(request.origin);
      const outgoing = (secure ? httpsRequest : httpRequest)({
        agent: secure ? https : http,
        hostname,
        port,
        method: request.method,
        path: request.target,
        headers: request.headers,
        maxHeaderSize: MAX_HEADER_BYTES,
      });
      return exchange(outgoing, request, listener, timeouts);
    },
    dropIdleConnections: () => {
      for (const agent of [http, https])
        for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
    },
    close: () => {
      http.destroy();
      https.destroy();
      http = new HttpAgent(options);
      https = new HttpsAgent(options);
    },
  };
};

/** Sends one request and watches its phases: connect, headers, body. */
const exchange = (
  outgoing: ClientRequest,
  request: UpstreamRequest,
  listener: UpstreamListener,
  timeouts: UpstreamTimeouts,
): UpstreamExchange => {
  let over = false;
  let connected = false;
  let timer: NodeJS.Timeout | undefined;

  const wait = (ms: number, phase: string): void => {
    clearTimeout(timer);
    timer = setTimeout(() => fail(new Error(`${phase} took more than ${ms} ms`)), ms);
  };
  const fail = (error: Error): void => {
    if (over) return;
    over = true;
    clearTimeout(timer);
    outgoing.destroy();
    listener.onError(error);
  };

  const onConnected = (): void => {
    connected = true;
    if (!over) wait(timeouts.headersTimeoutMs, 'waiting for the provider’s headers');
  };

  outgoing.on('socket', (socket) => {
    if (!socket.connecting) return onConnected();
    wait(timeouts.connectTimeoutMs, 'connecting to the provider');
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', onConnected);
  });
  outgoing.on('error', fail);
  outgoing.on('response', (response) => {
    if (over) return;
    wait(timeouts.idleTimeoutMs, 'waiting for the provider’s next bytes');
    response.on('error', fail);
    response.on('aborted', () => fail(new Error('the provider broke off its answer')));
    response.on('end', () => {
      over = true;
      clearTimeout(timer);
    });
    listener.onHeaders(response);
  });

  sendBody(outgoing, request, (chunk) => {
    if (connected) timer?.refresh();
    listener.onRequestBytes(chunk);
  });

  return {
    abort: () => {
      over = true;
      clearTimeout(timer);
      outgoing.destroy();
    },
    stillAlive: () => timer?.refresh(),
  };
};

/**
 * Pipes the request's body upstream with back-pressure. An early answer of the provider does not stop it; once the exchange
 * has failed, what the client still sends is read and dropped, so that it can take our answer.
 */
const sendBody = (outgoing: ClientRequest, { body, framing }: UpstreamRequest, sent: (chunk: Buffer) => void): void => {
  if (body === null || framing === 'none') {
    outgoing.end();
    return;
  }
  if (Buffer.isBuffer(body)) {
    outgoing.end(body);
    sent(body);
    return;
  }
  const resume = (): void => {
    body.resume();
  };
  body.on('data', (chunk: Buffer) => {
    if (outgoing.destroyed) return;
    if (!outgoing.write(chunk)) {
      body.pause();
      outgoing.once('drain', resume);
    }
    sent(chunk);
  });
  body.on('end', () => {
    if (!outgoing.destroyed) outgoing.end();
  });
  outgoing.once('close', resume);
};
