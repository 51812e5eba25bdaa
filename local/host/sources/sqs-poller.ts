import { setTimeout as delay } from 'node:timers/promises';
import { DeleteMessageBatchCommand, type Message, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { LOCAL_REGION } from '../../emulators/cognito.ts';
import { succeeded } from './batch-outcome.ts';

/** A running event source. `stop` lets the batch in work finish. */
export interface Poller {
  stop(): Promise<void>;
}

export interface QueuePollerOptions {
  readonly sqs: SQSClient;
  readonly queueUrl: string;
  readonly queueArn: string;
  readonly batchSize: number;
  /** How long a batch may wait to fill up, from its first message. */
  readonly windowMs: number;
  readonly reportsItemFailures: boolean;
  /** Batches in work at a time. */
  readonly concurrency: number;
  readonly invoke: (event: SQSEvent) => Promise<unknown>;
}

/** Limits of the SQS API. */
const MAX_MESSAGES_PER_CALL = 10;
const LONG_POLL_SECONDS = 20;
const RETRY_MS = 1_000;

const record = (message: Message, queueArn: string): SQSRecord => ({
  messageId: message.MessageId ?? '',
  receiptHandle: message.ReceiptHandle ?? '',
  body: message.Body ?? '',
  attributes: {
    ApproximateReceiveCount: message.Attributes?.ApproximateReceiveCount ?? '1',
    SentTimestamp: message.Attributes?.SentTimestamp ?? '',
    SenderId: message.Attributes?.SenderId ?? '',
    ApproximateFirstReceiveTimestamp: message.Attributes?.ApproximateFirstReceiveTimestamp ?? '',
  },
  messageAttributes: {},
  md5OfBody: message.MD5OfBody ?? '',
  eventSource: 'aws:sqs',
  eventSourceARN: queueArn,
  awsRegion: LOCAL_REGION,
});

/** Polls a queue and invokes a function with its messages, as a Lambda event source mapping does. */
export const pollQueue = (options: QueuePollerOptions): Poller => {
  const { sqs, queueUrl, queueArn, batchSize, windowMs } = options;
  const stopping = new AbortController();

  const receive = async (count: number, waitSeconds: number): Promise<Message[]> => {
    const { Messages } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: queueUrl,
        MaxNumberOfMessages: Math.min(count, MAX_MESSAGES_PER_CALL),
        WaitTimeSeconds: waitSeconds,
        MessageSystemAttributeNames: ['All'],
      }),
      { abortSignal: stopping.signal },
    );
    return Messages ?? [];
  };

  const nextBatch = async (): Promise<Message[]> => {
    const batch = await receive(batchSize, LONG_POLL_SECONDS);
    const closesAt = Date.now() + windowMs;
    while (windowMs > 0 && batch.length > 0 && batch.length < batchSize && !stopping.signal.aborted) {
      const remainingMs = Math.max(0, closesAt - Date.now());
      // Long polls are in whole seconds: the rest of the window is slept through, and what has come by then still joins.
      const wholeSeconds = Math.min(Math.floor(remainingMs / 1000), LONG_POLL_SECONDS);
      if (wholeSeconds === 0) await delay(remainingMs, undefined, { signal: stopping.signal }).catch(() => {});
      const more = await receive(batchSize - batch.length, wholeSeconds).catch(() => []);
      batch.push(...more);
      if (wholeSeconds === 0 && more.length < MAX_MESSAGES_PER_CALL) break;
    }
    return batch;
  };

  const remove = async (batch: readonly Message[]): Promise<void> => {
    for (let from = 0; from < batch.length; from += MAX_MESSAGES_PER_CALL) {
      const Entries = batch
        .slice(from, from + MAX_MESSAGES_PER_CALL)
        .map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
      await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
    }
  };

  const work = async (batch: readonly Message[]): Promise<void> => {
    const response = await options.invoke({ Records: batch.map((message) => record(message, queueArn)) });
    const ids = batch.map(({ MessageId }) => MessageId ?? '');
    const done = new Set(succeeded(ids, response, options.reportsItemFailures));
    await remove(batch.filter(({ MessageId }) => done.has(MessageId ?? '')));
  };

  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        const batch = await nextBatch();
        if (batch.length > 0) await work(batch);
      } catch {
        // The invoker has logged what the function threw; its messages come again after their visibility time-out. A
        // queue that cannot be reached is tried again.
        await delay(RETRY_MS, undefined, { signal: stopping.signal }).catch(() => {});
      }
    }
  };

  const loops = Array.from({ length: options.concurrency }, loop);
  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
};
