import { rm } from 'node:fs/promises';
import { CreateTableCommand, type CreateTableCommandInput, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { documentClient, type Table } from '../../lambda/data/table/table.ts';
import { startDynamoDb } from '../../local/emulators/dynamodb.ts';

/** The one table, with its index, as lib/stacks/data.ts makes it. */
export const tableDefinition = (name: string): CreateTableCommandInput => ({
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
});

export const createTable = async (client: Pick<DynamoDBClient, 'send'>, name: string): Promise<void> => {
  await client.send(new CreateTableCommand(tableDefinition(name)));
};

export interface EmulatedTable extends Table {
  readonly endpoint: string;
  /** Ends the emulator and removes its folder. */
  stop(): Promise<void>;
}

/** The one table on an emulator of its own, as it stands in the folder's file. `stop` removes the folder. */
export const openEmulatedTable = async (dataDir: string | undefined, name: string): Promise<EmulatedTable> => {
  const emulator = await startDynamoDb(dataDir === undefined ? {} : { dataDir });
  const dynamoDb = new DynamoDBClient({
    endpoint: emulator.endpoint,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  return {
    name,
    client: documentClient(dynamoDb),
    endpoint: emulator.endpoint,
    stop: async () => {
      dynamoDb.destroy();
      await emulator.stop();
      if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
};

/** The one table, empty, on an emulator of its own with a throw-away folder. */
export const emulatedTable = async (): Promise<EmulatedTable> => {
  const table = await openEmulatedTable(undefined, 'spend');
  await createTable(table.client, table.name);
  return table;
};
