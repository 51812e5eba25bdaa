import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from 'uuidv7';
import { emulatedTable, tableAt } from '../../../fixtures/emulated-table.ts';
import { emulatorVariables } from '../../../fixtures/emulator-client.ts';
import { FINGERPRINT_SECRET, gatewayVariables } from '../../../fixtures/gateway-variables.ts';
import { listen, portOf, stopServer } from '../../../fixtures/listen.ts';
import type { Table } from '../../../lambda/data/table/table.ts';
import { hostsByLabel, NO_HOSTS } from '../../../lambda/domain/hosts.ts';
import { cachedAccountLookup, keyReader } from '../../../lambda/gateway/admission/account-lookup.ts';
import { blockReader, cachedBlockLookup } from '../../../lambda/gateway/admission/block-lookup.ts';
import { cachedValueLookup, valueReader } from '../../../lambda/gateway/admission/value-lookup.ts';
import { awsCaller, awsService, environmentCredentials } from '../../../lambda/gateway/aws/aws-json.ts';
import { undiciTransport } from '../../../lambda/gateway/aws/transport-undici.ts';
import { createGateway } from '../../../lambda/gateway/gateway.ts';
import {
  afterResponses,
  createGatewayServer,
  type GatewayServer,
  serveGateway,
} from '../../../lambda/gateway/hosts/gateway-server.ts';
import { gatewayHttpServer } from '../../../lambda/gateway/hosts/http-server.ts';
import { openReserve } from '../../../lambda/gateway/relay/reserve.ts';
import { createTracker } from '../../../lambda/gateway/tracking/tracker.ts';
import type { UndeliveredSettings } from '../../../lambda/gateway/tracking/undelivered.ts';
import { usageQueue, writeToOutbox } from '../../../lambda/gateway/tracking/usage-queue.ts';
import { undiciUpstream } from '../../../lambda/gateway/upstream/upstream-undici.ts';
import { startSecrets } from '../../../local/emulators/secrets.ts';
import { startSqs } from '../../../local/emulators/sqs.ts';
import { newAccount } from '../../data/new-account.ts';
import { captureConsole } from '../captured-console.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { waitingInOutbox } from './left-behind.ts';
import { type Provider, startProvider } from './provider.ts';
import { openQueues, type Queues } from './queues.ts';
import type { Sent } from './traffic.ts';
import { startRecorder, type WorkingRecorder } from './working-recorder.ts';

const OPEN_EVENT_DELAY_SECONDS = 1;
/** As often as it takes: the recorder may be without its table for longer than on AWS five deliveries last. */
const MAX_RECEIVE_COUNT = 1_000;

/** A gateway of its own, cold, behind fault proxies of its own. */
export interface FaultyGateway {
  readonly port: number;
  readonly table: FaultProxy;
  readonly queue: FaultProxy;
  readonly secrets: FaultProxy;
  close(): Promise<void>;
}

/** Emulators, a provider and a recorder; gateways over them as many as needed. */
export interface StorageHarness {
  readonly table: Table;
  readonly queues: Queues;
  readonly provider: Provider;
  readonly recorder: WorkingRecorder;
  /** What was sent so far, by account, for a last look. */
  readonly seen: { readonly accountId: string; readonly sent: readonly Sent[] }[];
  /** What the gateways logged. */
  readonly logged: readonly string[];
  readonly dataDir: string;
  /** Between the recorder and the table. */
  readonly recorderTable: FaultProxy;
  /** @param undelivered limits of the gateway's memory, instead of its own */
  startGateway(undelivered?: UndeliveredSettings): Promise<FaultyGateway>;
  newAccount(): ReturnType<typeof newAccount>;
  waitingInOutbox(): Promise<number>;
  close(): Promise<void>;
}

