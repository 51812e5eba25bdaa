import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTable, tableAt } from '../../../fixtures/emulated-table.ts';
import { emulatorVariables } from '../../../fixtures/emulator-client.ts';
import { FINGERPRINT_SECRET, gatewayVariables } from '../../../fixtures/gateway-variables.ts';
import type { Table } from '../../../lambda/data/table/table.ts';
import { startDynamoDb } from '../../../local/emulators/dynamodb.ts';
import { startSecrets } from '../../../local/emulators/secrets.ts';
import { startFaultProxy } from './fault-proxy.ts';
import { waitingInOutbox } from './left-behind.ts';
import { type Part, startPart } from './part.ts';
import { type Provider, startProvider } from './provider.ts';
import { openQueues, type Queues } from './queues.ts';

/** Each in a process of its own, to be killed and started again. */
export const partNames = ['gateway', 'recorder', 'queue', 'table'] as const;
export type PartName = (typeof partNames)[number];

export const FINGERPRINT_KEY = 'fingerprint-key-of-the-process-harness';
const TABLE = 'spend';
const OPEN_EVENT_DELAY_SECONDS = 2;
const MAX_RECEIVE_COUNT = 1_000;

/** The service in processes, with addresses that stay whatever is killed. */
export interface ProcessHarness {
  readonly table: Table;
  readonly queues: Queues;
  readonly provider: Provider;
  readonly dataDir: string;
  /** Where the gateway listens at the moment. */
  gatewayPort(): number;
  gateway(): Part;
  start(name: PartName): Promise<void>;
  kill(name: PartName): Promise<void>;
  /** Calls of the queue so far that AWS charges for: sent, received, deleted. */
  queueCalls(): number;
  /** Messages to the queue so far with several events. */
  sharedMessages(): number;
  /** All that the parts printed, those that were killed included. */
  output(): string;
  waitingInOutbox(): Promise<number>;
  close(): Promise<void>;
}

/** @param batchWindowMs how long the recorder waits for more events than the first ten messages have */
export const openProcessHarness = async ({
  chunkMs = 5,
  visibilitySeconds = 5,
  batchWindowMs = 0,
} = {}): Promise<ProcessHarness> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'parts-'));
  const [toTable, toQueue, provider, secrets] = await Promise.all([
    startFaultProxy('http://127.0.0.1:9'),
    startFaultProxy('http://127.0.0.1:9'),
    startProvider({ chunkMs }),
    startSecrets({ dataDir }),
  ]);
  secrets.ensure({ id: FINGERPRINT_SECRET, value: FINGERPRINT_KEY });
  const parts = new Map<PartName, Pick<Part, 'kill' | 'stop'>>();
  const printed: Part[] = [];
  let gateway: Part | undefined;
  let queueUrl = '';

  const awsVariables = {
    ...emulatorVariables,
    AWS_ENDPOINT_URL_DYNAMODB: toTable.endpoint,
    AWS_ENDPOINT_URL_SQS: toQueue.endpoint,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.endpoint,
    TABLE_NAME: TABLE,
    POWERTOOLS_METRICS_NAMESPACE: 'AiSpendGateway/faults',
  };
  const node = async (name: PartName, env: Readonly<Record<string, string>>): Promise<Part> => {
    const part = await startPart(name, env);
    parts.set(name, part);
    printed.push(part);
    return part;
  };
  const starts: Record<PartName, () => Promise<void>> = {
    table: async () => {
      const emulator = await startDynamoDb({ dataDir });
      parts.set('table', emulator);
      toTable.target = emulator.endpoint;
    },
    queue: async () => {
      const { port } = await node('queue', { DATA_DIR: dataDir });
      toQueue.target = `http://127.0.0.1:${port}`;
    },
    recorder: async () => {
      // No account here has budgets and no message is poison, so nothing is sent to these queues.
      await node('recorder', {
        ...awsVariables,
        USAGE_QUEUE_URL: queueUrl,
        BATCH_WINDOW_MS: String(batchWindowMs),
        JOB_QUEUE_URL: `${queueUrl}-jobs`,
        DEAD_LETTER_QUEUE_URL: `${queueUrl}-dead-letters`,
      });
    },
    gateway: async () => {
      gateway = await node('gateway', {
        ...awsVariables,
        USAGE_QUEUE_URL: queueUrl,
        ...gatewayVariables(provider.origin, OPEN_EVENT_DELAY_SECONDS),
      });
    },
  };

  await starts.table();
  await starts.queue();
  await createTable(toTable.endpoint, TABLE);
  const table = tableAt(toTable.endpoint, TABLE);
  const queues = await openQueues(toQueue.endpoint, { maxReceiveCount: MAX_RECEIVE_COUNT, visibilitySeconds });
  queueUrl = queues.queueUrl;
  await Promise.all([starts.recorder(), starts.gateway()]);

  return {
    table,
    queues,
    provider,
    dataDir,
    gatewayPort: () => gateway?.port ?? 0,
    gateway: () => gateway as Part,
    start: (name) => starts[name](),
    kill: async (name) => parts.get(name)?.kill(),
    queueCalls: () =>
      ['SendMessageBatch', 'ReceiveMessage', 'DeleteMessageBatch'].reduce(
        (sum, name) => sum + (toQueue.calls.get(name) ?? 0),
        0,
      ),
    sharedMessages: () => toQueue.sharedMessages,
    output: () => printed.map((part) => part.output()).join('\n'),
    waitingInOutbox: () => waitingInOutbox(table),
    close: async () => {
      for (const name of partNames) await parts.get(name)?.stop();
      queues.sqs.destroy();
      await Promise.all([toTable.close(), toQueue.close(), provider.close(), secrets.stop()]);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
};
