import { setTimeout as delay } from 'node:timers/promises';
import { DeleteMessageBatchCommand, type Message, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { z } from 'zod';
import { LOCAL_REGION } from '../../emulators/cognito.ts';
import type { LambdaFunction } from '../lambda/functions.ts';
import type { Invoker } from '../lambda/invoker.ts';
import { type App, definitions } from '../template/definitions.ts';

const mappingSchema = z.object({
  EventSourceArn: z.string(),
  FunctionName: z.string(),
  BatchSize: z.number(),
  MaximumBatchingWindowInSeconds: z.number(),
  FunctionResponseTypes: z.tuple([z.literal('ReportBatchItemFailures')]),
});

/** Batches of one queue in work at a time: this is one machine. */
const CONCURRENT_BATCHES = 3;

/** Starts a poller for every event source mapping from a queue of the templates to one of the functions. */
export const startEventSourceMappings = (
  app: App,
  functions: readonly LambdaFunction[],
  invoker: Invoker,
  sqs: SQSClient,
): Poller[] => {
  const queues = definitions(app, z.object({}), 'AWS::SQS::Queue');
  return definitions(app, mappingSchema, 'AWS::Lambda::EventSourceMapping').flatMap(({ properties }) => {
    const queue = queues.find((each) => each.attribute('Arn') === properties.EventSourceArn);
    const lambda = functions.find(({ name }) => name === properties.FunctionName);
    if (!queue || !lambda) return [];
    return [
      pollQueue({
        sqs,
        queueUrl: queue.ref,
        queueArn: properties.EventSourceArn,
        batchSize: properties.BatchSize,
        windowMs: properties.MaximumBatchingWindowInSeconds * 1000,
        concurrency: CONCURRENT_BATCHES,
        invoke: (event) => invoker.invoke(lambda, event),
      }),
    ];
  });
};

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

const responseSchema = z.object({
  batchItemFailures: z.array(z.object({ itemIdentifier: z.string().min(1) })).nullish(),
});

/**
 * Which messages of a batch are done and may be deleted, by the rules of Lambda for functions that report failures of single items: a
 * response without failures is success; a malformed response or an unknown identifier fails the whole batch.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html#services-sqs-batchfailurereporting
 */
export const succeeded = (messageIds: readonly string[], response: unknown): readonly string[] => {
  if (response === null || response === undefined) return messageIds;
  const parsed = responseSchema.safeParse(response);
  if (!parsed.success) return [];
  const failed = new Set((parsed.data.batchItemFailures ?? []).map(({ itemIdentifier }) => itemIdentifier));
  if ([...failed].some((id) => !messageIds.includes(id))) return [];
  return messageIds.filter((id) => !failed.has(id));
};

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
    const done = new Set(succeeded(ids, response));
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
