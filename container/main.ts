import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { z } from 'zod';
import { createGatewayServer } from '../lambda/gateway/hosts/gateway-server.ts';
import { serve } from './serve.ts';

/**
 * The gateway as a container process. It reads GatewayEnvironment (lambda/environment.ts), AWS's variables, and these:
 */
const { PORT, DRAIN_MS, GATEWAY_DOMAIN } = z
  .object({
    PORT: z.coerce.number().int().min(0).max(65_535).default(8_080),
    /** Shorter than the orchestrator's time until it kills: at most 120 s on ECS, terminationGracePeriodSeconds on Kubernetes. */
    DRAIN_MS: z.coerce.number().int().min(0).default(110_000),
    GATEWAY_DOMAIN: z.string().min(1).toLowerCase(),
  })
  .parse(process.env);

// The SDK's provider chain knows every source of a container's credentials and when to renew them.
const { credentials } = new DynamoDBClient({}).config;
const gateway = createGatewayServer(process.env, async () => {
  const { accessKeyId, secretAccessKey, sessionToken } = await credentials();
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
});
const { server, drain } = await serve({ gateway, gatewayDomain: GATEWAY_DOMAIN, port: PORT, drainMs: DRAIN_MS });
console.warn(JSON.stringify({ level: 'INFO', message: 'listening', address: server.address() }));

const stop = async (signal: string): Promise<void> => {
  console.warn(JSON.stringify({ level: 'INFO', message: 'draining', signal }));
  await drain();
  process.exit(0);
};
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => void stop(signal));
