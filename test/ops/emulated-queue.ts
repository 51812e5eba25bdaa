import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { startSqs } from '../../local/emulators/sqs.ts';

/** A queue and its dead-letter queue on an emulator of their own. */
export const emulatedQueue = async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'queue-'));
  const emulator = await startSqs({ dataDir });
  const sqs = new SQSClient({
    endpoint: emulator.endpoint,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const create = async (QueueName: string, Attributes: Record<string, string> = {}) =>
    (await sqs.send(new CreateQueueCommand({ QueueName, Attributes }))).QueueUrl ?? '';
  const deadLetters = await create('dead-letters');
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: deadLetters, AttributeNames: ['QueueArn'] }),
  );
  const queue = await create('usage', {
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn: Attributes?.['QueueArn'], maxReceiveCount: 5 }),
  });
  return {
    endpoint: emulator.endpoint,
    queue,
    deadLetters,
    send: (queueUrl: string, body: string) =>
      sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: body })),
    /** What can be received now; it stays hidden afterwards. */
    bodies: async (queueUrl: string): Promise<string[]> => {
      const bodies: string[] = [];
      for (;;) {
        const { Messages = [] } = await sqs.send(
          new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 600 }),
        );
        if (Messages.length === 0) return bodies;
        bodies.push(...Messages.map(({ Body = '' }) => Body));
      }
    },
    /** Messages in the queue, hidden ones too. */
    count: async (queueUrl: string): Promise<number> => {
      const { Attributes: counts } = await sqs.send(
        new GetQueueAttributesCommand({
          QueueUrl: queueUrl,
          AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
        }),
      );
      return Object.values(counts ?? {}).reduce((sum, each) => sum + Number(each), 0);
    },
    stop: async () => {
      sqs.destroy();
      await emulator.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
};
