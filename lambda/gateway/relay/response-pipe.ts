import type { ClientResponse } from '../protocol/client.ts';
import type { UpstreamExchange } from '../upstream/upstream.ts';
import type { CloseEventBuilder } from './close-event-builder.ts';
import type { UsageChunkFilter } from './usage-chunk-filter.ts';

/** Of an answer whose headers wait for the route, so much is taken before the provider has to wait, too. */
const MAX_HELD_BYTES = 64 * 1024;

/** Where an answer's bytes come from and go to. */
export interface ResponsePipeEnds {
  readonly exchange: UpstreamExchange;
  readonly client: ClientResponse;
  readonly closeEventBuilder: CloseEventBuilder;
  /** Told of a fault of ours in what is done in a later tick: it costs the one request. */
  readonly faulted: (error: unknown) => void;
}

/** The bytes of one answer: to the client first, then to the meter. */
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

  /** The client is behind, and the provider waits for it. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Takes a piece: the client has it at the tick's end, or with the headers where they wait for the route. */
  take(chunk: Buffer): void {
    this.#ends.closeEventBuilder.received(chunk.length);
    this.#waitingBytes += chunk.length;
    const isFirst = this.#waiting.push(chunk) === 1;
    if (this.#isOpen) {
      if (isFirst) process.nextTick(ResponsePipe.#guard, this, this.#pass);
    } else if (this.#waitingBytes > MAX_HELD_BYTES) this.#ends.exchange.pause();
  }

  /**
   * The client has the headers: what waited follows them.
   * @param filter takes out what the client did not ask for
   * @param isOver the answer has ended meanwhile: `rest` follows
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
    this.#pass();
    if (!this.#isPaused) exchange.resume();
  }

  /** The answer is over: what of it the client has not yet been given. */
  rest(): Buffer | undefined {
    const chunk = this.#takeWaiting();
    if (chunk) this.#ends.closeEventBuilder.keep(chunk);
    if (!this.#filter) return chunk;
    const pieces = chunk ? [this.#filter.write(chunk), this.#filter.end()] : [this.#filter.end()];
    return Buffer.concat(pieces);
  }

  /** The client is gone: what it did not stay for was answered all the same, and is metered. */
  discard(): void {
    const chunk = this.#takeWaiting();
    if (chunk) this.#ends.closeEventBuilder.keep(chunk);
  }

  /** In one piece: of a fast stream many small ones come at a time. */
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
      pipe.#ends.faulted(error);
    }
  }

  #meter(): void {
    this.#ends.closeEventBuilder.readMeter();
  }

  #pass(): void {
    const chunk = this.#takeWaiting();
    if (!chunk) return;
    const { client, exchange, closeEventBuilder } = this.#ends;
    const out = this.#filter ? this.#filter.write(chunk) : chunk;
    if (out.length > 0 && !client.write(out)) {
      this.#isPaused = true;
      exchange.pause();
    }
    closeEventBuilder.keep(chunk);
    // What was written in this tick goes out at its end: Node holds it back until then.
    process.nextTick(ResponsePipe.#guard, this, this.#meter);
  }
}
