import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { z } from 'zod';
import { PoisonEventError, partsOf, usageEventOf } from '../lambda/usage-recorder/parse-event.ts';
import { CommandError, flag, queueUrl, runCommand } from './command.ts';
import { sendToQueue, sqsClient } from './events/usage-queue.ts';

const USAGE = `npm run redrive -- [--queue URL] [--dry-run]

Moves the dead letters of the usage queue back to it: those that are usage events by the schema of this checkout. Other messages stay,
and what is wrong with them is shown. Events that are on record already change nothing. A run that is cut off hides what it has read from
the next one for two minutes.

  --queue URL   of the usage queue (default: the environment variable USAGE_QUEUE_URL); its dead-letter queue is found by it
Region and credentials come from the AWS environment.`;

const schema = z.object({
  queue: queueUrl,
  'dry-run': flag,
});

/** A run that takes longer meets again what stays. */
const HIDDEN_SECONDS = 120;
const POLL_SECONDS = 2;

const deadLettersOf = async (sqs: SQSClient, queueUrl: string): Promise<string> => {
  const command = new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['RedrivePolicy'] });
  const { Attributes } = await sqs.send(command);
  const policy = z.object({ deadLetterTargetArn: z.string() });
  const { success, data } = policy.safeParse(JSON.parse(Attributes?.['RedrivePolicy'] ?? 'null'));
  if (!success) throw new CommandError('This queue has no dead-letter queue: name the usage queue itself.');
  const [, , , , owner, name] = data.deadLetterTargetArn.split(':');
  const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: name, QueueOwnerAWSAccountId: owner }));
  if (QueueUrl === undefined) throw new CommandError(`There is no queue ${name}.`);
  return QueueUrl;
};

/** Every message of a queue once, ten at a time; taken messages are hidden, not deleted. */
async function* takeAll(sqs: SQSClient, queueUrl: string): AsyncGenerator<Message[]> {
  const command = new ReceiveMessageCommand({
    QueueUrl: queueUrl,
    MaxNumberOfMessages: 10,
    VisibilityTimeout: HIDDEN_SECONDS,
    WaitTimeSeconds: POLL_SECONDS,
  });
  const seen = new Set<string>();
  let lastNewAt = Date.now();
  while (Date.now() - lastNewAt < HIDDEN_SECONDS * 1_000) {
    const { Messages = [] } = await sqs.send(command);
    if (Messages.length === 0) return;
    // SQS may deliver a message a second time, whether it was deleted or not.
    const fresh = Messages.filter(({ MessageId = '' }) => !seen.has(MessageId));
    if (fresh.length === 0) continue;
    lastNewAt = Date.now();
    for (const { MessageId = '' } of fresh) seen.add(MessageId);
    yield fresh;
  }
}

const entriesOf = (messages: readonly Message[]) =>
  messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));

/** Null for a usage event. */
const problemOf = ({ Body = '' }: Message): string | null => {
  try {
    for (const { json } of partsOf(Body)) usageEventOf(json);
    return null;
  } catch (error) {
    if (error instanceof PoisonEventError) return error.message;
    throw error;
  }
};

const moveBack = async (sqs: SQSClient, from: string, to: string, messages: readonly Message[]): Promise<void> => {
  // First sent, then deleted: cut off in between, an event comes twice and counts once.
  const bodies = messages.map(({ Body = '' }) => Body);
  await sendToQueue(sqs, to, bodies);
  const command = new DeleteMessageBatchCommand({ QueueUrl: from, Entries: entriesOf(messages) });
  const { Failed = [] } = await sqs.send(command);
  if (Failed.length > 0) console.error(`${Failed.length} were moved and could not be deleted: they will come again.`);
};

await runCommand({ usage: USAGE, schema }, async ({ queue, 'dry-run': dryRun }) => {
  const sqs = sqsClient();
  const deadLetters = await deadLettersOf(sqs, queue);
  const problems = new Map<string, number>();
  const staying: ReturnType<typeof entriesOf>[] = [];
  let events = 0;
  for await (const messages of takeAll(sqs, deadLetters)) {
    const good = messages.filter((message) => {
      const problem = problemOf(message);
      if (problem !== null) problems.set(problem, (problems.get(problem) ?? 0) + 1);
      return problem === null;
    });
    events += good.length;
    if (!dryRun && good.length > 0) await moveBack(sqs, deadLetters, queue, good);
    staying.push(entriesOf(dryRun ? messages : messages.filter((message) => !good.includes(message))));
  }
  // Only now, since they would come again to this run.
  for (const entries of staying.filter(({ length }) => length > 0)) {
    const Entries = entries.map((entry) => ({ ...entry, VisibilityTimeout: 0 }));
    await sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: deadLetters, Entries }));
  }
  console.log(`${events} usage events ${dryRun ? 'would be moved' : 'moved'} back to the usage queue.`);
  if (problems.size === 0) return;
  console.log('These stay in the dead-letter queue:');
  console.table([...problems].map(([problem, messages]) => ({ messages, problem })));
});
