import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { z } from 'zod';
import { openTable } from '../lambda/data/table/table.ts';
import { flag, runCommand, tableName } from './command.ts';
import { sendToQueue, sqsClient } from './events/usage-queue.ts';
import { type CarryReport, carryOver } from './restore/carry-over.ts';
import { kindsOfItems } from './restore/item-kinds.ts';
import { checkWindow, recountAccount, restoreTable } from './restore/restore-table.ts';

const USAGE = `npm run restore-table -- start --table NAME --to NEW --at TIME [--dry-run]
npm run restore-table -- carry --table NAME --to NEW --since TIME --queue URL [--take KIND]… [--dry-run]

start   Makes the table NEW as the table NAME was at TIME, and waits until it is there, ready for use. NAME is not touched.
carry   Brings over what happened in NAME since TIME: once before the service works on NEW, so that nobody is missing, and once after.
        Accounts, keys, users, rules, alerts and so on that only NAME has are copied; where both have one and they differ, NEW's
        stays, unless its kind is taken. Requests recorded since are sent to the usage queue; the recorder counts those that its table
        does not have. What was deleted in NAME since is back in NEW. Another run does no harm.

  --table NAME   default: the environment variable TABLE_NAME
  --at, --since  ISO 8601, such as 2026-11-20T12:00:00Z
  --take KIND    ${kindsOfItems.join(', ')}; may be given more than once
  --queue URL    of the usage queue (default: the environment variable USAGE_QUEUE_URL)
Region and credentials come from the AWS environment. docs/runbook.md says when and in which order.`;

const POLL_MS = 5_000;

const newTable = z.string().regex(/^[\w.-]{3,255}$/, 'names a table: 3 to 255 letters, digits, _, . and -');
const notAnInstant = 'must be a time such as 2026-11-20T12:00:00Z';
const instant = z.iso.datetime({ offset: true, error: notAnInstant }).default('');

const schema = z
  .object({
    _: z.tuple([z.enum(['start', 'carry'], 'start or carry')]),
    table: tableName,
    to: newTable,
    at: instant,
    since: instant,
    queue: z.string().default(process.env['USAGE_QUEUE_URL'] ?? ''),
    take: z.array(z.enum(kindsOfItems)).default([]),
    'dry-run': flag,
  })
  .refine(({ _: [action], at }) => action === 'carry' || at !== '', { path: ['at'], error: notAnInstant })
  .refine(({ _: [action], since }) => action === 'start' || since !== '', { path: ['since'], error: notAnInstant })
  .refine(({ _: [action], queue }) => action === 'start' || queue !== '', '--queue or USAGE_QUEUE_URL is needed');

type Options = z.output<typeof schema>;

const start = async ({ table, to, at, 'dry-run': dryRun }: Options): Promise<void> => {
  const dynamoDb = new DynamoDBClient({});
  const window = await checkWindow(dynamoDb, { table, at: new Date(at) });
  console.log(`${table} can be restored to any second from ${window}.`);
  if (dryRun) return;
  await restoreTable(dynamoDb, { table, to, at: new Date(at), pollMs: POLL_MS, say: console.log });
  console.log(
    `Next: "restoredTable": "${to}" in the settings of the stage and a deployment, with carry --since ${at} before and after.`,
  );
};

const rows = ({ copied, differing }: CarryReport, take: readonly string[]) =>
  kindsOfItems
    .filter((kind) => copied.has(kind) || differing.has(kind))
    .map((kind) => ({
      kind,
      'only in the old table: copied': copied.get(kind) ?? 0,
      'in both, different': differing.get(kind) ?? 0,
      'which stays': differing.has(kind) ? (take.includes(kind) ? 'old' : 'new') : '',
    }));

const carry = async ({ table, to, since, queue, take, 'dry-run': dryRun }: Options): Promise<void> => {
  const sqs = sqsClient();
  const target = openTable(to);
  const report = await carryOver(openTable(table), target, {
    since: new Date(since).toISOString(),
    take,
    dryRun,
    send: (events) =>
      sendToQueue(
        sqs,
        queue,
        events.map((event) => JSON.stringify(event)),
      ),
  });
  if (!dryRun) for (const accountId of report.touchedAccounts) await recountAccount(target, accountId);
  console.log(`${report.requests} requests were recorded since ${since}${dryRun ? '' : ': sent to the usage queue'}.`);
  console.table(rows(report, take));
  if (report.unknown > 0) console.log(`${report.unknown} items are of no kind that this checkout knows: not touched.`);
  if (dryRun) console.log('Nothing was sent or written.');
};

await runCommand({ usage: USAGE, schema }, (options) => (options._[0] === 'start' ? start(options) : carry(options)));
