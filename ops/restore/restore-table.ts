import { setTimeout as sleep } from 'node:timers/promises';
import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  ResourceNotFoundException,
  RestoreTableToPointInTimeCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { openProjects } from '../../lambda/data/accounts/projects.ts';
import { openServiceKeys } from '../../lambda/data/accounts/service-keys.ts';
import { openRules } from '../../lambda/data/alerts/rules.ts';
import { EXISTS, update } from '../../lambda/data/table/actions.ts';
import { accountKey, projectKey } from '../../lambda/data/table/keys.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import { write } from '../../lambda/data/table/write.ts';
import { DEFAULT_PROJECT_ID } from '../../lambda/domain/accounts/project.ts';
import { CommandError } from '../command.ts';

export interface RestoreOptions {
  readonly table: string;
  readonly to: string;
  readonly at: Date;
  readonly pollMs: number;
  readonly say: (line: string) => void;
}

const iso = (date: Date | undefined): string => date?.toISOString() ?? 'unknown';

/** @throws CommandError where the table cannot be restored to that time */
export const checkWindow = async (
  dynamoDb: DynamoDBClient,
  { table, at }: Pick<RestoreOptions, 'table' | 'at'>,
): Promise<string> => {
  const { ContinuousBackupsDescription } = await dynamoDb.send(
    new DescribeContinuousBackupsCommand({ TableName: table }),
  );
  const recovery = ContinuousBackupsDescription?.PointInTimeRecoveryDescription;
  if (recovery?.PointInTimeRecoveryStatus !== 'ENABLED')
    throw new CommandError(`${table} has no point-in-time recovery.`);
  const { EarliestRestorableDateTime: earliest, LatestRestorableDateTime: latest } = recovery;
  const window = `${iso(earliest)} to ${iso(latest)}`;
  if ((earliest && at < earliest) || (latest && at > latest))
    throw new CommandError(`${table} can be restored to any second from ${window}, not to ${iso(at)}.`);
  return window;
};

const statusOf = async (dynamoDb: DynamoDBClient, table: string) => {
  try {
    return (await dynamoDb.send(new DescribeTableCommand({ TableName: table }))).Table?.TableStatus;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
};

const waitUntilActive = async (dynamoDb: DynamoDBClient, table: string, pollMs: number): Promise<void> => {
  while ((await statusOf(dynamoDb, table)) !== 'ACTIVE') await sleep(pollMs);
};

/**
 * Restores a table next to the original and waits until it is there, with what a restore leaves out: expiry, point-in-time
 * recovery, protection against deletion. A run that was cut off is taken up where the new table exists already.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/PointInTimeRecovery_Howitworks.html
 */
export const restoreTable = async (
  dynamoDb: DynamoDBClient,
  { table, to, at, pollMs, say }: RestoreOptions,
): Promise<void> => {
  if ((await statusOf(dynamoDb, to)) === undefined) {
    await dynamoDb.send(
      new RestoreTableToPointInTimeCommand({ SourceTableName: table, TargetTableName: to, RestoreDateTime: at }),
    );
    say(`Restoring ${table} as of ${iso(at)} to ${to}. This takes from minutes to hours, whatever the size.`);
  } else {
    say(`${to} is there already: taking up where a run before this one stopped.`);
  }
  await waitUntilActive(dynamoDb, to, pollMs);

  const { TimeToLiveDescription } = await dynamoDb.send(new DescribeTimeToLiveCommand({ TableName: to }));
  if (!/^ENABL/.test(TimeToLiveDescription?.TimeToLiveStatus ?? ''))
    await dynamoDb.send(
      new UpdateTimeToLiveCommand({
        TableName: to,
        TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
      }),
    );
  await dynamoDb.send(
    new UpdateContinuousBackupsCommand({
      TableName: to,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    }),
  );
  await dynamoDb.send(new UpdateTableCommand({ TableName: to, DeletionProtectionEnabled: true }));
  await waitUntilActive(dynamoDb, to, pollMs);
  say(`${to} is there, with expiry, point-in-time recovery and protection against deletion.`);
};

/** Sets what is counted on an account (active keys, rules) and on its projects (keys) to what it has. */
export const recountAccount = async (table: Table, accountId: string): Promise<void> => {
  const keys = await openServiceKeys(table).list(accountId);
  const rules = await openRules(table).list(accountId);
  const activeKeys = keys.filter(({ status }) => status === 'active').length;
  const change = 'SET activeKeys = :keys, ruleCount = :rules';
  await write(table, update(accountKey(accountId), change, EXISTS, { keys: activeKeys, rules: rules.length }));
  for (const { projectId } of await openProjects(table).list(accountId)) {
    if (projectId === DEFAULT_PROJECT_ID) continue;
    const keyCount = keys.filter((key) => key.projectId === projectId).length;
    await write(table, update(projectKey(accountId, projectId), 'SET keyCount = :keys', EXISTS, { keys: keyCount }));
  }
};
