import { OUTBOX_SHARDS, outboxKey } from '../../data/table/keys.ts';
import type { UsageEvent } from '../../domain/usage/usage-event.ts';
import type { AwsCall } from '../aws/aws-json.ts';

/** SQS's maximum. @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html */
const MAX_BATCH = 10;
/** Below this many batches in flight, messages leave at once; from there on only full batches do (group commit). */
const EAGER_IN_FLIGHT = 2;
const MAX_IN_FLIGHT = 64;
/**
 * A client may wait for an open event and none waits for a close event, so open events leave first. From this many close events on the
 * two take turns, so that none waits for ever.
 */
const MAX_POSTPONED = 10 * MAX_BATCH;
/** More messages than this are refused, so that memory stays bounded while the queue is down. */
const MAX_WAITING = 20_000;

interface Waiting {
  readonly body: string;
  readonly delaySeconds: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

interface BatchResponse {
  readonly Failed?: { readonly Id: string; readonly Code?: string }[];
}

/** Sends one event to the usage queue, with one attempt. Resolves when SQS has it, otherwise rejects. */
export type SendEvent = (event: UsageEvent, delaySeconds: number) => Promise<void>;

/**
 * SQS refuses U+FFFE and U+FFFF, which JSON allows; its local emulator also refuses what needs a surrogate pair, such as emoji. Escaped, no
 * queue sees them.
 *
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
 */
const NOT_ASCII = /[^ -~]/g;
const messageBody = (event: UsageEvent): string =>
  JSON.stringify(event).replace(
    NOT_ASCII,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * Makes a sender that batches the events of one turn of the event loop, and those that collect while earlier batches are in
 * flight. A single event leaves at once, without a timer and without another turn; load fills batches and does not delay them.
 */
export const usageQueue = (sqs: AwsCall, queueUrl: string, timeoutMs: number): SendEvent => {
  const open: Waiting[] = [];
  const others: Waiting[] = [];
  let inFlight = 0;
  let isTurnOfOthers = false;

  /** The next messages to send, at most a batch. */
  const takeBatch = (): Waiting[] => {
    isTurnOfOthers = !isTurnOfOthers && others.length >= MAX_POSTPONED;
    const [first, second] = isTurnOfOthers ? [others, open] : [open, others];
    const batch = first.splice(0, MAX_BATCH);
    return batch.length < MAX_BATCH ? batch.concat(second.splice(0, MAX_BATCH - batch.length)) : batch;
  };

  const sendBatch = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      const response = (await sqs(
        'SendMessageBatch',
        {
          QueueUrl: queueUrl,
          Entries: batch.map((message, index) => ({
            Id: String(index),
            MessageBody: message.body,
            DelaySeconds: message.delaySeconds,
          })),
        },
        timeoutMs,
      )) as BatchResponse;
      const failed = new Map(response.Failed?.map((failure) => [failure.Id, failure.Code ?? 'Unknown']));
      batch.forEach((message, index) => {
        const code = failed.get(String(index));
        if (code === undefined) message.resolve();
        else message.reject(new Error(`SQS refused the message: ${code}`));
      });
    } catch (error) {
      for (const message of batch) message.reject(error as Error);
    }
  };

  let flushIsDue = false;

  const flush = (): void => {
    flushIsDue = false;
    for (;;) {
      const waiting = open.length + others.length;
      if (waiting === 0 || inFlight >= (waiting >= MAX_BATCH ? MAX_IN_FLIGHT : EAGER_IN_FLIGHT)) return;
      inFlight++;
      void sendBatch(takeBatch()).then(() => {
        inFlight--;
        flush();
      });
    }
  };

  return (event, delaySeconds) => {
    if (open.length + others.length >= MAX_WAITING)
      return Promise.reject(new Error('Too many usage events are waiting for the queue'));
    return new Promise((resolve, reject) => {
      (event.kind === 'open' ? open : others).push({ body: messageBody(event), delaySeconds, resolve, reject });
      if (flushIsDue) return;
      flushIsDue = true;
      if (inFlight === 0) process.nextTick(flush);
      else setImmediate(flush);
    });
  };
};

/** Writes one event to the table's outbox when the queue is down. The sweep passes it to the recorder from there. */
export const writeToOutbox =
  (dynamodb: AwsCall, tableName: string, timeoutMs: number) =>
  async (event: UsageEvent): Promise<void> => {
    const shard = Number.parseInt(event.requestId.slice(-2), 16) % OUTBOX_SHARDS;
    const { pk, sk } = outboxKey(shard, event.requestId, event.kind);
    await dynamodb(
      'PutItem',
      {
        TableName: tableName,
        Item: {
          pk: { S: pk },
          sk: { S: sk },
          event: { S: JSON.stringify(event) },
          parkedAt: { S: new Date().toISOString() },
        },
      },
      timeoutMs,
    );
  };
