import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

/** What a client sees of one response. */
export interface ReceivedResponse {
  readonly status: number;
  readonly statusMessage: string;
  readonly rawHeaders: string[];
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  readonly rawTrailers: string[];
  /** The response ended as announced and was not interrupted. */
  readonly whole: boolean;
  /** When each chunk arrived, from the request's start. */
  readonly chunkTimesMs: number[];
  readonly headersMs: number;
}

export interface Ask {
  readonly port: number;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: readonly string[] | Record<string, string>;
  readonly body?: Buffer | string | Readable;
  /** Called with each chunk; may destroy the request. */
  readonly onChunk?: (chunk: Buffer, response: IncomingMessage) => void;
  /** Called when the headers arrive, before the body. */
  readonly onHeaders?: () => void;
  /** Gives up after this long without data. Waits forever by default. */
  readonly idleTimeoutMs?: number;
}

const agent = new Agent({ keepAlive: false });

/** Sends one request with node:http and collects the whole response. Rejects if there is none. */
export const ask = ({
  port,
  method = 'GET',
  path = '/',
  headers = {},
  body,
  onChunk,
  onHeaders,
  idleTimeoutMs,
}: Ask): Promise<ReceivedResponse> =>
  new Promise((resolve, reject) => {
    const startedAt = performance.now();
    let hasResponse = false;
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
        hasResponse = true;
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
    // After the response has begun, its end is part of the result.
    outgoing.on('error', (error) => hasResponse || reject(error));
    outgoing.on('close', () => hasResponse || reject(new Error('closed without a response')));
    if (idleTimeoutMs !== undefined) outgoing.setTimeout(idleTimeoutMs, () => outgoing.destroy());
    if (body === undefined) outgoing.end();
    else if (typeof body === 'string' || Buffer.isBuffer(body)) outgoing.end(body);
    else body.pipe(outgoing);
  });
