import type { MeteredRequest } from '../meter/meter.ts';
import { type BodyFacts, createRequestReader, type RequestReader } from '../meter/request-reader.ts';
import type { GatewayRequest } from '../protocol/client.ts';
import { headerValue } from '../protocol/headers.ts';

/** What is read of a request's body, on a copy of what goes upstream and never before it has gone. */
export class RequestCopy implements MeteredRequest {
  readonly method: string;
  readonly path: string;
  readonly #contentType: string | undefined;
  #reader: RequestReader | undefined;
  /** The body is sent all at once, and read from what the client sent rather than from what went upstream. */
  #isWhole = false;
  #unread: Buffer | null = null;
  #facts: BodyFacts | undefined;
  /** Bytes that the client sent and that have been sent on. */
  bytes = 0;

  /** @param path as forwarded, without the query */
  constructor({ method, headers }: GatewayRequest, path: string) {
    this.method = method;
    this.path = path;
    this.#contentType = headerValue(headers, 'content-type');
  }

  /** A piece of the body has been sent. */
  sent(chunk: Buffer): void {
    if (this.#isWhole) return;
    this.bytes += chunk.length;
    this.#begun().write(chunk);
  }

  /** All of the body has been sent. */
  ended(): void {
    if (this.#isWhole || !this.#reader) return;
    this.#readerIsDone(this.#reader);
  }

  /** The body is about to be sent, all at once. */
  sending(body: Buffer): void {
    this.#isWhole = true;
    this.bytes = body.length;
    this.#unread = body;
  }

  /** Reads a body that was sent all at once, and keeps nothing but its facts. */
  readSent(): void {
    if (!this.#unread) return;
    const reader = this.#begun();
    reader.write(this.#unread);
    this.#unread = null;
    this.#readerIsDone(reader);
  }

  #readerIsDone(reader: RequestReader): void {
    this.#facts = reader.facts();
    this.#reader = undefined;
  }

  facts(): BodyFacts {
    this.readSent();
    return this.#facts ?? this.#begun().facts();
  }

  #begun(): RequestReader {
    this.#reader ??= createRequestReader(this.#contentType, this.path);
    return this.#reader;
  }
}
