import { setTimeout as sleep } from 'node:timers/promises';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { CommandError } from '../command.ts';

/** @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html */
const MAX_ENTRIES = 10;
const MAX_BYTES = 240_000;
const MAX_ATTEMPTS = 5;

/** The region's endpoint rather than the one a queue's URL names: the same on AWS, and emulators name hosts nobody resolves. */
export const sqsClient = (): SQSClient => new SQSClient({ useQueueUrlAsEndpoint: false });

const batches = (bodies: readonly string[]): string[][] => {
  const result: string[][] = [];
  let bytes = 0;
  for (const body of bodies) {
    const batch = result.at(-1);
    bytes += Buffer.byteLength(body);
    if (batch && batch.length < MAX_ENTRIES && bytes <= MAX_BYTES) batch.push(body);
    else {
      result.push([body]);
      bytes = Buffer.byteLength(body);
    }
  }
  return result;
};

/**
 * Puts message bodies on a queue; resolves when SQS has all of them.
 *
 * @throws CommandError where it keeps refusing some: sending all again does no harm, the recorder counts each event once
 */
export const sendToQueue = async (sqs: SQSClient, queueUrl: string, bodies: readonly string[]): Promise<void> => {
  for (const batch of batches(bodies)) {
    let pending = batch.map((MessageBody, index) => ({ Id: String(index), MessageBody }));
    for (let attempt = 0; pending.length > 0; attempt++) {
      if (attempt === MAX_ATTEMPTS) throw new CommandError(`The queue refused ${pending.length} messages. Run again.`);
      if (attempt > 0) await sleep(100 * 2 ** attempt);
      const { Failed = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: pending }));
      const refused = new Set(Failed.map(({ Id }) => Id));
      pending = pending.filter(({ Id }) => refused.has(Id));
    }
  }
};
