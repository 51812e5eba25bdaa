import { rm } from 'node:fs/promises';
import { CreateTableCommand, type CreateTableCommandInput, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { documentClient, type Table } from '../../lambda/data/table/table.ts';
import { startDynamoDb } from '../../local/emulators/dynamodb.ts';

/** The table with its index, as lib/stacks/data.ts creates it. */
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
  /** Stops the emulator and removes its folder, if it has one. */
  stop(): Promise<void>;
}

/** The emulator requires a signature but does not verify it. Calculating one takes a quarter of a call's processor time. */
const anySignature = {
  authorization:
    'AWS4-HMAC-SHA256 Credential=local/20260101/eu-central-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
  'x-amz-date': '20260101T000000Z',
};

/**
 * Opens the table with its own emulator.
 *
 * @param dataDir the folder of the table's file, which `stop` removes; without it, data is in memory
 */
export const openEmulatedTable = async (dataDir: string | undefined, name: string): Promise<EmulatedTable> => {
  const emulator = await startDynamoDb(dataDir === undefined ? {} : { dataDir });
  const dynamoDb = new DynamoDBClient({
    endpoint: emulator.endpoint,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    signer: {
      sign: async (request) => {
        Object.assign(request.headers, anySignature);
        return request;
      },
    },
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

/** Creates the empty table in memory with its own emulator. */
export const emulatedTable = async (): Promise<EmulatedTable> => {
  const table = await openEmulatedTable(undefined, 'spend');
  await createTable(table.client, table.name);
  return table;
};
