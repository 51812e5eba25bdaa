import type { MeteredRequest } from '../meter/meter.ts';
import { type BodyFacts, createRequestReader, type RequestReader } from '../meter/request-reader.ts';
import type { GatewayRequest } from '../protocol/client.ts';
import { headerValue } from '../protocol/headers.ts';

/** Reads the facts of a request's body from a copy, and never before the bytes have been sent upstream. */
export class RequestCopy implements MeteredRequest {
  readonly method: string;
  readonly path: string;
  readonly #contentType: string | undefined;
  #reader: RequestReader | undefined;
  /** The body is sent whole. The client's bytes are read then, not those sent upstream, which may have an option more. */
  #isWhole = false;
  #unread: Buffer | null = null;
  #facts: BodyFacts | undefined;
  /** Bytes of the client's body that were sent upstream. */
  bytes = 0;

  /** @param path as forwarded, without the query */
  constructor({ method, headers }: GatewayRequest, path: string) {
    this.method = method;
    this.path = path;
    this.#contentType = headerValue(headers, 'content-type');
  }

  /** Reads a chunk that was sent. */
  read(chunk: Buffer): void {
    if (this.#isWhole) return;
    this.bytes += chunk.length;
    this.#openReader().write(chunk);
  }

  /** Called when the whole body was sent. */
  finish(): void {
    if (this.#isWhole || !this.#reader) return;
    this.#keepFacts(this.#reader);
  }

  /** Keeps a body that is about to be sent whole, for `readWhole`. */
  keepWhole(body: Buffer): void {
    this.#isWhole = true;
    this.bytes = body.length;
    this.#unread = body;
  }

  /** Reads the kept body and then releases it. */
  readWhole(): void {
    if (!this.#unread) return;
    const reader = this.#openReader();
    reader.write(this.#unread);
    this.#unread = null;
    this.#keepFacts(reader);
  }

  #keepFacts(reader: RequestReader): void {
    this.#facts = reader.facts();
    this.#reader = undefined;
  }

  facts(): BodyFacts {
    this.readWhole();
    return this.#facts ?? this.#openReader().facts();
  }

  #openReader(): RequestReader {
    this.#reader ??= createRequestReader(this.#contentType, this.path);
    return this.#reader;
  }
}
