import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { GatewayServer } from '../lambda/gateway/hosts/gateway-server.ts';
import { gatewayHttpServer } from '../lambda/gateway/hosts/http-server.ts';

const IDLE_CHECK_MS = 100;

export interface ServeOptions {
  readonly gateway: GatewayServer;
  readonly gatewayDomain: string;
  /** 0 for any that is free. */
  readonly port: number;
  /** How long requests under way may take to their end once the process is told to stop. */
  readonly drainMs: number;
}

export interface Serving {
  readonly server: Server;
  /** Takes no more connections, lets requests under way end, breaks off those that take too long, and delivers every event. */
  drain(): Promise<void>;
}

/** A load balancer asks by address; on gateway hosts `/health` is the gateway's own. */
const isForUs = ({ url, headers: { host = '' } }: IncomingMessage, gatewayDomain: string): boolean =>
  url === '/health' && !host.toLowerCase().replace(/:\d+$/, '').endsWith(`.${gatewayDomain}`);

/** The gateway as one long-running process behind a load balancer that ends TLS. */
export const serve = async ({ gateway, gatewayDomain, port, drainMs }: ServeOptions): Promise<Serving> => {
  let draining = false;

  const sendHealth = (response: ServerResponse): void => {
    response.writeHead(draining ? 503 : 200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
    response.end(JSON.stringify({ status: draining ? 'draining' : 'ok' }));
  };

  const server = gatewayHttpServer((request, response) => {
    // A connection that stays open for its next request would never end.
    response.shouldKeepAlive &&= !draining;
    if (isForUs(request, gatewayDomain)) sendHealth(response);
    else gateway.handle(request, response);
  });
  server.listen(port);
  await once(server, 'listening');

  return {
    server,
    drain: async () => {
      draining = true;
      const closed = new Promise((resolve) => server.close(resolve));
      // A connection may have promised to stay open before the signal came.
      const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
      const tooLong = setTimeout(() => server.closeAllConnections(), drainMs);
      await closed;
      clearInterval(idle);
      clearTimeout(tooLong);
      await gateway.close();
    },
  };
};
