import type { GatewayRequest } from './client.ts';
import { headerValue } from './headers.ts';
import type { MeteredRequest } from './meter/meter.ts';
import { createRequestReader, type RequestFacts, type RequestReader } from './meter/request-reader.ts';

/** What is read of a request's body, on a copy of what goes upstream and never before it has gone. */
export class RequestCopy implements MeteredRequest {
  readonly method: string;
  readonly path: string;
  readonly #contentType: string | undefined;
  #reader: RequestReader | undefined;
  #unread: Buffer | null = null;
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
    this.bytes += chunk.length;
    this.#begun().write(chunk);
  }

  /** The body is about to be sent, all at once. */
  sending(body: Buffer): void {
    this.bytes = body.length;
    this.#unread = body;
  }

  /** Reads a body that was sent all at once, and lets go of it. */
  readSent(): void {
    if (this.#unread) this.#begun().write(this.#unread);
    this.#unread = null;
  }

  readonly facts = (): RequestFacts => {
    this.readSent();
    return this.#begun().facts();
  };

  #begun(): RequestReader {
    this.#reader ??= createRequestReader(this.#contentType, this.path);
    return this.#reader;
  }
}
