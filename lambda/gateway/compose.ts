import { cachedAccountLookup, keyReader } from './admission/account-lookup.ts';
import { blockReader, cachedBlockLookup } from './admission/block-lookup.ts';
import { credentialFingerprint } from './admission/fingerprint.ts';
import { cachedValueLookup, valueReader } from './admission/value-lookup.ts';
import { type AwsCredentialsSource, awsCaller, awsService } from './aws/aws-json.ts';
import type { AwsTransport } from './aws/transport.ts';
import { parseGatewayEnvironment } from './environment.ts';
import { createGateway, type Gateway, type GatewayParts } from './gateway.ts';
import type { Reserve } from './relay/reserve.ts';
import { requestIds } from './tracking/request-id.ts';
import { createTracker } from './tracking/tracker.ts';
import { usageQueue, writeToOutbox } from './tracking/usage-queue.ts';
import type { Upstream, UpstreamTimeouts } from './upstream/upstream.ts';

/** The longest that a request waits for the account store. After that it is forwarded unverified and bypassed. */
const ACCOUNT_READ_TIMEOUT_MS = 500;
/*
 * A close event delays no client. On Lambda it occupies its execution environment, and those are limited: for 8.1 s at
 * worst, when neither queue nor table responds.
 */
const QUEUE_TIMEOUT_MS = 2_000;
const TABLE_WRITE_TIMEOUT_MS = 2_000;
const SECRET_TIMEOUT_MS = 3_000;
const CLOSE_EVENT_RETRY_DELAYS_MS = [100];

export interface ComposedGateway {
  readonly gateway: Gateway;
  /** Among them those that the host must drain or close. */
  readonly parts: GatewayParts;
  readonly timeouts: UpstreamTimeouts;
}

interface HostParts {
  /** See upstream/upstream.ts. */
  readonly upstream: (timeouts: UpstreamTimeouts) => Upstream;
  /** See aws/transport.ts. */
  readonly aws: (endpoint: string) => AwsTransport;
  readonly afterResponse: GatewayParts['afterResponse'];
}

/**
 * Builds the gateway with its real parts from environment variables.
 * @param variables usually `process.env`
 * @throws Error that names the missing or wrong variable
 */
export const composeGateway = (
  variables: Readonly<Record<string, string | undefined>>,
  credentials: AwsCredentialsSource,
  host: HostParts,
): ComposedGateway => {
  const settings = parseGatewayEnvironment(variables);
  const caller = (service: Parameters<typeof awsService>[0]) =>
    awsCaller(awsService(service, variables), credentials, host.aws);
  const dynamodb = caller('dynamodb');
  let reserve: Promise<Reserve> | undefined;
  const tracker = createTracker(
    usageQueue(caller('sqs'), settings.usageQueueUrl, QUEUE_TIMEOUT_MS, settings.currentTrace),
    writeToOutbox(dynamodb, settings.tableName, TABLE_WRITE_TIMEOUT_MS),
    { openEventDelaySeconds: settings.openEventDelaySeconds, retryDelaysMs: CLOSE_EVENT_RETRY_DELAYS_MS },
  );
  const parts: GatewayParts = {
    gatewayDomain: settings.gatewayDomain,
    hosts: settings.hosts,
    allowedOrigins: settings.allowedOrigins,
    upstreamOrigins: settings.upstreamOrigins,
    lookUpAccount: cachedAccountLookup(keyReader(dynamodb, settings.tableName, ACCOUNT_READ_TIMEOUT_MS)),
    lookUpBlocks: cachedBlockLookup(blockReader(dynamodb, settings.tableName, ACCOUNT_READ_TIMEOUT_MS)),
    lookUpValue: cachedValueLookup(valueReader(dynamodb, settings.tableName, ACCOUNT_READ_TIMEOUT_MS)),
    fingerprint: credentialFingerprint(caller('secretsmanager'), settings.fingerprintSecretId, SECRET_TIMEOUT_MS),
    tracker,
    upstream: host.upstream(settings),
    afterResponse: host.afterResponse,
    loadReserve: () => {
      reserve ??= import('#reserve').then(({ openReserve }) =>
        openReserve(dynamodb, settings.tableName, TABLE_WRITE_TIMEOUT_MS),
      );
      return reserve;
    },
    newRequestId: requestIds(),
  };
  return { gateway: createGateway(parts), parts, timeouts: settings };
};
