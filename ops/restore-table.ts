import { setTimeout as sleep } from 'node:timers/promises';
import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  RestoreTableToPointInTimeCommand,
  type TableDescription,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { z } from 'zod';
import { openOwnPrices } from '../lambda/data/accounts/own-prices.ts';
import { openProjects } from '../lambda/data/accounts/projects.ts';
import { openServiceKeys } from '../lambda/data/accounts/service-keys.ts';
import { countEarlier, isOfEach, openRules } from '../lambda/data/alerts/rules.ts';
import { EXISTS, update } from '../lambda/data/table/actions.ts';
import { accountKey, projectKey } from '../lambda/data/table/keys.ts';
import { openTable, type Table } from '../lambda/data/table/table.ts';
import { write } from '../lambda/data/table/write.ts';
import { DEFAULT_PROJECT_ID } from '../lambda/domain/accounts/scope.ts';
import { ignoring } from '../lambda/domain/errors.ts';
import { messageText } from '../lambda/domain/usage/message-text.ts';
import { CommandError, flag, runCommand, tableName } from './command.ts';
import { sendToQueue, sqsClient } from './events/usage-queue.ts';
import { type CarryReport, carryOver } from './restore/carry-over.ts';
import { kindsOfItems } from './restore/item-kinds.ts';

interface RestoreOptions {
  readonly table: string;
  readonly to: string;
  readonly at: Date;
}

const iso = (date: Date | undefined): string => date?.toISOString() ?? 'unknown';

/** @throws CommandError where the table cannot be restored to that time */
const checkWindow = async (dynamoDb: DynamoDBClient, { table, at }: Omit<RestoreOptions, 'to'>): Promise<string> => {
  const { ContinuousBackupsDescription } = await dynamoDb
    .send(new DescribeContinuousBackupsCommand({ TableName: table }))
    .catch((error: Error) => {
      if (error.name !== 'UnknownOperationException') throw error;
      throw new CommandError(
        `The table of one machine has no point-in-time recovery: \`start\` needs AWS. To have what was, copy the data folder while nothing runs. \`carry\` works between two tables here, too.`,
      );
    });
  const recovery = ContinuousBackupsDescription?.PointInTimeRecoveryDescription;
  if (recovery?.PointInTimeRecoveryStatus !== 'ENABLED')
    throw new CommandError(`${table} has no point-in-time recovery.`);
  const { EarliestRestorableDateTime: earliest, LatestRestorableDateTime: latest } = recovery;
  const window = `${iso(earliest)} to ${iso(latest)}`;
  if ((earliest && at < earliest) || (latest && at > latest))
    throw new CommandError(`${table} can be restored to any second from ${window}, not to ${iso(at)}.`);
  return window;
};

const describeTable = async (dynamoDb: DynamoDBClient, table: string) => {
  const describing = dynamoDb.send(new DescribeTableCommand({ TableName: table }));
  return (await describing.catch(ignoring('ResourceNotFoundException')))?.Table;
};

const waitUntilActive = async (dynamoDb: DynamoDBClient, table: string): Promise<void> => {
  while ((await describeTable(dynamoDb, table))?.TableStatus !== 'ACTIVE') await sleep(1_000);
};

/** Whether a run before this one made the table. DynamoDB may keep the second of the time alone. */
const isOfThisRestore = (found: TableDescription, { table, at }: Omit<RestoreOptions, 'to'>): boolean => {
  const { SourceTableArn, RestoreDateTime } = found.RestoreSummary ?? {};
  const secondOf = (time: Date | undefined) => Math.floor(Number(time) / 1_000);
  return SourceTableArn?.split('/')[1] === table && secondOf(RestoreDateTime) === secondOf(at);
};

/**
 * @returns false where the table is too new: there are no backups of it yet
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateContinuousBackups.html
 */
const enableRecovery = async (dynamoDb: DynamoDBClient, table: string): Promise<boolean> => {
  const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
  const command = new UpdateContinuousBackupsCommand({ TableName: table, PointInTimeRecoverySpecification });
  const enabled = await dynamoDb.send(command).catch(ignoring('ContinuousBackupsUnavailableException'));
  return enabled !== undefined;
};

/**
 * Restores a table next to the original and waits until it is there, with what a restore leaves out: expiry, point-in-time
 * recovery, protection against deletion. A run that was cut off is taken up where the new table exists already.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/PointInTimeRecovery_Howitworks.html
 */
