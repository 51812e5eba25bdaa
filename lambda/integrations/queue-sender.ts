import { awsCaller, awsService, environmentCredentials } from '../aws/aws-json.ts';
import { withRetries } from '../aws/retries.ts';
import { nodeTransport } from '../aws/transport-node.ts';

/** Sends a message as JSON. @param delaySeconds until its consumer gets it, at most 900. @throws AwsCallError, Error */
export type SendMessage<Message extends object> = (message: Message, delaySeconds?: number) => Promise<void>;

const TIMEOUT_MS = 5_000;

/** Sends a message as it is. @returns its id @throws AwsCallError, Error */
export const textSender = (
  queueUrl: string,
  variables: Readonly<Record<string, string | undefined>> = process.env,
): ((text: string, delaySeconds?: number) => Promise<string>) => {
  const call = withRetries(awsCaller(awsService('sqs', variables), environmentCredentials(variables), nodeTransport));
  return async (text, delaySeconds = 0) => {
    const input = {
      QueueUrl: queueUrl,
      MessageBody: text,
      ...(delaySeconds > 0 && { DelaySeconds: delaySeconds }),
    };
    const { MessageId } = await call('SendMessage', input, TIMEOUT_MS);
    return String(MessageId);
  };
};

/** Sends messages to a queue. */
export const queueSender = <Message extends object>(...queue: Parameters<typeof textSender>): SendMessage<Message> => {
  const send = textSender(...queue);
  return async (message, delaySeconds) => {
    await send(JSON.stringify(message), delaySeconds);
  };
};
