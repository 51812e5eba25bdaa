import { OUTBOX_SHARDS, outboxKey } from '../../data/table/keys.ts';
import { messageText } from '../../domain/usage/message-text.ts';
import type { UsageEvent } from '../../domain/usage/usage-event.ts';
import type { AwsCall } from '../aws/aws-json.ts';

/** SQS's maximum. @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html */
const MAX_BATCH = 10;
/** Where more events wait than a batch has messages, up to this many share one. SQS takes 256 KB in a batch. */
const MAX_SHARING = 8;
const MAX_SHARED_BYTES = 24_000;
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
  /** Set for the event of a message that SQS refused: it has no part in another one. */
  readonly isAlone?: boolean;
  readonly delaySeconds: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

interface BatchResponse {
  readonly Failed?: { readonly Id: string; readonly Code?: string }[];
}

/** Sends one event to the usage queue, with one attempt. Resolves when SQS has it, otherwise rejects. */
export type SendEvent = (event: UsageEvent, delaySeconds: number) => Promise<void>;

/** Takes the next message from a list: one event, or several. Those of a list have the same delay. */
const takeMessage = (events: Waiting[], most: number): Waiting[] => {
  const [first] = events as [Waiting, ...Waiting[]];
  let count = 1;
  let bytes = first.body.length;
  for (let next = events[1]; next && count < most && !first.isAlone; next = events[count]) {
    bytes += next.body.length;
    if (bytes > MAX_SHARED_BYTES) break;
    count++;
  }
  return events.splice(0, count);
};

/** Several events are a list: the recorder reads both. */
const bodyOf = (message: readonly Waiting[]): string =>
  message.length === 1 ? (message[0] as Waiting).body : `[${message.map(({ body }) => body).join(',')}]`;

/**
 * Makes a sender that batches the events of one turn of the event loop, and those that collect while earlier batches are in
 * flight. A single event leaves at once, without a timer and without another turn; load fills batches, then messages, and does not delay
 * them. The events of a shared message that SQS refuses are sent again, each in a message of its own.
 *
 * @param currentTrace of X-Ray, which goes on with whoever receives the messages
 */
export const usageQueue = (
  sqs: AwsCall,
  queueUrl: string,
  timeoutMs: number,
  currentTrace?: () => string | undefined,
): SendEvent => {
  const open: Waiting[] = [];
  const others: Waiting[] = [];
  let inFlight = 0;
  let isTurnOfOthers = false;

  /** The next messages to send, at most a batch. */
  const takeBatch = (): Waiting[][] => {
    isTurnOfOthers = !isTurnOfOthers && others.length >= MAX_POSTPONED;
    const most = open.length + others.length > MAX_BATCH ? MAX_SHARING : 1;
    const batch: Waiting[][] = [];
    for (const events of isTurnOfOthers ? [others, open] : [open, others])
      while (events.length > 0 && batch.length < MAX_BATCH) batch.push(takeMessage(events, most));
    return batch;
  };

  const sendAlone = (message: readonly Waiting[]): void => {
    for (const event of message) (event.delaySeconds > 0 ? open : others).unshift({ ...event, isAlone: true });
  };

  const sendBatch = async (batch: readonly Waiting[][]): Promise<void> => {
    const trace = currentTrace?.();
    const traced = trace && { MessageSystemAttributes: { AWSTraceHeader: { DataType: 'String', StringValue: trace } } };
    try {
      const response = (await sqs(
        'SendMessageBatch',
        {
          QueueUrl: queueUrl,
          Entries: batch.map((message, index) => ({
            Id: String(index),
            MessageBody: bodyOf(message),
            DelaySeconds: message[0]?.delaySeconds,
            ...traced,
          })),
        },
        timeoutMs,
      )) as BatchResponse;
      const failed = new Map(response.Failed?.map((failure) => [failure.Id, failure.Code ?? 'Unknown']));
      batch.forEach((message, index) => {
        const code = failed.get(String(index));
        if (code === undefined) for (const { resolve } of message) resolve();
        else if (message.length > 1) sendAlone(message);
        else message[0]?.reject(new Error(`SQS refused the message: ${code}`));
      });
    } catch (error) {
      for (const { reject } of batch.flat()) reject(error as Error);
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
      (event.kind === 'open' ? open : others).push({ body: messageText(event), delaySeconds, resolve, reject });
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
