import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Table } from '../../lambda/data/table.ts';
import { startDynamoDb } from '../../local/emulators/dynamodb.ts';

/** Makes the one table, with its index, as lib/stacks/data.ts does. */
export const createTable = async (dynamoDb: DynamoDBClient, name: string): Promise<void> => {
  await dynamoDb.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: ['pk', 'sk', 'gsi1pk', 'gsi1sk'].map((AttributeName) => ({
        AttributeName,
        AttributeType: 'S',
      })),
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'gsi1',
          KeySchema: [
            { AttributeName: 'gsi1pk', KeyType: 'HASH' },
            { AttributeName: 'gsi1sk', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'ALL' },
        },
      ],
    }),
  );
};

/** The one table, empty, on an emulator of its own with a throw-away folder. `stop` ends both. */
export const emulatedTable = async (): Promise<Table & { readonly endpoint: string; stop(): Promise<void> }> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'table-'));
  const emulator = await startDynamoDb({ dataDir });
  const dynamoDb = new DynamoDBClient({
    endpoint: emulator.endpoint,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const name = 'spend';
  await createTable(dynamoDb, name);
  return {
    name,
    client: DynamoDBDocumentClient.from(dynamoDb, { marshallOptions: { removeUndefinedValues: true } }),
    endpoint: emulator.endpoint,
    stop: async () => {
      dynamoDb.destroy();
      await emulator.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
};
