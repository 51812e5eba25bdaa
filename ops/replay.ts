import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { batchDelete } from '../lambda/data/table/batch.ts';
import { openTable, type Table } from '../lambda/data/table/table.ts';
import { messageText } from '../lambda/domain/usage/message-text.ts';
import type { UsageEvent } from '../lambda/domain/usage/usage-event.ts';
import { day, flag, queueUrl, runCommand } from './command.ts';
import { findEvents, readRefused } from './events/find-events.ts';
import { sendToQueue, sqsClient } from './events/usage-queue.ts';

const USAGE = `npm run replay -- FILE… [--queue URL] [--dry-run]
aws logs filter-log-events … --output json | npm run --silent replay -- - [--queue URL] [--dry-run]
npm run replay -- --refused DAY [--table NAME] [--queue URL] [--dry-run]

Sends usage events that were not delivered to the usage queue. Events that are on record already change nothing, so a second run does no
harm. --dry-run shows what would be sent.

  FILE…           logs of the gateway, "-" for standard input: the events it could only log ("usage event not delivered"). Takes
                  lines as they are, the JSON of "aws logs filter-log-events", CSV of Logs Insights; other lines are passed over
  --refused DAY   the events that the sweep set aside on this day (UTC); what is sent is deleted there, what still is no usage
                  event stays
  --queue URL     of the usage queue (default: the environment variable USAGE_QUEUE_URL)
  --table NAME    for --refused (default: the environment variable TABLE_NAME)
Region and credentials come from the AWS environment.`;

const schema = z
  .object({
    _: z.array(z.string()),
    refused: day.optional(),
    queue: queueUrl,
    table: z.string().default(process.env['TABLE_NAME'] ?? ''),
    'dry-run': flag,
  })
  .refine(
    ({ _, refused }) => _.length > 0 !== (refused !== undefined),
    'Name files with logs (- for standard input), or give --refused.',
  )
  .refine(({ table, refused }) => refused === undefined || table !== '', '--table or TABLE_NAME is needed');

type Options = z.output<typeof schema>;

interface Astray {
  readonly events: readonly UsageEvent[];
  readonly unreadable: number;
  /** Called once the events are on the queue. */
  readonly done: () => Promise<void>;
}

const fromLogs = async (files: readonly string[]): Promise<Astray> => {
  const texts = files.map((file) => (file === '-' ? text(process.stdin) : readFileSync(file, 'utf8')));
  return { ...findEvents(await Promise.all(texts)), done: async () => {} };
};

const fromTable = async (table: Table, day: string): Promise<Astray> => {
  const { readable, unreadable } = await readRefused(table, day);
  const keys = readable.map(({ key }) => key);
  return { events: readable.map(({ event }) => event), unreadable, done: () => batchDelete(table, keys) };
};

const range = (events: readonly UsageEvent[]): string => {
  const times = events.map((event) => (event.kind === 'untracked' ? event.from : event.startedAt)).sort();
  return `${times[0]} to ${times.at(-1)}`;
};

const replay = async ({ _: files, refused, queue, table, 'dry-run': dryRun }: Options): Promise<void> => {
  const { events, unreadable, done } = await (refused === undefined
    ? fromLogs(files)
    : fromTable(openTable(table), refused));
  if (unreadable > 0) {
    console.error(`${unreadable} events cannot be read: cut, or of another version.`);
    process.exitCode = 1;
  }
  if (events.length === 0) {
    console.log('No usage events found.');
    return;
  }
  const byKind = Object.groupBy(events, ({ kind }) => kind);
  const what = `${events.length} events (${byKind.close?.length ?? 0} close, ${byKind.open?.length ?? 0} open), ${range(events)}`;
  if (!dryRun) {
    await sendToQueue(sqsClient(), queue, events.map(messageText));
    await done();
  }
  console.log(`${what}: ${dryRun ? 'would be sent' : 'sent'} to the usage queue.`);
};

await runCommand({ usage: USAGE, schema }, replay);
