import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Framing, RawHeaders } from '../protocol/headers.ts';

/*
 * How requests reach providers. Two transports implement one interface: node:http(s) on Lambda, because it loads in a few
 * milliseconds (upstream-node.ts); undici's dispatch in long-running servers, because it takes half the CPU time
 * (upstream-undici.ts).
 */

export interface UpstreamTimeouts {
  /** DNS, TCP and TLS together. */
  readonly connectTimeoutMs: number;
  /** From the last byte sent to the response headers. */
  readonly headersTimeoutMs: number;
  /** Between two chunks of the response. */
  readonly idleTimeoutMs: number;
}

export interface UpstreamRequest {
  readonly method: string;
  readonly origin: string;
  readonly target: string;
  /** Without framing headers except Content-Length: the transport frames the body according to `framing`. */
  readonly headers: string[];
  readonly framing: Framing;
  readonly body: Readable | Buffer | null;
}

/** Status line and headers of a response. */
export interface UpstreamHead {
  readonly status: number;
  readonly statusMessage: string;
  readonly headers: RawHeaders;
}

/** The events of one exchange, in this order. `onError` ends the exchange, before or after the headers. */
export interface UpstreamListener {
  onHeaders(head: UpstreamHead): void;
  /** An interim response (102, 103), any number of times before the headers. Lambda cannot send one, so its transport reads none. */
  onInterim?(head: UpstreamHead): void;
  onData(chunk: Buffer): void;
  onEnd(trailers: RawHeaders): void;
  onError(error: Error): void;
  /** A chunk of the request body was sent. */
  onRequestBytes(chunk: Buffer): void;
  /** The whole request body was sent. */
  onRequestEnd(): void;
}

export interface UpstreamExchange {
  /** Ends the exchange. The listener gets no event after this. */
  abort(): void;
  /** Stops reading the response. Chunks already read may still arrive. */
  pause(): void;
  resume(): void;
}

export interface Upstream {
  send(request: UpstreamRequest, listener: UpstreamListener): UpstreamExchange;
  close(): void;
}

/**
 * Connections idle for longer are closed. The limits of the providers are a minute or more, so a request is hardly ever sent
 * on a connection that the provider is closing at that moment. We could not resend it: a POST is not idempotent.
 */
export const KEEP_ALIVE_MS = 4_000;

/** Real responses exceed Node's limit of 16 KB (cookies, policies); none needs a megabyte. */
export const MAX_HEADER_BYTES = 128 * 1024;

/**
 * Reads what has come before a connection fails on which nothing can be sent any more: a provider may respond while the request is still
 * being sent, and close. Node reads sockets once within two turns of the event loop.
 */
export const readAfterFailedWrites = (socket: Socket): void => {
  const { _write, _writev } = socket;
  const later = (done: (error?: Error | null) => void) => (error?: Error | null) => {
    if (error) setImmediate(() => setImmediate(done, error));
    else done();
  };
  socket._write = (chunk, encoding, done) => _write.call(socket, chunk, encoding, later(done));
  socket._writev = (chunks, done) => _writev?.call(socket, chunks, later(done));
};

/**
 * One timer for the successive phases of an exchange. It expires only after the data that has already arrived is read: after a
 * stall of this process (a busy or suspended machine) Node runs timers before sockets, and the provider is not at fault.
 */
export class PhaseTimer {
  #timer: NodeJS.Timeout | undefined;
  #isExpired = false;
  #ms = 0;
  #phase = '';
  readonly #onExpired: (error: Error) => void;

  constructor(onExpired: (error: Error) => void) {
    this.#onExpired = onExpired;
  }

  begin(ms: number, phase: string): void {
    this.stop();
    this.#ms = ms;
    this.#phase = phase;
    this.#timer = setTimeout(PhaseTimer.#expire, ms, this);
  }

  static #expire(timer: PhaseTimer): void {
    timer.#isExpired = true;
    setImmediate(() => {
      if (timer.#isExpired) timer.#onExpired(new Error(`${timer.#phase} took more than ${timer.#ms} ms`));
    });
  }

  /** Restarts the time of the current phase. */
  refresh(): void {
    this.#isExpired = false;
    this.#timer?.refresh();
  }

  stop(): void {
    this.#isExpired = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
