import { setTimeout as sleep } from 'node:timers/promises';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { openOutbox } from '../../../lambda/data/ledger/outbox.ts';
import type { Table } from '../../../lambda/data/table/table.ts';
import { consumeMessages } from '../../../lambda/usage-recorder/consume-messages.ts';
import { openRecorder } from '../../../lambda/usage-recorder/recorder.ts';
import { sweepOutbox } from '../../../lambda/usage-recorder/sweep/sweep-outbox.ts';
import { pollQueue } from '../../../local/host/sources/sqs-poller.ts';
import type { Queues } from './queues.ts';

export interface WorkingRecorder {
  /** Structured log lines so far. */
  readonly lines: string[];
  stop(): Promise<void>;
}

const SWEEP_PAUSE_MS = 200;
const BATCH_SIZE = 50;
const CONCURRENCY = 2;

/** The recorder and the sweep over a queue and a table, in this process: what Lambda's event source and schedule drive on AWS. */
export const startRecorder = (
  table: Table,
  { sqs, queueUrl, queueArn, deadLetterUrl }: Pick<Queues, 'sqs' | 'queueUrl' | 'queueArn' | 'deadLetterUrl'>,
): WorkingRecorder => {
  const lines: string[] = [];
  const log = (message: unknown, ...more: unknown[]) => void lines.push(JSON.stringify({ message, more }));
  const parts = {
    record: openRecorder(table, { logger: { error: log } }),
    logger: { error: log, warn: log },
    metrics: { addMetric: () => {} },
  };
  const giveUp = async (text: string) =>
    String((await sqs.send(new SendMessageCommand({ QueueUrl: deadLetterUrl, MessageBody: text }))).MessageId);
  const consume = consumeMessages({ ...parts, giveUp });
  const poller = pollQueue({
    sqs,
    queueUrl,
    queueArn,
    batchSize: BATCH_SIZE,
    windowMs: 0,
    concurrency: CONCURRENCY,
    invoke: consume,
  });
  const sweep = sweepOutbox({ ...parts, outbox: openOutbox(table), now: Date.now });
  let stopped = false;
  const sweeping = (async () => {
    while (!stopped) {
      await sweep(() => 60_000).catch(log);
      await sleep(SWEEP_PAUSE_MS);
    }
  })();
  return {
    lines,
    stop: async () => {
      stopped = true;
      await Promise.all([poller.stop(), sweeping]);
    },
  };
};
