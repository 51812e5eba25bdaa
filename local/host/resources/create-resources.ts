import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { CreateBucketCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { CreateQueueCommand, SetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { z } from 'zod';
import { ignoring } from '../../../lambda/domain/errors.ts';
import type { SecretsEmulator } from '../../emulators/secrets.ts';
import { SetupError } from '../../setup-error.ts';
import { type App, definitions } from '../template/definitions.ts';

const queueSchema = z.object({
  VisibilityTimeout: z.number().optional(),
  MessageRetentionPeriod: z.number().optional(),
  RedrivePolicy: z.object({ deadLetterTargetArn: z.string(), maxReceiveCount: z.coerce.number() }).optional(),
});

/** Makes every queue of the templates. A queue that exists gets the templates' attributes. Dead-letter queues come first. */
export const createQueues = async (app: App, sqs: SQSClient): Promise<void> => {
  const queues = definitions(app, queueSchema, 'AWS::SQS::Queue').sort(
    (a, b) => Number(a.properties.RedrivePolicy !== undefined) - Number(b.properties.RedrivePolicy !== undefined),
  );
  for (const queue of queues) {
    const Attributes = Object.fromEntries(
      Object.entries(queue.properties).map(([name, value]) => [name, JSON.stringify(value)]),
    );
    try {
      await sqs.send(new CreateQueueCommand({ QueueName: queue.attribute('QueueName'), Attributes }));
    } catch (error) {
      // The emulator puts the service's name in front, so that the SDK does not know the error.
      if (!(error instanceof Error && error.name.endsWith('QueueNameExists'))) throw error;
      await sqs.send(new SetQueueAttributesCommand({ QueueUrl: queue.ref, Attributes }));
    }
  }
};

const secretSchema = z.object({
  GenerateSecretString: z.object({ PasswordLength: z.number().default(32) }),
});

/** Gives every secret of the templates its first value, unless it has one. */
export const createSecrets = (app: App, secrets: SecretsEmulator): void => {
  for (const { ref, properties } of definitions(app, secretSchema, 'AWS::SecretsManager::Secret')) {
    secrets.ensure({ id: ref, length: properties.GenerateSecretString.PasswordLength });
  }
};

/** Makes every bucket of the templates that is not there yet. */
export const createBuckets = async (app: App, config: S3ClientConfig): Promise<void> => {
  const s3 = new S3Client(config);
  for (const { ref } of definitions(app, z.object({}), 'AWS::S3::Bucket')) {
    await s3.send(new CreateBucketCommand({ Bucket: ref })).catch(ignoring('BucketAlreadyOwnedByYou'));
  }
  s3.destroy();
};

const keySchema = z.array(z.object({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) }));

const indexSchema = z.object({
  IndexName: z.string(),
  KeySchema: keySchema,
  Projection: z.object({ ProjectionType: z.enum(['ALL', 'KEYS_ONLY']) }),
});

const tableSchema = z.object({
  AttributeDefinitions: z.array(z.object({ AttributeName: z.string(), AttributeType: z.enum(['S', 'N', 'B']) })),
  KeySchema: keySchema,
  GlobalSecondaryIndexes: z.array(indexSchema).optional(),
  TimeToLiveSpecification: z.object({ AttributeName: z.string(), Enabled: z.boolean() }).optional(),
});

type TableProperties = z.infer<typeof tableSchema>;

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
      throw new SetupError(
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
 * @throws SetupError where the table on disk was made by a template with other keys or indexes
 */
export const createTables = async (app: App, dynamo: DynamoDBClient): Promise<void> => {
  const tables = definitions(app, tableSchema, 'AWS::DynamoDB::Table');
  await Promise.all(tables.map(({ ref, properties }) => ensureTable(dynamo, ref, properties)));
};
