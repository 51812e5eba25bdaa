import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { z } from 'zod';
import { createGatewayServer } from '../lambda/gateway/hosts/gateway-server.ts';
import { serve } from './serve.ts';

/**
 * The gateway as a container process. Its variables are those of GatewayEnvironment (lambda/environment.ts), AWS's own, and these two.
 */
const { PORT, DRAIN_MS, GATEWAY_DOMAIN } = z
  .object({
    PORT: z.coerce.number().int().min(0).max(65_535).default(8_080),
    /** Below the time after which the orchestrator kills: 120 s at most on ECS, terminationGracePeriodSeconds on Kubernetes. */
    DRAIN_MS: z.coerce.number().int().min(0).default(110_000),
    GATEWAY_DOMAIN: z.string().min(1).toLowerCase(),
  })
  .parse(process.env);

// The SDK's chain knows every place a container's credentials may come from, and when to ask again.
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
