import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { containerEnvironment } from '../lambda/environment.ts';
import { parseGatewayEnvironment } from '../lambda/gateway/environment.ts';
import { createGatewayServer } from '../lambda/gateway/hosts/gateway-server.ts';
import { serve } from './serve.ts';

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
