import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { containerEnvironment } from '../lambda/environment.ts';
import { parseGatewayEnvironment } from '../lambda/gateway/environment.ts';
import { createGatewayServer } from '../lambda/gateway/hosts/gateway-server.ts';
import { closeServer, gatewayHttpServer } from '../lambda/gateway/hosts/http-server.ts';

/*
 * The gateway as one long-running process behind a load balancer that terminates TLS. It reads GatewayEnvironment, the variables of a
 * container, and AWS's.
 */

const { PORT, DRAIN_MS, KEEP_ALIVE_MS } = containerEnvironment.parse(process.env);
const { gatewayDomain } = parseGatewayEnvironment(process.env);

// The SDK's provider chain knows every source of a container's credentials and when to renew them.
const { credentials } = new DynamoDBClient({}).config;
const gateway = createGatewayServer(process.env, async () => {
  const { accessKeyId, secretAccessKey, sessionToken } = await credentials();
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
});

let draining = false;

/** True for a load balancer's health check, which goes to an address. The gateway itself handles `/health` on its own hosts. */
const isHealthCheck = ({ url, headers: { host = '' } }: IncomingMessage): boolean =>
  url === '/health' && !host.toLowerCase().replace(/:\d+$/, '').endsWith(`.${gatewayDomain}`);

const sendHealth = (response: ServerResponse): void => {
  response.writeHead(draining ? 503 : 200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(JSON.stringify({ status: draining ? 'draining' : 'ok' }));
};

const server = gatewayHttpServer(
  (request, response) => {
    // While draining, a connection must not stay open for its next request.
    response.shouldKeepAlive &&= !draining;
    if (isHealthCheck(request)) sendHealth(response);
    else gateway.handle(request, response);
  },
  // The load balancer must close a connection first between two requests, or a request may meet the end.
  KEEP_ALIVE_MS === undefined ? {} : { keepAliveTimeout: KEEP_ALIVE_MS },
  gateway.upgrade,
);
server.listen(PORT);
await once(server, 'listening');

/** How often the process logs its open requests, of which CloudWatch makes the metric that tasks are scaled by. */
const OPEN_REQUESTS_INTERVAL_MS = 20_000;

const logOpenRequests = (): void => console.warn(JSON.stringify({ openRequests: gateway.openRequests() }));
logOpenRequests();
setInterval(logOpenRequests, OPEN_REQUESTS_INTERVAL_MS).unref();
console.warn(JSON.stringify({ level: 'INFO', message: 'listening', address: server.address() }));

const stop = async (signal: string): Promise<void> => {
  console.warn(JSON.stringify({ level: 'INFO', message: 'draining', signal }));
  draining = true;
  await closeServer(server, DRAIN_MS);
  // Delivers every event.
  await gateway.close();
  process.exit(0);
};
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => void stop(signal));
