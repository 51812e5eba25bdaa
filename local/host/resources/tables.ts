import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { z } from 'zod';
import { SetupError } from '../../setup-error.ts';
import { type App, definitions } from '../template/definitions.ts';

const keySchema = z.array(z.object({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) }));

const indexSchema = z.object({
  IndexName: z.string(),
  KeySchema: keySchema,
  Projection: z.object({
    ProjectionType: z.enum(['ALL', 'INCLUDE', 'KEYS_ONLY']),
    NonKeyAttributes: z.array(z.string()).optional(),
  }),
});

const tableSchema = z.object({
  AttributeDefinitions: z.array(z.object({ AttributeName: z.string(), AttributeType: z.enum(['S', 'N', 'B']) })),
  KeySchema: keySchema,
  GlobalSecondaryIndexes: z.array(indexSchema).optional(),
  LocalSecondaryIndexes: z.array(indexSchema).optional(),
  TimeToLiveSpecification: z.object({ AttributeName: z.string(), Enabled: z.boolean() }).optional(),
});

type TableProperties = z.infer<typeof tableSchema>;

/** The table on disk was made by a template with other keys or indexes. The message says what to do. */
class OutdatedTableError extends SetupError {
  override readonly name = 'OutdatedTableError';
}

const shape = (table: {
  readonly KeySchema?: readonly object[] | undefined;
  readonly GlobalSecondaryIndexes?: readonly { readonly IndexName?: string | undefined }[] | undefined;
}): string =>
  JSON.stringify([
    table.KeySchema,
    (table.GlobalSecondaryIndexes ?? []).map((index) => index.IndexName).sort((a, b) => `${a}`.localeCompare(`${b}`)),
  ]);

const ensureTable = async (dynamo: DynamoDBClient, name: string, properties: TableProperties): Promise<void> => {
  const { TimeToLiveSpecification: ttl, ...rest } = properties;
  try {
    await dynamo.send(new CreateTableCommand({ TableName: name, BillingMode: 'PAY_PER_REQUEST', ...rest }));
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
    const { Table } = await dynamo.send(new DescribeTableCommand({ TableName: name }));
    if (Table && shape(Table) !== shape(properties)) {
      throw new OutdatedTableError(
        `The table ${name} in the data folder has other keys or indexes than the template: start with another --data folder.`,
      );
    }
    return;
  }
  if (ttl?.Enabled) {
    await dynamo.send(new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification: ttl }));
  }
};

/**
 * Makes every table of the templates that is not there yet, with its indexes and TTL attribute.
 *
 * @throws OutdatedTableError
 */
export const createTables = async (app: App, dynamo: DynamoDBClient): Promise<void> => {
  const tables = definitions(app, tableSchema, 'AWS::DynamoDB::Table', 'AWS::DynamoDB::GlobalTable');
  await Promise.all(tables.map(({ ref, properties }) => ensureTable(dynamo, ref, properties)));
};
