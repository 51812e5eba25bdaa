import { type BodyDecoder, decoderFor, undecodable } from '../meter/decoder.ts';
import { headerValue, type RawHeaders, withoutHeaders } from '../protocol/headers.ts';
import type { UpstreamHead, UpstreamListener } from '../upstream/upstream.ts';

/** True for a stream of events, whatever the case of its content type. */
export const isEventStream = (headers: RawHeaders): boolean =>
  /^text\/event-stream/i.test(headerValue(headers, 'content-type') ?? '');

const DROPPED = new Set(['content-encoding', 'content-length']);

/**
 * Passes on a response to a request that asked for no compression. A stream of events that is compressed all the same is decoded,
 * because the filter must read it; one in an unknown encoding passes unchanged.
 */
export class DecodedStream implements UpstreamListener {
  readonly #listener: UpstreamListener;
  #decoder: BodyDecoder | undefined;

  constructor(listener: UpstreamListener) {
    this.#listener = listener;
  }

  onInterim(head: UpstreamHead): void {
    this.#listener.onInterim?.(head);
  }

  onHeaders(head: UpstreamHead): void {
    const encoding = headerValue(head.headers, 'content-encoding');
    if (encoding !== undefined && isEventStream(head.headers)) {
      const decoder = decoderFor(encoding, (chunk) => this.#listener.onData(chunk));
      if (decoder !== undecodable) this.#decoder = decoder;
    }
    this.#listener.onHeaders(this.#decoder ? { ...head, headers: withoutHeaders(head.headers, DROPPED) } : head);
  }

  onData(chunk: Buffer): void {
    if (this.#decoder) this.#decoder.write(chunk);
    else this.#listener.onData(chunk);
  }

  onEnd(trailers: RawHeaders): void {
    if (!this.#decoder) this.#listener.onEnd(trailers);
    else
      this.#decoder.end().then((isDecoded) => {
        if (isDecoded) this.#listener.onEnd(trailers);
        else this.#listener.onError(new Error('the provider’s response could not be decoded'));
      });
  }

  /** Bytes that arrived before the error go to the client first. */
  onError(error: Error): void {
    if (!this.#decoder) this.#listener.onError(error);
    else this.#decoder.end().then(() => this.#listener.onError(error));
  }

  onRequestBytes(chunk: Buffer): void {
    this.#listener.onRequestBytes(chunk);
  }

  onRequestEnd(): void {
    this.#listener.onRequestEnd();
  }
}