const restoreTable = async (dynamoDb: DynamoDBClient, { table, to, at }: RestoreOptions): Promise<void> => {
  const found = await describeTable(dynamoDb, to);
  if (found === undefined) {
    const source = { SourceTableName: table, RestoreDateTime: at };
    await dynamoDb.send(new RestoreTableToPointInTimeCommand({ ...source, TargetTableName: to }));
    console.log(`Restoring ${table} as of ${iso(at)} to ${to}. This takes from minutes to hours, whatever the size.`);
  } else if (!isOfThisRestore(found, { table, at })) {
    throw new CommandError(`${to} is there already, and is not ${table} as of ${iso(at)}. Name a new table: --to`);
  } else {
    console.log(`${to} is there already: taking up where a run before this one stopped.`);
  }
  await waitUntilActive(dynamoDb, to);

  const TimeToLiveSpecification = { AttributeName: 'expiresAt', Enabled: true };
  const { TimeToLiveDescription } = await dynamoDb.send(new DescribeTimeToLiveCommand({ TableName: to }));
  if (!/^ENABL/.test(TimeToLiveDescription?.TimeToLiveStatus ?? ''))
    await dynamoDb.send(new UpdateTimeToLiveCommand({ TableName: to, TimeToLiveSpecification }));
  while (!(await enableRecovery(dynamoDb, to))) await sleep(1_000);
  await dynamoDb.send(new UpdateTableCommand({ TableName: to, DeletionProtectionEnabled: true }));
  await waitUntilActive(dynamoDb, to);
  console.log(`${to} is there, with expiry, point-in-time recovery and protection against deletion.`);
};

/** Sets what an account knows of its keys, rules and prices, and a project of its keys, to what it has. */
const recountAccount = async (table: Table, accountId: string): Promise<void> => {
  const keys = await openServiceKeys(table).list(accountId);
  const rules = await openRules(table).list(accountId);
  const activeKeys = keys.filter(({ status }) => status === 'active').length;
  const hasOwnPrices = (await openOwnPrices(table).read(accountId)).version > 0;
  const limits = rules.filter(isOfEach);
  const known = { activeKeys, ruleCount: rules.length, hasOwnPrices, countsValues: limits.length > 0 };
  const change = `SET ${Object.keys(known)
    .map((name) => `${name} = :${name}`)
    .join(', ')}`;
  await write(table, update(accountKey(accountId), change, EXISTS, known));
  const now = new Date().toISOString();
  for (const { ruleId } of limits)
    for (const action of countEarlier(accountId, ruleId, now)) await write(table, action);
  for (const { projectId } of await openProjects(table).list(accountId)) {
    if (projectId === DEFAULT_PROJECT_ID) continue;
    const keyCount = keys.filter((key) => key.projectId === projectId).length;
    await write(table, update(projectKey(accountId, projectId), 'SET keyCount = :keys', EXISTS, { keys: keyCount }));
  }
};

const USAGE = `npm run restore-table -- start --table NAME --to NEW --at TIME [--dry-run]
npm run restore-table -- carry --table NAME --to NEW --since TIME --queue URL [--take KIND]… [--dry-run]

start   Makes the table NEW as the table NAME was at TIME, and waits until it is there, ready for use. NAME is not touched.
carry   Brings over what happened in NAME since TIME: once before the service works on NEW, so that nobody is missing, and once after.
        What people made (keys, rules, prices, reports and so on) that only NAME has are copied; where both have one and they differ, NEW's
        stays, unless its kind is taken. Requests recorded since are sent to the usage queue; the recorder counts those that its table
        does not have. What was deleted in NAME since is back in NEW. Another run does no harm.

  --table NAME   default: the environment variable TABLE_NAME
  --at, --since  ISO 8601, such as 2026-11-20T12:00:00Z
  --take KIND    ${kindsOfItems.join(', ')}; may be given more than once
  --queue URL    of the usage queue (default: the environment variable USAGE_QUEUE_URL)
Region and credentials come from the AWS environment. docs/runbook.md says when and in which order.`;

const newTable = z
  .string()
  .regex(/^[\w.-]{3,255}$/, 'must be the name of a table: 3 to 255 letters, digits, _, . and -');
const notAnInstant = 'must be a time such as 2026-11-20T12:00:00Z';
const instant = z.iso.datetime({ offset: true, error: notAnInstant }).default('');

const schema = z
  .object({
    _: z.tuple([z.enum(['start', 'carry'], 'Begin with start or carry.')]),
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
  .refine(({ table, to }) => table !== to, { path: ['to'], error: 'is the table that --table names' })
  .refine(({ _: [action], queue }) => action === 'start' || queue !== '', '--queue or USAGE_QUEUE_URL is needed');

type Options = z.output<typeof schema>;

const start = async ({ table, to, at, 'dry-run': dryRun }: Options): Promise<void> => {
  const dynamoDb = new DynamoDBClient({});
  const window = await checkWindow(dynamoDb, { table, at: new Date(at) });
  console.log(`${table} can be restored to any second from ${window}.`);
  if (dryRun) return;
  await restoreTable(dynamoDb, { table, to, at: new Date(at) });
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
    send: (events) => sendToQueue(sqs, queue, events.map(messageText)),
  });
  if (!dryRun) for (const accountId of report.touchedAccounts) await recountAccount(target, accountId);
  console.log(`${report.requests} requests were recorded since ${since}${dryRun ? '' : ': sent to the usage queue'}.`);
  console.table(rows(report, take));
  if (report.unknown > 0) console.log(`${report.unknown} items are of no kind that this checkout knows: not touched.`);
  if (dryRun) console.log('Nothing was sent or written.');
};

await runCommand({ usage: USAGE, schema }, (options) => (options._[0] === 'start' ? start(options) : carry(options)));
