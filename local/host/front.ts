import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { closeServer, gatewayHttpServer } from '../../lambda/gateway/hosts/http-server.ts';
import { providerInPath } from '../../lambda/gateway/protocol/target.ts';
import { SetupError } from '../setup-error.ts';

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** `/gateway/{label}/…`: the label and the rest of the path. */
type Override = ReturnType<typeof providerInPath>;

/** The servers behind the one port. */
interface FrontRoutes {
  /** A provider's host, or a path that names it. */
  readonly gateway: (request: IncomingMessage, response: ServerResponse, override?: Override) => void;
  /** A WebSocket's handshake, by the same host or path. */
  readonly upgrade: (request: IncomingMessage, socket: Socket, head: Buffer, override?: Override) => void;
  readonly dashboard: Listener;
  readonly index: Listener;
}

const isGatewayHost = (host: string | undefined): boolean => /\.localhost(:\d+)?$/i.test(host ?? '');

/** Sends each request to the gateway (by host or by path), the dashboard API, or the index. */
export const dispatch = (routes: FrontRoutes, request: IncomingMessage, response: ServerResponse): void => {
  const target = request.url ?? '/';
  const override = providerInPath(target);
  if (isGatewayHost(request.headers.host)) routes.gateway(request, response);
  else if (override) routes.gateway(request, response, override);
  else if (/^\/(api|\.well-known)(\/|\?|$)/.test(target)) routes.dashboard(request, response);
  else routes.index(request, response);
};

const listen = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new SetupError(`Port ${port} is in use: choose another with --port, or 0 for a free one.`)
          : error,
      ),
    );
    server.listen(port, '127.0.0.1', resolve);
  });

/**
 * Takes the port at once, so that a busy one is known before anything is started.
 *
 * @param port 0 for a free one
 * @throws SetupError where something else listens on it
 */
export const openFront = async (port: number) => {
  let routes: FrontRoutes | undefined;
  const server = gatewayHttpServer(
    (request, response) => {
      if (routes) dispatch(routes, request, response);
      else response.writeHead(503, { 'retry-after': '1' }).end('The stack is starting.\n');
    },
    {},
    (request, socket, head) => {
      if (!routes) socket.destroy();
      else if (isGatewayHost(request.headers.host)) routes.upgrade(request, socket, head);
      else routes.upgrade(request, socket, head, providerInPath(request.url ?? '/'));
    },
  );
  await listen(server, port);
  return {
    port: (server.address() as AddressInfo).port,
    /** Until then every request gets 503. */
    open(opened: FrontRoutes): void {
      routes = opened;
    },
    /** Stops listening and waits for requests in flight; what is still there after the grace is cut off. */
    close: (graceMs: number): Promise<void> => closeServer(server, graceMs),
  };
};

export type Front = Awaited<ReturnType<typeof openFront>>;
