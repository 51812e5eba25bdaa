import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as the origin received it. */
interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: string[];
  readonly body: Buffer;
  /** The body arrived whole. */
  readonly complete: boolean;
}

export type Script = (request: IncomingMessage, response: ServerResponse) => void;

/** A fake provider that follows its script and keeps the requests it received. */
export interface ScriptedOrigin {
  readonly origin: string;
  readonly received: ReceivedRequest[];
  script: Script;
  close(): Promise<void>;
}

export const startScriptedOrigin = async (): Promise<ScriptedOrigin> => {
  const received: ReceivedRequest[] = [];
  const server: Server = createServer({ maxHeaderSize: 256 * 1024 }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    const keep = (): void => {
      received.push({
        method: request.method ?? '',
        url: request.url ?? '',
        rawHeaders: request.rawHeaders,
        body: Buffer.concat(chunks),
        complete: request.complete,
      });
    };
    request.once('close', keep);
    request.on('error', () => {});
    response.sendDate = false;
    handle.script(request, response);
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const handle: ScriptedOrigin = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    script: (_request, response) => response.end(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return handle;
};
