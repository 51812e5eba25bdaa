import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';

/** Sends a message as JSON. @param delaySeconds until its consumer gets it, at most 900. @throws SQSServiceException, Error */
export type SendMessage<Message extends object> = (message: Message, delaySeconds?: number) => Promise<void>;

/** Sends a message as it is. @returns its id @throws SQSServiceException, Error */
export const textSender = (queueUrl: string): ((text: string, delaySeconds?: number) => Promise<string>) => {
  const sqs = new SQSClient({
    maxAttempts: 3,
    // The region's endpoint: emulators name hosts in a queue's URL that nobody resolves.
    useQueueUrlAsEndpoint: false,
    // By itself the SDK waits for a response for as long as the function runs.
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
  });
  return async (text, delaySeconds = 0) => {
    const { MessageId } = await sqs.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: text,
        ...(delaySeconds > 0 && { DelaySeconds: delaySeconds }),
      }),
    );
    return String(MessageId);
  };
};

export const queueSender = <Message extends object>(queueUrl: string): SendMessage<Message> => {
  const send = textSender(queueUrl);
  return async (message, delaySeconds) => {
    await send(JSON.stringify(message), delaySeconds);
  };
};
