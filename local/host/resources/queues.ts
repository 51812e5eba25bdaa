import { CreateQueueCommand, SetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { z } from 'zod';
import { type App, definitions } from '../template/definitions.ts';

const queueSchema = z.object({
  VisibilityTimeout: z.number().optional(),
  DelaySeconds: z.number().optional(),
  MessageRetentionPeriod: z.number().optional(),
  MaximumMessageSize: z.number().optional(),
  ReceiveMessageWaitTimeSeconds: z.number().optional(),
  FifoQueue: z.boolean().optional(),
  ContentBasedDeduplication: z.boolean().optional(),
  RedrivePolicy: z.object({ deadLetterTargetArn: z.string(), maxReceiveCount: z.coerce.number() }).optional(),
});

const attributes = ({ RedrivePolicy, ...rest }: z.infer<typeof queueSchema>): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries(rest)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, String(value)]),
  ),
  ...(RedrivePolicy && { RedrivePolicy: JSON.stringify(RedrivePolicy) }),
});

/** Makes every queue of the templates; one that is there gets the templates' attributes. Dead-letter queues come first. */
export const createQueues = async (app: App, sqs: SQSClient): Promise<void> => {
  const queues = definitions(app, queueSchema, 'AWS::SQS::Queue').sort(
    (a, b) => Number(a.properties.RedrivePolicy !== undefined) - Number(b.properties.RedrivePolicy !== undefined),
  );
  for (const queue of queues) {
    const Attributes = attributes(queue.properties);
    try {
      await sqs.send(new CreateQueueCommand({ QueueName: queue.attribute('QueueName'), Attributes }));
    } catch (error) {
      // The emulator puts the service's name in front, so that the SDK does not know the error.
      if (!(error instanceof Error && error.name.endsWith('QueueNameExists'))) throw error;
      await sqs.send(new SetQueueAttributesCommand({ QueueUrl: queue.ref, Attributes }));
    }
  }
};
