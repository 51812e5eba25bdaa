import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { dropIdleConnections, recordIdleTimes } from '../aws/kept-connections.ts';
import {
  KEEP_ALIVE_MS,
  MAX_HEADER_BYTES,
  PhaseTimer,
  readAfterFailedWrites,
  type Upstream,
  type UpstreamExchange,
  type UpstreamListener,
  type UpstreamRequest,
  type UpstreamTimeouts,
} from './upstream.ts';

const MAX_FREE_CONNECTIONS = 256;

/** Upstream over node:http(s): part of every Lambda runtime, loads in a few milliseconds, changes no byte. */
export const nodeUpstream = (timeouts: UpstreamTimeouts): Upstream => {
  const options = {
    keepAlive: true,
    timeout: KEEP_ALIVE_MS,
    maxFreeSockets: MAX_FREE_CONNECTIONS,
    scheduling: 'lifo' as const,
  };
  const http = recordIdleTimes(new HttpAgent(options));
  const https = recordIdleTimes(new HttpsAgent(options));
  return {
    send: (request, listener) => {
      const { protocol, hostname, port } = new URL(request.origin);
      const secure = protocol === 'https:';
      const agent = secure ? https : http;
      dropIdleConnections(agent, KEEP_ALIVE_MS);
      const framed =
        request.framing === 'chunked' ? [...request.headers, 'Transfer-Encoding', 'chunked'] : request.headers;
      const outgoing = (secure ? httpsRequest : httpRequest)({
        agent,
        hostname: hostname.replace(/^\[|\]$/g, ''),
        port,
        method: request.method,
        path: request.target,
        headers: framed,
        maxHeaderSize: MAX_HEADER_BYTES,
      });
      // Their size bounds them. Node would drop those past the thousandth.
      outgoing.maxHeadersCount = 0;
      return watchExchange(outgoing, request, listener, timeouts);
    },
    close: () => {
      http.destroy();
      https.destroy();
    },
  };
};

/** Sends one request and times its phases: connect, headers, body. */
const watchExchange = (
  outgoing: ClientRequest,
  request: UpstreamRequest,
  listener: UpstreamListener,
  timeouts: UpstreamTimeouts,
): UpstreamExchange => {
  let isOver = false;
  let connected = false;
  let response: IncomingMessage | undefined;

  const passOn = (chunk: Buffer): void => {
    if (!isOver) listener.onData(chunk);
  };

  /** When bytes and a protocol error arrive in one chunk, node:http reports the error first. */
  const passOnBuffered = (incoming: IncomingMessage): void => {
    incoming.removeAllListeners('data');
    for (let chunk = incoming.read(); chunk !== null; chunk = incoming.read()) passOn(chunk);
  };

  const fail = (error: Error): void => {
    if (isOver) return;
    if (response) passOnBuffered(response);
    isOver = true;
    timer.stop();
    outgoing.destroy();
    listener.onError(error);
  };
  const timer = new PhaseTimer(fail);

  const onConnected = (): void => {
    connected = true;
    if (!isOver) timer.begin(timeouts.headersTimeoutMs, 'waiting for the provider’s headers');
  };

  outgoing.on('socket', (socket) => {
    if (!socket.connecting) return onConnected();
    readAfterFailedWrites(socket);
    timer.begin(timeouts.connectTimeoutMs, 'connecting to the provider');
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', onConnected);
  });
  const end = ({ rawTrailers }: IncomingMessage): void => {
    if (isOver) return;
    isOver = true;
    timer.stop();
    listener.onEnd(rawTrailers);
    // Node no longer tells when more of the body can be sent.
    if (!outgoing.writableEnded) outgoing.destroy();
  };
  outgoing.on('error', (error) => {
    // The error is about what came behind the response.
    if (!response?.complete) return fail(error);
    passOnBuffered(response);
    end(response);
  });
  // An unrequested 101 closes the connection without an error.
  outgoing.on('close', () => {
    if (!response) fail(new Error('the provider closed the connection without a response'));
  });
  outgoing.on('response', (incoming) => {
    if (isOver) return;
    response = incoming;
    timer.begin(timeouts.idleTimeoutMs, 'waiting for the provider’s next bytes');
    incoming.on('error', fail);
    incoming.on('aborted', () => fail(new Error('the provider interrupted its response')));
    listener.onHeaders({
      status: incoming.statusCode ?? 0,
      statusMessage: incoming.statusMessage ?? '',
      headers: incoming.rawHeaders,
    });
    if (isOver) return;
    incoming.on('data', (chunk: Buffer) => {
      timer.refresh();
      passOn(chunk);
    });
    incoming.on('end', () => end(incoming));
  });

  sendBody(outgoing, request, {
    onSent: (chunk) => {
      if (connected) timer.refresh();
      listener.onRequestBytes(chunk);
    },
    onEnd: () => listener.onRequestEnd(),
  });

  return {
    abort: () => {
      isOver = true;
      timer.stop();
      outgoing.destroy();
    },
    pause: () => {
      response?.pause();
    },
    resume: () => {
      if (!isOver) response?.resume();
    },
  };
};

/**
 * Pipes the request's body upstream with back-pressure. The beginning of a response does not stop it. After its end, and after a failed
 * exchange, the rest of the body is read and dropped, so that the client can read the response.
 */
const sendBody = (
  outgoing: ClientRequest,
  { body, framing }: UpstreamRequest,
  { onSent, onEnd }: { onSent: (chunk: Buffer) => void; onEnd: () => void },
): void => {
  if (body === null || framing === 'none') {
    outgoing.end();
    return;
  }
  if (Buffer.isBuffer(body)) {
    outgoing.end(body);
    onSent(body);
    onEnd();
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
    onSent(chunk);
  });
  body.on('end', () => {
    if (outgoing.destroyed) return;
    outgoing.end();
    onEnd();
  });
  outgoing.once('close', resume);
  // Its beginning may have been read, and the rest be paused.
  resume();
};
