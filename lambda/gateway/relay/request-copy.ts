import { type BodyDecoder, decoderFor } from '../meter/decoder.ts';
import type { MeteredRequest } from '../meter/meter.ts';
import { type BodyFacts, createRequestReader, type RequestReader } from '../meter/request-reader.ts';
import type { GatewayRequest } from '../protocol/client.ts';
import { headerValue } from '../protocol/headers.ts';
import { writeInSlices } from './in-slices.ts';

/** Limit of a decoded body: more than any provider takes, and soon reached by a bomb. */
const MAX_DECODED_BYTES = 64 * 2 ** 20;

/**
 * Reads the facts of a request's body from a copy, and only where budgets or access rules wait for them before the bytes have been sent
 * upstream.
 */
export class RequestCopy implements MeteredRequest {
  readonly method: string;
  readonly path: string;
  readonly #contentType: string | undefined;
  readonly #contentEncoding: string | undefined;
  #reader: RequestReader | undefined;
  /** Set for a compressed body. */
  #decoder: BodyDecoder | undefined;
  /** The body is sent whole. The client's bytes are read then, not those sent upstream, which may have an option more. */
  #isWhole = false;
  #unread: Buffer | null = null;
  /** A large body is being read. */
  #reading: Promise<void> | undefined;
  #facts: BodyFacts | Promise<BodyFacts> | undefined;
  /** Bytes of the client's body that were sent upstream. */
  bytes = 0;

  /** @param path as forwarded, without the query */
  constructor({ method, headers }: GatewayRequest, path: string) {
    this.method = method;
    this.path = path;
    this.#contentType = headerValue(headers, 'content-type');
    this.#contentEncoding = headerValue(headers, 'content-encoding');
  }

  /** The body is not compressed. */
  get isPlain(): boolean {
    return this.#contentEncoding === undefined;
  }

  /** Reads a chunk that was sent. */
  read(chunk: Buffer): void {
    if (this.#isWhole) return;
    this.bytes += chunk.length;
    this.#write(this.#openReader(), chunk);
  }

  #write(reader: RequestReader, chunk: Buffer): void {
    if (this.#contentEncoding === undefined) {
      reader.write(chunk);
      return;
    }
    this.#decoder ??= decoderFor(this.#contentEncoding, (decoded) => reader.write(decoded), MAX_DECODED_BYTES);
    this.#decoder.write(chunk);
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

  /**
   * Reads the kept body, in slices if it is large, and then releases it.
   *
   * @returns undefined where it has been read
   */
  readWhole(): Promise<void> | undefined {
    const body = this.#unread;
    if (!body) return this.#reading;
    this.#unread = null;
    const reader = this.#openReader();
    const reading = writeInSlices(body, (slice) => this.#write(reader, slice));
    if (!reading) {
      this.#keepFacts(reader);
      return undefined;
    }
    const markIncomplete = (): void => reader.facts().prompt.markIncomplete();
    this.#reading = reading.catch(markIncomplete).then(() => {
      this.#reading = undefined;
      this.#keepFacts(reader);
    });
    return this.#reading;
  }

  #keepFacts(reader: RequestReader): void {
    this.#facts = this.#decoder ? decodedFacts(this.#decoder, reader) : reader.facts();
    this.#reader = undefined;
    this.#decoder = undefined;
  }

  facts(): BodyFacts | Promise<BodyFacts> {
    const reading = this.readWhole();
    if (reading) return reading.then(() => this.facts());
    if (!this.#facts) this.#keepFacts(this.#openReader());
    return this.#facts as BodyFacts | Promise<BodyFacts>;
  }

  #openReader(): RequestReader {
    this.#reader ??= createRequestReader(this.#contentType, this.path);
    return this.#reader;
  }
}

const decodedFacts = async (decoder: BodyDecoder, reader: RequestReader): Promise<BodyFacts> => {
  const isDecoded = await decoder.end();
  const facts = reader.facts();
  if (!isDecoded) facts.prompt.markIncomplete();
  return facts;
};
