import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen, stopServer, urlOf } from '../../fixtures/listen.ts';

/** One request and its response, as they passed. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly requestHeaders: readonly string[];
  readonly requestBody: Buffer;
  readonly status: number;
  readonly responseHeaders: IncomingMessage['headers'];
  readonly responseBody: Buffer;
}

export interface Recorder {
  readonly url: string;
  readonly exchanges: Exchange[];
  stop(): Promise<void>;
}

const collect = (message: IncomingMessage): Buffer[] => {
  const chunks: Buffer[] = [];
  message.on('data', (chunk: Buffer) => chunks.push(chunk));
  return chunks;
};

/** A proxy on a free port that passes everything on as it comes, to `target`, and keeps a copy. It refuses WebSockets: clients go on over HTTP. */
export const startRecorder = async (target: (path: string) => string): Promise<Recorder> => {
  const exchanges: Exchange[] = [];
  const pass = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.headers.upgrade?.toLowerCase() === 'websocket') {
      response.writeHead(426).end();
      return;
    }
    const requestBody = collect(request);
    const upstream = httpRequest(
      new URL(target(request.url as string)),
      { method: request.method, path: request.url, headers: request.rawHeaders as never, setHost: false },
      (received) => {
        const responseBody = collect(received);
        response.writeHead(received.statusCode as number, received.statusMessage, received.rawHeaders as never);
        response.flushHeaders();
        received.pipe(response);
        received.on('end', () =>
          exchanges.push({
            method: request.method as string,
            path: request.url as string,
            requestHeaders: request.rawHeaders,
            requestBody: Buffer.concat(requestBody),
            status: received.statusCode as number,
            responseHeaders: received.headers,
            responseBody: Buffer.concat(responseBody),
          }),
        );
      },
    );
    upstream.on('error', () => response.destroy());
    response.on('close', () => upstream.destroy());
    request.pipe(upstream);
  };
  const server = createServer(pass);
  await listen(server);
  return {
    url: urlOf(server),
    exchanges,
    stop: async () => {
      await stopServer(server);
    },
  };
};
