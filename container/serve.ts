import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { GatewayServer } from '../lambda/gateway/hosts/gateway-server.ts';
import { gatewayHttpServer } from '../lambda/gateway/hosts/http-server.ts';

const IDLE_CHECK_MS = 100;

export interface ServeOptions {
  readonly gateway: Pick<GatewayServer, 'handle' | 'upgrade' | 'close'>;
  readonly gatewayDomain: string;
  /** 0 for any free port. */
  readonly port: number;
  /** How long open requests may last once the process has to stop. */
  readonly drainMs: number;
  /** How long a connection stays open between two requests. The load balancer must close it first, or a request may meet the end. */
  readonly keepAliveMs?: number | undefined;
}

export interface Serving {
  readonly server: Server;
  /** Accepts no more connections, waits for open requests and WebSockets, interrupts those that take too long, and delivers every event. */
  drain(): Promise<void>;
}

/** True for a load balancer's health check, which goes to an address. The gateway itself handles `/health` on its own hosts. */
const isHealthCheck = ({ url, headers: { host = '' } }: IncomingMessage, gatewayDomain: string): boolean =>
  url === '/health' && !host.toLowerCase().replace(/:\d+$/, '').endsWith(`.${gatewayDomain}`);

/** Serves the gateway as one long-running process behind a load balancer that terminates TLS. */
export const serve = async ({ gateway, gatewayDomain, port, drainMs, keepAliveMs }: ServeOptions): Promise<Serving> => {
  let draining = false;

  const sendHealth = (response: ServerResponse): void => {
    response.writeHead(draining ? 503 : 200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
    response.end(JSON.stringify({ status: draining ? 'draining' : 'ok' }));
  };

  const server = gatewayHttpServer(
    (request, response) => {
      // While draining, a connection must not stay open for its next request.
      response.shouldKeepAlive &&= !draining;
      if (isHealthCheck(request, gatewayDomain)) sendHealth(response);
      else gateway.handle(request, response);
    },
    keepAliveMs === undefined ? {} : { keepAliveTimeout: keepAliveMs },
    gateway.upgrade,
  );
  server.listen(port);
  await once(server, 'listening');

  return {
    server,
    drain: async () => {
      draining = true;
      const closed = new Promise((resolve) => server.close(resolve));
      // A response sent before the signal may have kept its connection open.
      const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
      const tooLong = setTimeout(() => server.closeAllConnections(), drainMs);
      await closed;
      clearInterval(idle);
      clearTimeout(tooLong);
      await gateway.close();
    },
  };
};