const withLimits = (
  variables: Record<string, string>,
  provider: Provider,
  queueUrl: string,
  undelivered: UndeliveredSettings,
): Pick<GatewayServer, 'handle' | 'close'> => {
  const caller = (service: 'dynamodb' | 'sqs') =>
    awsCaller(awsService(service, variables), environmentCredentials(variables), undiciTransport);
  const dynamodb = caller('dynamodb');
  const tracker = createTracker(usageQueue(caller('sqs'), queueUrl, 2_000), writeToOutbox(dynamodb, 'spend', 2_000), {
    openEventDelaySeconds: OPEN_EVENT_DELAY_SECONDS,
    retryDelaysMs: [100],
    undelivered,
  });
  const upstream = undiciUpstream({ connectTimeoutMs: 60_000, headersTimeoutMs: 60_000, idleTimeoutMs: 60_000 });
  const gateway = createGateway({
    gatewayDomain: 'gateway.test',
    hosts: hostsByLabel(NO_HOSTS),
    allowedOrigins: new Set(),
    upstreamOrigins: new Map([['openai', provider.origin]]),
    lookUpAccount: cachedAccountLookup(keyReader(dynamodb, 'spend', 500)),
    lookUpBlocks: cachedBlockLookup(blockReader(dynamodb, 'spend', 500)),
    lookUpValue: cachedValueLookup(valueReader(dynamodb, 'spend', 500)),
    fingerprint: () => 'f00d',
    tracker,
    upstream,
    loadReserve: async () => openReserve(dynamodb, 'spend', 500),
    afterResponse: afterResponses(),
    newRequestId: uuidv7,
  });
  return {
    handle: (request, response) => serveGateway(gateway, request, response),
    close: async () => {
      await tracker.drain();
      upstream.close();
    },
  };
};

export const openStorageHarness = async (): Promise<StorageHarness> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'faults-'));
  const captured = captureConsole();
  const [table, sqs, secrets, provider] = await Promise.all([
    emulatedTable(),
    startSqs({ dataDir }),
    startSecrets({ dataDir }),
    startProvider(),
  ]);
  secrets.ensure({ id: FINGERPRINT_SECRET, value: 'a key for fingerprints, of no other use' });
  const queues = await openQueues(sqs.endpoint, { maxReceiveCount: MAX_RECEIVE_COUNT, visibilitySeconds: 5 });
  const recorderTable = await startFaultProxy(table.endpoint);
  const recorder = startRecorder(tableAt(recorderTable.endpoint, table.name), queues);

  return {
    table,
    queues,
    provider,
    recorder,
    seen: [],
    logged: captured.lines,
    dataDir,
    recorderTable,
    startGateway: async (undelivered) => {
      const proxies = await Promise.all([table.endpoint, sqs.endpoint, secrets.endpoint].map(startFaultProxy));
      const [toTable, toQueue, toSecrets] = proxies as [FaultProxy, FaultProxy, FaultProxy];
      const variables = {
        ...emulatorVariables,
        AWS_ENDPOINT_URL_DYNAMODB: toTable.endpoint,
        AWS_ENDPOINT_URL_SQS: toQueue.endpoint,
        AWS_ENDPOINT_URL_SECRETS_MANAGER: toSecrets.endpoint,
        TABLE_NAME: table.name,
        USAGE_QUEUE_URL: queues.queueUrl,
        ...gatewayVariables(provider.origin, OPEN_EVENT_DELAY_SECONDS),
      };
      const gateway = undelivered
        ? withLimits(variables, provider, queues.queueUrl, undelivered)
        : createGatewayServer(variables);
      const server = gatewayHttpServer(gateway.handle);
      await listen(server);
      return {
        port: portOf(server),
        table: toTable,
        queue: toQueue,
        secrets: toSecrets,
        close: async () => {
          await stopServer(server);
          await gateway.close();
          await Promise.all(proxies.map((proxy) => proxy.close()));
        },
      };
    },
    newAccount: () => newAccount(table),
    waitingInOutbox: () => waitingInOutbox(table),
    close: async () => {
      await recorder.stop();
      await recorderTable.close();
      queues.sqs.destroy();
      await Promise.all([provider.close(), secrets.stop(), sqs.stop(), table.stop()]);
      await rm(dataDir, { recursive: true, force: true });
      captured.restore();
    },
  };
};
