import type { ClientResponse } from '../protocol/client.ts';
import type { UpstreamExchange } from '../upstream/upstream.ts';
import type { CloseEventBuilder } from './close-event-builder.ts';
import type { UsageChunkFilter } from './usage-chunk-filter.ts';

/** Bytes held while the response headers wait for the route; above this limit the provider is paused. */
const MAX_HELD_BYTES = 64 * 1024;

/** Where a response's bytes come from and go to. */
export interface ResponsePipeEnds {
  readonly exchange: UpstreamExchange;
  readonly client: ClientResponse;
  readonly closeEventBuilder: CloseEventBuilder;
  /** Called when a step in a later tick throws. */
  readonly onFault: (error: unknown) => void;
}

/** Passes the bytes of one response to the client first, then to the meter. */
export class ResponsePipe {
  readonly #ends: ResponsePipeEnds;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #filter: UsageChunkFilter | undefined;
  #isOpen = false;
  #isPaused = false;

  constructor(ends: ResponsePipeEnds) {
    this.#ends = ends;
  }

  /** True while the provider waits for a slow client. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Takes a chunk. The client gets it at the end of the tick, or with the headers if those still wait for the route. */
  take(chunk: Buffer): void {
    this.#ends.closeEventBuilder.recordChunk(chunk.length);
    this.#waitingBytes += chunk.length;
    const isFirst = this.#waiting.push(chunk) === 1;
    if (this.#isOpen) {
      if (isFirst) process.nextTick(ResponsePipe.#guard, this, this.#writeWaiting);
    } else if (this.#waitingBytes > MAX_HELD_BYTES) this.#ends.exchange.pause();
  }

  /**
   * Called when the client has the headers: writes the held bytes.
   * @param filter removes what the client did not ask for
   * @param isOver the response has already ended: `takeRest` follows
   */
  open(filter: UsageChunkFilter | undefined, isOver: boolean): void {
    const { client, exchange } = this.#ends;
    this.#isOpen = true;
    this.#filter = filter;
    client.onDrain(() => {
      this.#isPaused = false;
      exchange.resume();
    });
    if (isOver) return;
    this.#writeWaiting();
    if (!this.#isPaused) exchange.resume();
  }

  /** At the end of the response: returns the bytes that the client does not have yet, and keeps them for the meter. */
  takeRest(): Buffer | undefined {
    const chunk = this.#keepRestForMeter();
    if (!this.#filter) return chunk;
    const pieces = chunk ? [this.#filter.write(chunk), this.#filter.end()] : [this.#filter.end()];
    return Buffer.concat(pieces);
  }

  /** Discards the bytes that a disconnected client did not get, but meters them: the provider charges for them. */
  discardRest(): void {
    this.#keepRestForMeter();
  }

  #keepRestForMeter(): Buffer | undefined {
    const chunk = this.#takeWaiting();
    if (chunk) this.#ends.closeEventBuilder.keepForMeter(chunk);
    return chunk;
  }

  /** Joins the chunks of one tick: a fast stream has many small ones. */
  #takeWaiting(): Buffer | undefined {
    const waiting = this.#waiting;
    if (waiting.length === 0) return undefined;
    const all = waiting.length === 1 ? waiting[0] : Buffer.concat(waiting, this.#waitingBytes);
    this.#waiting = [];
    this.#waitingBytes = 0;
    return all;
  }

  static #guard(pipe: ResponsePipe, step: () => void): void {
    try {
      step.call(pipe);
    } catch (error) {
      pipe.#ends.onFault(error);
    }
  }

  #feedMeter(): void {
    this.#ends.closeEventBuilder.feedMeter();
  }

  #writeWaiting(): void {
    const chunk = this.#takeWaiting();
    if (!chunk) return;
    const { client, exchange, closeEventBuilder } = this.#ends;
    const out = this.#filter ? this.#filter.write(chunk) : chunk;
    if (out.length > 0 && !client.write(out)) {
      this.#isPaused = true;
      exchange.pause();
    }
    closeEventBuilder.keepForMeter(chunk);
    // In the next tick, because Node sends what is written in this one at its end.
    process.nextTick(ResponsePipe.#guard, this, this.#feedMeter);
  }
}
