import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { dropIdleConnections, notingIdleTimes } from './kept-connections.ts';
import {
  KEEP_ALIVE_MS,
  MAX_HEADER_BYTES,
  PhaseTimer,
  type Upstream,
  type UpstreamExchange,
  type UpstreamListener,
  type UpstreamRequest,
  type UpstreamTimeouts,
} from './upstream.ts';

const MAX_FREE_CONNECTIONS = 256;

/** Upstream over node:http(s): in every Lambda runtime, loads in a few milliseconds, changes no byte. */
export const nodeUpstream = (timeouts: UpstreamTimeouts): Upstream => {
  const options = {
    keepAlive: true,
    timeout: KEEP_ALIVE_MS,
    maxFreeSockets: MAX_FREE_CONNECTIONS,
    scheduling: 'lifo' as const,
  };
  const http = notingIdleTimes(new HttpAgent(options));
  const https = notingIdleTimes(new HttpsAgent(options));
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
      const framed =
        request.framing === 'chunked' ? [...request.headers, 'Transfer-Encoding', 'chunked'] : request.headers;
      const outgoing = (secure ? httpsRequest : httpRequest)({
        agent: secure ? https : http,
        hostname,
        port,
        method: request.method,
        path: request.target,
        headers: framed,
        maxHeaderSize: MAX_HEADER_BYTES,
      });
      return exchange(outgoing, request, listener, timeouts);
    },
    dropIdleConnections: () => {
      for (const agent of [http, https]) dropIdleConnections(agent, KEEP_ALIVE_MS);
    },
    close: () => {
      http.destroy();
      https.destroy();
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
  let response: IncomingMessage | undefined;

  const passOn = (chunk: Buffer): void => {
    if (!over) listener.onData(chunk);
  };

  /** Of bytes and a fault that come in one piece, node:http tells the fault first. */
  const passOnWhatCame = (incoming: IncomingMessage): void => {
    incoming.removeAllListeners('data');
    for (let chunk = incoming.read(); chunk !== null; chunk = incoming.read()) passOn(chunk);
  };

  const fail = (error: Error): void => {
    if (over) return;
    if (response) passOnWhatCame(response);
    over = true;
    timer.stop();
    outgoing.destroy();
    listener.onError(error);
  };
  const timer = new PhaseTimer(fail);

  const onConnected = (): void => {
    connected = true;
    if (!over) timer.begin(timeouts.headersTimeoutMs, 'waiting for the provider’s headers');
  };

  outgoing.on('socket', (socket) => {
    if (!socket.connecting) return onConnected();
    timer.begin(timeouts.connectTimeoutMs, 'connecting to the provider');
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', onConnected);
  });
  outgoing.on('error', fail);
  // An unasked 101 ends the connection without an error.
  outgoing.on('close', () => {
    if (!response) fail(new Error('the provider closed the connection without an answer'));
  });
  outgoing.on('response', (incoming) => {
    if (over) return;
    response = incoming;
    timer.begin(timeouts.idleTimeoutMs, 'waiting for the provider’s next bytes');
    incoming.on('error', fail);
    incoming.on('aborted', () => fail(new Error('the provider broke off its answer')));
    listener.onHeaders({
      status: incoming.statusCode ?? 0,
      statusMessage: incoming.statusMessage ?? '',
      headers: incoming.rawHeaders,
    });
    if (over) return;
    incoming.on('data', (chunk: Buffer) => {
      timer.refresh();
      passOn(chunk);
    });
    incoming.on('end', () => {
      if (over) return;
      over = true;
      timer.stop();
      listener.onEnd(incoming.rawTrailers);
    });
  });

  sendBody(outgoing, request, {
    sent: (chunk) => {
      if (connected) timer.refresh();
      listener.onRequestBytes(chunk);
    },
    ended: () => listener.onRequestEnd(),
  });

  return {
    abort: () => {
      over = true;
      timer.stop();
      outgoing.destroy();
    },
    pause: () => {
      response?.pause();
    },
    resume: () => {
      if (!over) response?.resume();
    },
  };
};

/**
 * Pipes the request's body upstream with back-pressure. An early answer of the provider does not stop it; once the exchange
 * has failed, what the client still sends is read and dropped, so that it can take our answer.
 */
const sendBody = (
  outgoing: ClientRequest,
  { body, framing }: UpstreamRequest,
  { sent, ended }: { sent: (chunk: Buffer) => void; ended: () => void },
): void => {
  if (body === null || framing === 'none') {
    outgoing.end();
    return;
  }
  if (Buffer.isBuffer(body)) {
    outgoing.end(body);
    sent(body);
    ended();
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
    if (outgoing.destroyed) return;
    outgoing.end();
    ended();
  });
  outgoing.once('close', resume);
};
