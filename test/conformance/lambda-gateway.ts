import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { serviceKeyKey } from '../../lambda/data/table/keys.ts';
import { serviceKeyHash } from '../../lambda/domain/accounts/account-key.ts';
import { providerLabels } from '../../lambda/domain/providers.ts';
import type { UsageEvent } from '../../lambda/domain/usage/usage-event.ts';
import type { GatewayEnvironment } from '../../lambda/environment.ts';
import { bundleFunctions } from '../../lib/bundled-functions.ts';
import { startSecrets } from '../../local/emulators/secrets.ts';
import { emulatedTable } from '../data/emulated-table.ts';
import { KEYS } from '../gateway/gateway-host.ts';
import { emulatedQueue } from '../ops/emulated-queue.ts';
import { startApiGateway } from './api-gateway.ts';
import { startRuntimeApi } from './runtime-api.ts';
import { runtimeClient } from './runtime-client.ts';
import { startTcpRelay } from './tcp-relay.ts';

const SECRET_ID = 'fingerprint-key';
/** Far more than it ever takes, on a machine with much else to do. */
const TIMEOUT_MS = 120_000;

const until = async (condition: () => boolean | Promise<boolean>, what: string): Promise<void> => {
  const deadline = Date.now() + TIMEOUT_MS;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Waited in vain: ${what}`);
    await sleep(5);
  }
};

/** The bundled gateway function under Lambda's own runtime, with emulators for what it calls and a fake of API Gateway in front of it. */
export const startLambdaGateway = async (upstreamOrigin: string, timeouts: Partial<GatewayEnvironment> = {}) => {
  const runtimeEntry = runtimeClient();
  const outdir = await mkdtemp(join(tmpdir(), 'conformance-'));
  const [gateway] = bundleFunctions(outdir, 'gateway');
  if (!gateway) throw new Error('The stack of the gateway has no function.');

  const table = await emulatedTable();
  const queues = await emulatedQueue();
  const secrets = await startSecrets({ dataDir: outdir });
  secrets.ensure({ id: SECRET_ID });
  for (const [serviceKey, accountStatus] of [
    [KEYS.active, 'active'],
    [KEYS.inactive, 'suspended'],
  ] as const) {
    const Item = {
      ...serviceKeyKey(serviceKeyHash(serviceKey)),
      accountId: serviceKey,
      keyId: 'key-1',
      keyStatus: 'active',
      accountStatus,
    };
    await table.client.send(new PutCommand({ TableName: table.name, Item }));
  }
  const relays = {
    dynamodb: await startTcpRelay(Number(new URL(table.endpoint).port)),
    sqs: await startTcpRelay(Number(new URL(queues.endpoint).port)),
  };

  const environment = {
    TABLE_NAME: table.name,
    USAGE_QUEUE_URL: queues.queue,
    GATEWAY_DOMAIN: 'gateway.test',
    FINGERPRINT_SECRET_ID: SECRET_ID,
    OPEN_EVENT_DELAY_SECONDS: '0',
    CONNECT_TIMEOUT_MS: '10000',
    HEADERS_TIMEOUT_MS: '600000',
    IDLE_TIMEOUT_MS: '300000',
    UPSTREAM_ORIGINS: JSON.stringify(Object.fromEntries(providerLabels.map((label) => [label, upstreamOrigin]))),
    ...timeouts,
  } satisfies GatewayEnvironment;

  const runtime = await startRuntimeApi();
  const front = await startApiGateway(runtime);
  const lambda = spawn(process.execPath, [runtimeEntry], {
    env: {
      ...gateway.environment,
      ...environment,
      AWS_LAMBDA_RUNTIME_API: runtime.address,
      LAMBDA_TASK_ROOT: dirname(gateway.file),
      _HANDLER: `${basename(gateway.file).split('.')[0]}.handler`,
      AWS_LAMBDA_FUNCTION_NAME: 'gateway',
      AWS_LAMBDA_FUNCTION_VERSION: '1',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(gateway.memoryMb),
      AWS_LAMBDA_LOG_GROUP_NAME: 'gateway',
      AWS_LAMBDA_LOG_STREAM_NAME: '1',
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_ENDPOINT_URL_DYNAMODB: relays.dynamodb.endpoint,
      AWS_ENDPOINT_URL_SQS: relays.sqs.endpoint,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.endpoint,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const stream of [lambda.stdout, lambda.stderr])
    stream.on('data', (text: Buffer) => {
      log += text.toString();
    });
  const exited = new Promise<void>((resolve) => lambda.once('exit', () => resolve()));
  const initialised = () => {
    if (runtime.initError() !== undefined || lambda.exitCode !== null)
      throw new Error(`The function did not start: ${runtime.initError() ?? ''}\n${log}`);
    return runtime.isIdle();
  };
  await until(initialised, `the function's start\n${log}`);

  const events: UsageEvent[] = [];
  const takeEvents = async (): Promise<number> => {
    events.push(...(await queues.bodies(queues.queue)).map((body) => JSON.parse(body) as UsageEvent));
    return events.length;
  };
  return {
    port: front.port,
    /** Of the process that runs the function. */
    pid: lambda.pid ?? 0,
    relays,
    log: () => log,
    /** Ended: on Lambda that would have been a crash. */
    hasEnded: () => lambda.exitCode !== null || lambda.signalCode !== null,
    /** The runtime has asked for the next event: nothing of the last one is left to do. */
    idle: () => until(() => runtime.isIdle(), 'the end of an invocation'),
    /** Nothing runs until `thaw`, as between two invocations. */
    freeze: () => lambda.kill('SIGSTOP'),
    thaw: () => lambda.kill('SIGCONT'),
    /** How many events have come to the queue by now. */
    takeEvents,
    /** More than this have come. */
    moreEventsThan: (count: number) => until(async () => (await takeEvents()) > count, 'an event on the queue'),
    eventsOf: async (requestId: string): Promise<UsageEvent[]> => {
      await until(() => runtime.isIdle(), 'the end of an invocation');
      await takeEvents();
      return events.filter((event) => event.requestId === requestId);
    },
    stop: async (): Promise<void> => {
      lambda.kill('SIGCONT');
      lambda.kill('SIGKILL');
      await exited;
      await front.stop();
      await runtime.stop();
      await Promise.all(Object.values(relays).map((relay) => relay.stop()));
      await secrets.stop();
      await queues.stop();
      await table.stop();
      await rm(outdir, { recursive: true, force: true });
    },
  };
};

export type LambdaGateway = Awaited<ReturnType<typeof startLambdaGateway>>;
