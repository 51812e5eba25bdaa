import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';

/** Sends a message as JSON. @param delaySeconds until its consumer gets it, at most 900 */
export type SendMessage<Message extends object> = (message: Message, delaySeconds?: number) => Promise<void>;

/** Sends messages to a queue. The SDK has no timeouts by default. */
export const queueSender = <Message extends object>(queueUrl: string): SendMessage<Message> => {
  const sqs = new SQSClient({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
  });
  return async (message, delaySeconds = 0) => {
    await sqs.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: JSON.stringify(message),
        ...(delaySeconds > 0 && { DelaySeconds: delaySeconds }),
      }),
    );
  };
};
