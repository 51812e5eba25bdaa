import type { Readable } from 'node:stream';
import type { Framing, RawHeaders } from '../protocol/headers.ts';

/*
 * How requests reach providers. Two transports serve the same interface: node:http(s), which loads in a few milliseconds, for
 * Lambda (upstream-node.ts); undici's dispatch, which takes half the CPU time, for the long-running server (upstream-undici.ts).
 */

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
  /** Without framing but for Content-Length: the transport frames the body as `framing` says. */
  readonly headers: string[];
  readonly framing: Framing;
  readonly body: Readable | Buffer | null;
}

/** Status line and headers of the provider's answer. */
export interface UpstreamHead {
  readonly status: number;
  readonly statusMessage: string;
  readonly headers: RawHeaders;
}

/** What one exchange tells, in this order. `onError` comes at most once, ends the exchange, and may come before or after the headers. */
export interface UpstreamListener {
  onHeaders(head: UpstreamHead): void;
  onData(chunk: Buffer): void;
  onEnd(trailers: RawHeaders): void;
  onError(error: Error): void;
  /** A piece of the request's body has gone to the provider. */
  onRequestBytes(chunk: Buffer): void;
  /** All of the request's body has. */
  onRequestEnd(): void;
}

export interface UpstreamExchange {
  /** Ends the exchange from our side; nothing is told after it. */
  abort(): void;
  /** The rest of the answer waits; what was read already may still come. */
  pause(): void;
  resume(): void;
}

export interface Upstream {
  send(request: UpstreamRequest, listener: UpstreamListener): UpstreamExchange;
  /** Drops kept connections that stood idle for longer than KEEP_ALIVE_MS: after a freeze of the process they may be dead without our knowing. */
  dropIdleConnections(): void;
  close(): void;
}

/**
 * Kept connections idle for longer are closed. Providers' own limits are a minute or more, so that a request is hardly
 * ever sent on a connection the provider is closing at that moment: a POST cannot be sent again by us without asking.
 */
export const KEEP_ALIVE_MS = 4_000;

/** Answers with larger headers than Node's 16 KB are real (cookies, policies); a megabyte of them is not. */
export const MAX_HEADER_BYTES = 128 * 1024;

/**
 * One timer for the phases of an exchange, one after the other. A time that is up counts once what has come by then is read:
 * after a stall of ours (a busy machine, a suspended one) timers have their turn before sockets, and the provider is not at fault.
 */
export class PhaseTimer {
  #timer: NodeJS.Timeout | undefined;
  #isUp = false;
  #ms = 0;
  #phase = '';
  readonly #expired: (error: Error) => void;

  constructor(expired: (error: Error) => void) {
    this.#expired = expired;
  }

  begin(ms: number, phase: string): void {
    this.stop();
    this.#ms = ms;
    this.#phase = phase;
    this.#timer = setTimeout(PhaseTimer.#up, ms, this);
  }

  static #up(timer: PhaseTimer): void {
    timer.#isUp = true;
    setImmediate(() => {
      if (timer.#isUp) timer.#expired(new Error(`${timer.#phase} took more than ${timer.#ms} ms`));
    });
  }

  /** The phase goes on: its time begins anew. */
  refresh(): void {
    this.#isUp = false;
    this.#timer?.refresh();
  }

  stop(): void {
    this.#isUp = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
