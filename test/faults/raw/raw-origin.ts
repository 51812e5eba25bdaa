import { createServer, type Socket } from 'node:net';
import { listen, portOf } from '../../../fixtures/listen.ts';
import { RequestSplitter, type SplitRequest } from './request-splitter.ts';

/** What a provider does with a connection once a whole request has come. */
type RawScript = (socket: Socket, request: SplitRequest) => void;

/** A provider that speaks whatever bytes its script says, over bare TCP. */
export interface RawOrigin {
  readonly origin: string;
  readonly port: number;
  script: RawScript;
  /** Called with a request's head at once, before its body has come. */
  onHead: (socket: Socket, head: string) => void;
  /** What came, in order, as a server would split it that believes every byte. */
  readonly requests: SplitRequest[];
  /** Connections open at the moment. */
  open(): number;
  dropConnections(): void;
  close(): Promise<void>;
}

export const startRawOrigin = async (): Promise<RawOrigin> => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    const splitter = new RequestSplitter({
      head: (head) => handle.onHead(socket, head),
      request: (request) => {
        handle.requests.push(request);
        handle.script(socket, request);
      },
    });
    socket.on('data', (bytes: Buffer) => splitter.write(bytes.toString('latin1')));
  });
  await listen(server);
  const port = portOf(server);
  const handle: RawOrigin = {
    origin: `http://127.0.0.1:${port}`,
    port,
    script: (socket) => socket.destroy(),
    onHead: () => {},
    requests: [],
    open: () => sockets.size,
    dropConnections: () => {
      for (const socket of sockets) socket.destroy();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  return handle;
};
