import {
  ChangeMessageVisibilityCommand,
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { emulatorClient } from '../../../fixtures/emulator-client.ts';
import { startSqs } from '../../../local/emulators/sqs.ts';
import type { Emulator } from '../../../local/emulators/worker.ts';
import { createQueues } from '../../../local/host/resources/create-resources.ts';
import { type Poller, pollQueue } from '../../../local/host/sources/sqs-poller.ts';
import { createResolver } from '../../../local/host/template/intrinsics.ts';
import { stackOf } from './stack-of.ts';

const usage = stackOf('usage', {
  Dead: { Type: 'AWS::SQS::Queue' },
  Patient: { Type: 'AWS::SQS::Queue', Properties: { VisibilityTimeout: 600 } },
  Queue: {
    Type: 'AWS::SQS::Queue',
    Properties: {
      // Longer than any machine stands still: what fails is given back by hand.
      VisibilityTimeout: 600,
      RedrivePolicy: { deadLetterTargetArn: { 'Fn::GetAtt': ['Dead', 'Arn'] }, maxReceiveCount: 2 },
    },
  },
});

let emulator: Emulator;
let sqs: SQSClient;
let poller: Poller | undefined;
const url = (name: string) => `${emulator.endpoint}/000000000000/usage-${name}`;

beforeEach(async () => {
  emulator = await startSqs();
  sqs = new SQSClient(emulatorClient(emulator.endpoint));
  const app = { stacks: [usage], resolve: createResolver([usage], emulator.endpoint) };
  await createQueues(app, sqs);
  // A second start finds them.
  await createQueues(app, sqs);
});
afterEach(async () => {
  await poller?.stop();
  sqs.destroy();
  await emulator.stop();
});

it('a queue of an earlier version gets the attributes of this one', async () => {
  const RedrivePolicy = { deadLetterTargetArn: { 'Fn::GetAtt': ['Dead', 'Arn'] }, maxReceiveCount: 241 };
  const later = stackOf('usage', {
    Dead: { Type: 'AWS::SQS::Queue' },
    Queue: { Type: 'AWS::SQS::Queue', Properties: { VisibilityTimeout: 30, RedrivePolicy } },
  });
  await createQueues({ stacks: [later], resolve: createResolver([later], emulator.endpoint) }, sqs);
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: url('Queue'), AttributeNames: ['VisibilityTimeout', 'RedrivePolicy'] }),
  );
  expect(Attributes?.['VisibilityTimeout']).toBe('30');
  expect(JSON.parse(Attributes?.['RedrivePolicy'] ?? '')).toMatchObject({ maxReceiveCount: 241 });
});

const poll = (invoke: (event: SQSEvent) => Promise<unknown>, options = {}) => {
  poller = pollQueue({
    sqs,
    queueUrl: url('Queue'),
    queueArn: 'arn:aws:sqs:eu-central-1:000000000000:usage-Queue',
    batchSize: 10,
    windowMs: 0,
    concurrency: 1,
    invoke,
    ...options,
  });
};

const sendTo = (name: string, ...bodies: string[]) =>
  sqs.send(
    new SendMessageBatchCommand({
      QueueUrl: url(name),
      Entries: bodies.map((MessageBody, index) => ({ Id: String(index), MessageBody })),
    }),
  );

const send = (...bodies: string[]) => sendTo('Queue', ...bodies);

/** As if its time had run out. */
const giveBack = ({ receiptHandle }: SQSRecord) =>
  sqs.send(
    new ChangeMessageVisibilityCommand({ QueueUrl: url('Queue'), ReceiptHandle: receiptHandle, VisibilityTimeout: 1 }),
  );

const inFlight = async (name: string) => {
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl: url(name),
      AttributeNames: ['ApproximateNumberOfMessagesNotVisible'],
    }),
  );
  return Number(Attributes?.['ApproximateNumberOfMessagesNotVisible']);
};

const count = async (name: string) => {
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: url(name), AttributeNames: ['All'] }),
  );
  return (
    Number(Attributes?.['ApproximateNumberOfMessages']) + Number(Attributes?.['ApproximateNumberOfMessagesNotVisible'])
  );
};

const until = async (condition: () => Promise<boolean> | boolean) => {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50));
};

describe('an event source mapping', () => {
  it('deletes what succeeded alone; what fails again and again goes to the dead-letter queue', async () => {
    const deliveries = new Map<string, number>();
    poll(async ({ Records }) => {
      for (const { body } of Records) deliveries.set(body, (deliveries.get(body) ?? 0) + 1);
      const failures = Records.filter(({ body }) => body === 'bad');
      await Promise.all(failures.map(giveBack));
      return { batchItemFailures: failures.map(({ messageId }) => ({ itemIdentifier: messageId })) };
    });
    await send('good', 'bad', 'fine');
    await until(async () => (await count('Dead')) === 1);
    expect(Object.fromEntries(deliveries)).toEqual({ good: 1, fine: 1, bad: 2 });
    expect(await count('Queue')).toBe(0);
  });

  it('delivers the batch again when the function throws', async () => {
    let attempts = 0;
    poll(async ({ Records }) => {
      attempts += 1;
      if (attempts > 1) return {};
      await Promise.all(Records.map(giveBack));
      throw new Error('not now');
    });
    await send('one');
    await until(async () => attempts === 2 && (await count('Queue')) === 0);
    expect(await count('Dead')).toBe(0);
  });

  it('gathers a batch for as long as the window is open', async () => {
    const batches: number[] = [];
    poll(
      async ({ Records }) => {
        batches.push(Records.length);
        return {};
      },
      { queueUrl: url('Patient'), batchSize: 12, windowMs: 60_000 },
    );
    await sendTo('Patient', '1', '2', '3');
    await until(async () => (await inFlight('Patient')) === 3);
    expect(batches).toEqual([]);
    // A batch that is full does not wait for the window's end.
    await sendTo('Patient', ...Array.from({ length: 9 }, (_, index) => `more ${index}`));
    await until(() => batches.length > 0);
    expect(batches).toEqual([12]);
    // SQS deletes ten at a time.
    await until(async () => (await count('Patient')) === 0);
  });

  it('says where a message comes from', async () => {
    const records: SQSEvent['Records'] = [];
    poll(async (event) => {
      records.push(...event.Records);
      return {};
    });
    await send('{"a":1}');
    await until(() => records.length > 0);
    expect(records[0]).toMatchObject({
      body: '{"a":1}',
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:eu-central-1:000000000000:usage-Queue',
      attributes: { ApproximateReceiveCount: '1', SentTimestamp: expect.stringMatching(/^\d{13}$/) },
    });
  });
});
