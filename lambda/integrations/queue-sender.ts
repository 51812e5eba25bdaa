import { awsCaller, awsService, environmentCredentials } from '../aws/aws-json.ts';
import { withRetries } from '../aws/retries.ts';
import { nodeTransport } from '../aws/transport-node.ts';

/** Sends a message as JSON. @param delaySeconds until its consumer gets it, at most 900. @throws AwsCallError, Error */
export type SendMessage<Message extends object> = (message: Message, delaySeconds?: number) => Promise<void>;

const TIMEOUT_MS = 5_000;

/** Sends messages to a queue. */
export const queueSender = <Message extends object>(
  queueUrl: string,
  variables: Readonly<Record<string, string | undefined>> = process.env,
): SendMessage<Message> => {
  const call = withRetries(awsCaller(awsService('sqs', variables), environmentCredentials(variables), nodeTransport));
  return async (message, delaySeconds = 0) => {
    const input = {
      QueueUrl: queueUrl,
      MessageBody: JSON.stringify(message),
      ...(delaySeconds > 0 && { DelaySeconds: delaySeconds }),
    };
    await call('SendMessage', input, TIMEOUT_MS);
  };
};
