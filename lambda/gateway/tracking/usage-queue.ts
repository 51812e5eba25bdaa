import { OUTBOX_SHARDS, outboxKey } from '../../data/table/keys.ts';
import type { UsageEvent } from '../../domain/usage/usage-event.ts';
import type { AwsCall } from '../aws/aws-json.ts';

/** A batch takes ten messages. @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html */
const MAX_BATCH = 10;
/** While fewer batches than this are under way, what there is goes at once; past it only full batches do (group commit). */
const EAGER_UNDER_WAY = 2;
const MAX_UNDER_WAY = 64;
/** Messages waiting beyond this are refused at once: memory stays bounded while the queue is down. */
const MAX_WAITING = 20_000;

interface Waiting {
  readonly body: string;
  readonly delaySeconds: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

interface BatchAnswer {
  readonly Failed?: { readonly Id: string; readonly Code?: string }[];
}

/** Puts one event on the usage queue. Resolves once SQS has it; rejects otherwise. One try. */
export type SendEvent = (event: UsageEvent, delaySeconds: number) => Promise<void>;

/** SQS takes neither of these two characters, which JSON may hold. @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html */
const UNSENDABLE = /[\ufffe\uffff]/g;
const messageBody = (event: UsageEvent): string =>
  JSON.stringify(event).replace(UNSENDABLE, (character) => `\\u${character.charCodeAt(0).toString(16)}`);

/**
 * A sender that batches: what comes within one turn of the event loop, and what gathers while earlier batches are under way.
 * A lone event leaves at once, without a timer; load makes batches fuller, not slower.
 */
export const usageQueue = (sqs: AwsCall, queueUrl: string, timeoutMs: number): SendEvent => {
  const waiting: Waiting[] = [];
  let underWay = 0;

  const sendBatch = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      const answer = (await sqs(
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
      )) as BatchAnswer;
      const failed = new Map(answer.Failed?.map((failure) => [failure.Id, failure.Code ?? 'Unknown']));
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
    while (
      (waiting.length > 0 && underWay < EAGER_UNDER_WAY) ||
      (waiting.length >= MAX_BATCH && underWay < MAX_UNDER_WAY)
    ) {
      underWay++;
      void sendBatch(waiting.splice(0, MAX_BATCH)).finally(() => {
        underWay--;
        flush();
      });
    }
  };

  return (event, delaySeconds) => {
    if (waiting.length >= MAX_WAITING)
      return Promise.reject(new Error('Too many usage events are waiting for the queue'));
    return new Promise((resolve, reject) => {
      waiting.push({ body: messageBody(event), delaySeconds, resolve, reject });
      if (flushIsDue) return;
      flushIsDue = true;
      setImmediate(flush);
    });
  };
};

/** Writes one event to the table, from where the sweep feeds it to the recorder: the second way, while the queue is down. */
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
