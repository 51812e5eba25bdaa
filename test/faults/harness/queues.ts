import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { emulatorClient } from '../../../fixtures/emulator-client.ts';

const LOCAL_ACCOUNT = '000000000000';

/** The usage queue and its dead letters, quicker to give a message back than on AWS. */
export interface Queues {
  readonly sqs: SQSClient;
  readonly queueUrl: string;
  readonly queueArn: string;
  readonly deadLetterUrl: string;
  /** Messages that wait, are delayed, or in somebody's hands. */
  pending(): Promise<number>;
  deadLetters(): Promise<Message[]>;
}

interface QueueLimits {
  /** Deliveries before a message goes to the dead letters. */
  readonly maxReceiveCount: number;
  /** Longer than a batch takes, or it is delivered again before it is done, and again: 360 s on AWS. */
  readonly visibilitySeconds: number;
}

/** Makes the queues where they are not there yet. */
export const openQueues = async (
  endpoint: string,
  { maxReceiveCount, visibilitySeconds }: QueueLimits,
): Promise<Queues> => {
  const sqs = new SQSClient(emulatorClient(endpoint));
  // The SDK calls the host that the URL names: it must be the endpoint given, which may be a proxy.
  const create = async (QueueName: string, Attributes: Record<string, string>): Promise<string> => {
    await sqs.send(new CreateQueueCommand({ QueueName, Attributes }));
    return `${endpoint}/${LOCAL_ACCOUNT}/${QueueName}`;
  };
  const arnOf = async (QueueUrl: string) =>
    (await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }))).Attributes?.[
      'QueueArn'
    ] ?? '';
  const deadLetterUrl = await create('dead-letters', {});
  const queueUrl = await create('usage', {
    VisibilityTimeout: String(visibilitySeconds),
    RedrivePolicy: JSON.stringify({
      deadLetterTargetArn: await arnOf(deadLetterUrl),
      maxReceiveCount,
    }),
  });
  const counts = [
    'ApproximateNumberOfMessages',
    'ApproximateNumberOfMessagesNotVisible',
    'ApproximateNumberOfMessagesDelayed',
  ] as const;
  return {
    sqs,
    queueUrl,
    queueArn: await arnOf(queueUrl),
    deadLetterUrl,
    pending: async () => {
      const { Attributes } = await sqs.send(
        new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: [...counts] }),
      );
      return counts.reduce((sum, name) => sum + Number(Attributes?.[name] ?? 0), 0);
    },
    deadLetters: async () => {
      const found: Message[] = [];
      for (;;) {
        const { Messages = [] } = await sqs.send(
          new ReceiveMessageCommand({ QueueUrl: deadLetterUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 600 }),
        );
        if (Messages.length === 0) return found;
        found.push(...Messages);
      }
    },
  };
};
