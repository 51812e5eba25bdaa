import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { SendJob } from './job.ts';

/** Sends jobs to a queue. The SDK has no timeouts by default. */
export const queueSender = (queueUrl: string): SendJob => {
  const sqs = new SQSClient({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
  });
  return async (job) => {
    await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: JSON.stringify(job) }));
  };
};
