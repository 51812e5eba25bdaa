import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import symbols from 'undici/lib/core/symbols.js';
import Agent from 'undici/lib/dispatcher/agent.js';
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

/**
 * Upstream over undici's `dispatch`, for long-running servers: a request takes about half the CPU time of node:http, but
 * undici takes longer to load. HTTP/1.1 only, so that names, case and order of headers stay unchanged.
 */
export const undiciUpstream = (timeouts: UpstreamTimeouts): Upstream => {
  const agent = new Agent({
    allowH2: false,
    pipelining: 1,
    connect: { timeout: timeouts.connectTimeoutMs },
    // PhaseTimer times the phases, in the same way for both transports.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  agent.on('connect', (_origin, targets) => mendConnection(targets.at(-1)));
  return {
    send: (request, listener) => {
      const exchange = new Exchange(request.body, listener, timeouts);
      agent.dispatch(
        {
          origin: request.origin,
          path: request.target,
          method: request.method as Dispatcher.HttpMethod,
          headers: request.headers,
          body: request.framing === 'none' ? null : request.body,
        },
        exchange,
      );
      return exchange;
    },
    close: () => {
      agent.destroy().catch(() => {});
    },
  };
};

/** Headers from undici, which has them as raw bytes. */
const decodeHeaders = (raw: unknown): string[] =>
  Array.isArray(raw)
    ? raw.map((bytes: Buffer | string) => (typeof bytes === 'string' ? bytes : bytes.toString('latin1')))
    : [];

/** Has undici read responses as they are. The parsers of its connections have one prototype. */
const mendConnection = (client: unknown): void => {
  type Connections = Record<symbol, Socket & Record<symbol, Parser | undefined>>;
  const socket = (client as Connections)[symbols.kSocket];
  if (!socket) return;
  readAfterFailedWrites(socket);
  const parser = socket[symbols.kParser];
  if (!parser || parser.onStatus === onStatus) return;
  const prototype: Parser = Object.getPrototypeOf(parser);
  const { onHeadersComplete, finish } = prototype;
  prototype.onStatus = onStatus;
  // To undici an unasked 100 is an error. Clients have to skip it (RFC 9110 section 15.2).
  prototype.onHeadersComplete = function (status, upgrade, shouldKeepAlive) {
    const result = onHeadersComplete.call(this, status === 100 ? SKIPPED : status, upgrade, shouldKeepAlive);
    // It takes white space for digits. The parser below has read the length right, and holds the body to it.
    this.contentLength = -1;
    return result;
  };
  // To undici a reset ends a body without a length, as a close does.
  prototype.finish = function () {
    return this.socket.errored ?? finish.call(this);
  };
};

interface Parser {
  statusText: string;
  contentLength: number;
  readonly socket: Socket;
  onStatus(bytes: Buffer): 0;
  onHeadersComplete(status: number, upgrade: boolean, shouldKeepAlive: boolean): number;
  finish(): Error | null | undefined;
}

/** A status of interim responses that nobody sends. */
const SKIPPED = 199;

/** undici reads a reason phrase as UTF-8, and only its last part: neither brings the bytes back. */
const onStatus = function (this: Parser, bytes: Buffer): 0 {
  this.statusText += bytes.toString('latin1');
  return 0;
};

/** One request: the handler for undici, and the exchange for the relay. */
class Exchange implements Dispatcher.DispatchHandler, UpstreamExchange {
  readonly #body: (Readable & { _dump?: () => void }) | Buffer | null;
  /** The client's. undici takes it from the body when it drops that. */
  readonly #socket: Socket | undefined;
  readonly #listener: UpstreamListener;
  readonly #timeouts: UpstreamTimeouts;
  readonly #timer: PhaseTimer;
  #controller: Dispatcher.DispatchController | undefined;
  #isSent = false;
  #isOver = false;

  constructor(body: UpstreamRequest['body'], listener: UpstreamListener, timeouts: UpstreamTimeouts) {
    this.#body = body;
    this.#socket = (body as Partial<IncomingMessage> | null)?.socket;
    this.#listener = listener;
    this.#timeouts = timeouts;
    this.#timer = new PhaseTimer((error) => this.#fail(error));
  }

  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer.stop();
    this.#controller?.abort(new Error('the exchange was aborted'));
    this.#dropBody();
  }

  /** Does nothing after the end: the connection may already serve another request. */
  pause(): void {
    if (!this.#isOver) this.#controller?.pause();
  }

  resume(): void {
    if (!this.#isOver) this.#controller?.resume();
  }

  /** undici has a connection and is about to write the request. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error('the exchange was aborted'));
    else this.#timer.begin(this.#timeouts.headersTimeoutMs, 'waiting for the provider’s headers');
  }

  onBodySent(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#timer.refresh();
    this.#listener.onRequestBytes(chunk);
  }

  onRequestSent(): void {
    this.#isSent = true;
    if (!this.#isOver) this.#listener.onRequestEnd();
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _headers: unknown,
    statusMessage = '',
  ): void {
    if (this.#isOver) return;
    const headers = decodeHeaders(controller.rawHeaders);
    // Otherwise a buffer for each name and value stays in memory for as long as the response lasts.
    controller.rawHeaders = null;
    if (status < 200) {
      if (status >= 100 && status !== SKIPPED) this.#listener.onInterim?.({ status, statusMessage, headers });
      return;
    }
    this.#timer.begin(this.#timeouts.idleTimeoutMs, 'waiting for the provider’s next bytes');
    this.#listener.onHeaders({ status, statusMessage, headers });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    this.#timer.refresh();
    this.#listener.onData(chunk);
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer.stop();
    if (!this.#isSent) this.#dropBody();
    this.#listener.onEnd(decodeHeaders(controller.rawTrailers));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error);
  }

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer.stop();
    this.#controller?.abort(error);
    this.#dropBody();
    this.#listener.onError(error);
  }

  /**
   * Reads and drops the rest of the client's body, so that the client can read the response. undici destroys the stream: only what Node has
   * dumped is read on.
   */
  #dropBody(): void {
    const body = this.#body;
    if (body === null || Buffer.isBuffer(body)) return;
    body._dump?.();
    this.#socket?.resume();
  }
}
