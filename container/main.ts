import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { z } from 'zod';
import { createGatewayServer } from '../lambda/gateway/hosts/gateway-server.ts';
import { serve } from './serve.ts';

/** How often the process logs its open requests, of which CloudWatch makes the metric that tasks are scaled by. */
const OPEN_REQUESTS_INTERVAL_MS = 20_000;

/**
 * The gateway as a container process. It reads GatewayEnvironment and ContainerEnvironment (lambda/environment.ts), and AWS's variables.
 */
const { PORT, DRAIN_MS, KEEP_ALIVE_MS, GATEWAY_DOMAIN } = z
  .object({
    PORT: z.coerce.number().int().min(0).max(65_535).default(8_080),
    /** Shorter than the orchestrator's time until it kills: at most 120 s on ECS, terminationGracePeriodSeconds on Kubernetes. */
    DRAIN_MS: z.coerce.number().int().min(0).default(110_000),
    KEEP_ALIVE_MS: z.coerce.number().int().min(0).optional(),
    GATEWAY_DOMAIN: z.string().min(1).toLowerCase(),
  })
  .parse(process.env);

// The SDK's provider chain knows every source of a container's credentials and when to renew them.
const { credentials } = new DynamoDBClient({}).config;
const gateway = createGatewayServer(process.env, async () => {
  const { accessKeyId, secretAccessKey, sessionToken } = await credentials();
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
});
const { server, drain } = await serve({
  gateway,
  gatewayDomain: GATEWAY_DOMAIN,
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
