import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { containerEnvironment } from '../lambda/environment.ts';
import { parseGatewayEnvironment } from '../lambda/gateway/environment.ts';
import { createGatewayServer, type GatewayServer } from '../lambda/gateway/hosts/gateway-server.ts';
import { gatewayHttpServer } from '../lambda/gateway/hosts/http-server.ts';

const IDLE_CHECK_MS = 100;

interface ServeOptions {
  readonly gateway: Pick<GatewayServer, 'handle' | 'upgrade' | 'close'>;
  readonly gatewayDomain: string;
  /** 0 for any free port. */
  readonly port: number;
  /** How long open requests may last once the process has to stop. */
  readonly drainMs: number;
  /** How long a connection stays open between two requests. The load balancer must close it first, or a request may meet the end. */
  readonly keepAliveMs?: number | undefined;
}

interface Serving {
  readonly server: Server;
  /** Accepts no more connections, waits for open requests and WebSockets, interrupts those that take too long, and delivers every event. */
  drain(): Promise<void>;
}

/** True for a load balancer's health check, which goes to an address. The gateway itself handles `/health` on its own hosts. */
const isHealthCheck = ({ url, headers: { host = '' } }: IncomingMessage, gatewayDomain: string): boolean =>
  url === '/health' && !host.toLowerCase().replace(/:\d+$/, '').endsWith(`.${gatewayDomain}`);

/** Serves the gateway as one long-running process behind a load balancer that terminates TLS. */
const serve = async ({ gateway, gatewayDomain, port, drainMs, keepAliveMs }: ServeOptions): Promise<Serving> => {
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

/** How often the process logs its open requests, of which CloudWatch makes the metric that tasks are scaled by. */
const OPEN_REQUESTS_INTERVAL_MS = 20_000;

/** The gateway as a container process. It reads GatewayEnvironment, the variables of a container, and AWS's. */
const { PORT, DRAIN_MS, KEEP_ALIVE_MS } = containerEnvironment.parse(process.env);
const { gatewayDomain } = parseGatewayEnvironment(process.env);

// The SDK's provider chain knows every source of a container's credentials and when to renew them.
const { credentials } = new DynamoDBClient({}).config;
const gateway = createGatewayServer(process.env, async () => {
  const { accessKeyId, secretAccessKey, sessionToken } = await credentials();
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
});
const { server, drain } = await serve({
  gateway,
  gatewayDomain,
  port: PORT,
  drainMs: DRAIN_MS,
  keepAliveMs: KEEP_ALIVE_MS,
});
const logOpenRequests = (): void => console.warn(JSON.stringify({ openRequests: gateway.openRequests() }));
logOpenRequests();
setInterval(logOpenRequests, OPEN_REQUESTS_INTERVAL_MS).unref();
console.warn(JSON.stringify({ level: 'INFO', message: 'listening', address: server.address() }));

const stop = async (signal: string): Promise<void> => {
  console.warn(JSON.stringify({ level: 'INFO', message: 'draining', signal }));
  await drain();
  process.exit(0);
};
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => void stop(signal));
