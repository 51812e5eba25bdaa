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
