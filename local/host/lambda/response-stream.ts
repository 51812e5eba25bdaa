import { Writable } from 'node:stream';

/** Lambda's own `HttpResponseStream` puts this between the metadata and the body. */
export const METADATA_END = new Uint8Array(8);

type Send = (chunk: Uint8Array, sent: () => void) => void;

/** The stream a streaming handler writes to. Metadata, where the handler gives any, goes out before the first bytes. */
class ResponseStream extends Writable {
  metadata: Uint8Array | undefined;
  readonly #send: Send;

  constructor(send: Send) {
    super({ decodeStrings: true });
    this.#send = send;
  }

  #sendWithMetadata(chunk: Uint8Array, sent: () => void): void {
    const bytes = this.metadata ? Buffer.concat([this.metadata, METADATA_END, chunk]) : chunk;
    this.metadata = undefined;
    this.#send(bytes, sent);
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#sendWithMetadata(chunk, done);
  }

  /** Bytes that have gathered while the last chunk was on its way go out as one. */
  override _writev(chunks: { readonly chunk: Buffer }[], done: () => void): void {
    this.#sendWithMetadata(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: () => void): void {
    if (this.metadata) this.#sendWithMetadata(new Uint8Array(), done);
    else done();
  }

  /** API Gateway reads the content type from the metadata. */
  setContentType(): void {}
}

type Handler = (...args: never[]) => unknown;

/**
 * Gives this thread the global `awslambda` of the Node runtimes, by which handlers say that they stream.
 *
 * @returns whether a handler is one of those
 */
export const installStreaming = (): ((handler: Handler) => boolean) => {
  const streaming = new WeakSet<Handler>();
  const awslambda = {
    streamifyResponse: <H extends Handler>(handler: H): H => {
      streaming.add(handler);
      return handler;
    },
    HttpResponseStream: {
      from: (stream: ResponseStream, metadata: object): ResponseStream => {
        stream.metadata = Buffer.from(JSON.stringify(metadata));
        return stream;
      },
    },
  };
  Object.assign(globalThis, { awslambda });
  return (handler) => streaming.has(handler);
};

/** @param send passes bytes on, and calls back when there is room for more */
export const responseStream = (send: Send): Writable => new ResponseStream(send);
