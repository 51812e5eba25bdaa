import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

/** What a client sees of one answer. */
export interface Answer {
  readonly status: number;
  readonly statusMessage: string;
  readonly rawHeaders: string[];
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  readonly rawTrailers: string[];
  /** The answer ended as it announced, rather than breaking off. */
  readonly whole: boolean;
  /** When each piece arrived, from the request's start. */
  readonly chunkTimesMs: number[];
  readonly headersMs: number;
}

export interface Ask {
  readonly port: number;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: readonly string[] | Record<string, string>;
  readonly body?: Buffer | string | Readable;
  /** Called with each piece; may destroy the request. */
  readonly onChunk?: (chunk: Buffer, response: IncomingMessage) => void;
  /** Called when the headers are here, before any of the body. */
  readonly onHeaders?: () => void;
  /** Gives up after so long a silence; never unless told. */
  readonly idleTimeoutMs?: number;
}

const agent = new Agent({ keepAlive: false });

/** Sends one request with node:http and gathers everything that comes back. Rejects when no answer comes at all. */
export const ask = ({
  port,
  method = 'GET',
  path = '/',
  headers = {},
  body,
  onChunk,
  onHeaders,
  idleTimeoutMs,
}: Ask): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const startedAt = performance.now();
    let answered = false;
    const outgoing = httpRequest(
      {
        agent,
        host: '127.0.0.1',
        port,
        method,
        path,
        headers: headers as Record<string, string>,
        maxHeaderSize: 256 * 1024,
      },
      (response) => {
        answered = true;
        const headersMs = performance.now() - startedAt;
        onHeaders?.();
        const chunks: Buffer[] = [];
        const chunkTimesMs: number[] = [];
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          chunkTimesMs.push(performance.now() - startedAt);
          onChunk?.(chunk, response);
        });
        response.on('error', () => {});
        response.on('close', () =>
          resolve({
            status: response.statusCode ?? 0,
            statusMessage: response.statusMessage ?? '',
            rawHeaders: response.rawHeaders,
            headers: response.headers,
            body: Buffer.concat(chunks),
            rawTrailers: response.rawTrailers,
            whole: response.complete,
            chunkTimesMs,
            headersMs,
          }),
        );
      },
    );
    // Once an answer has begun, how it ends is part of it.
    outgoing.on('error', (error) => answered || reject(error));
    outgoing.on('close', () => answered || reject(new Error('closed without an answer')));
    if (idleTimeoutMs !== undefined) outgoing.setTimeout(idleTimeoutMs, () => outgoing.destroy());
    if (body === undefined) outgoing.end();
    else if (typeof body === 'string' || Buffer.isBuffer(body)) outgoing.end(body);
    else body.pipe(outgoing);
  });
