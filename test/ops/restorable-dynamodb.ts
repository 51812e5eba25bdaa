import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import {
  type AttributeValue,
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  PutItemCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { emulatorClient } from '../../fixtures/emulator-client.ts';
import { listen, stopServer, urlOf } from '../../fixtures/listen.ts';

/**
 * What the DynamoDB emulator lacks, in front of it: point-in-time recovery. A table is restored to the moment of the last
 * `remember`, into a table that is CREATING the first time anybody asks, and takes no backups at first, as on AWS without expiry.
 */
export const restorableDynamoDb = async (endpoint: string) => {
  const client = new DynamoDBClient(emulatorClient(endpoint));
  const remembered = new Map<string, Record<string, AttributeValue>[]>();
  const calls: string[] = [];
  const recovery = { status: 'ENABLED' };
  const creating = new Set<string>();
  const summaries = new Map<string, object>();
  const withoutBackups = new Set<string>();

  const restore = async (source: string, target: string): Promise<void> => {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: source }));
    await client.send(
      new CreateTableCommand({
        TableName: target,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: Table?.AttributeDefinitions,
        KeySchema: Table?.KeySchema,
        GlobalSecondaryIndexes: Table?.GlobalSecondaryIndexes?.map(({ IndexName, KeySchema, Projection }) => ({
          IndexName,
          KeySchema,
          Projection,
        })),
      } as CreateTableCommandInput),
    );
    for (const Item of remembered.get(source) ?? []) await client.send(new PutItemCommand({ TableName: target, Item }));
    creating.add(target);
    withoutBackups.add(target);
  };

  const own = new Map<string, (input: Record<string, string>) => Promise<object>>();
  own.set('DescribeContinuousBackups', async () => ({
    ContinuousBackupsDescription: {
      ContinuousBackupsStatus: 'ENABLED',
      PointInTimeRecoveryDescription: {
        PointInTimeRecoveryStatus: recovery.status,
        EarliestRestorableDateTime: Date.parse('2026-11-01T00:00:00Z') / 1_000,
        LatestRestorableDateTime: Date.parse('2026-11-20T12:00:00Z') / 1_000,
      },
    },
  }));
  own.set('RestoreTableToPointInTime', async ({ SourceTableName = '', TargetTableName = '', RestoreDateTime }) => {
    await restore(SourceTableName, TargetTableName);
    const SourceTableArn = `arn:aws:dynamodb:eu-central-1:123456789012:table/${SourceTableName}`;
    summaries.set(TargetTableName, { SourceTableArn, RestoreDateTime, RestoreInProgress: false });
    return { TableDescription: { TableStatus: 'CREATING' } };
  });
  own.set('UpdateContinuousBackups', async () => ({
    ContinuousBackupsDescription: { ContinuousBackupsStatus: 'ENABLED' },
  }));

  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    const input = JSON.parse(body.toString()) as Record<string, string>;
    calls.push(operation);
    response.setHeader('content-type', 'application/x-amz-json-1.0');
    const respond = own.get(operation);
    if (operation === 'UpdateContinuousBackups' && withoutBackups.delete(input['TableName'] ?? '')) {
      const __type = 'com.amazonaws.dynamodb.v20120810#ContinuousBackupsUnavailableException';
      const message = 'Backups are being enabled for the table. Please retry later';
      return response.writeHead(400).end(JSON.stringify({ __type, message }));
    }
    if (respond) return response.end(JSON.stringify(await respond(input)));
    const RestoreSummary = summaries.get(input['TableName'] ?? '');
    if (operation === 'DescribeTable' && RestoreSummary) {
      const TableStatus = creating.delete(input['TableName'] ?? '') ? 'CREATING' : 'ACTIVE';
      return response.end(JSON.stringify({ Table: { TableStatus, RestoreSummary } }));
    }
    const { status, headers, ...rest } = await fetch(endpoint, {
      method: 'POST',
      headers: request.headers as Record<string, string>,
      body,
    }).then(async (passed) => ({ status: passed.status, headers: passed.headers, text: await passed.text() }));
    return response.writeHead(status, { 'x-amz-crc32': headers.get('x-amz-crc32') ?? '' }).end(rest.text);
  });
  await listen(server);

  return {
    endpoint: urlOf(server),
    /** Names of the operations asked for, in order. */
    calls,
    recovery,
    remember: async (table: string): Promise<void> => {
      const { Items = [] } = await client.send(new ScanCommand({ TableName: table }));
      remembered.set(table, Items);
    },
    stop: async () => {
      client.destroy();
      await stopServer(server);
    },
  };
};
