import { tmpdir } from 'node:os';
import { DescribeTableCommand, DescribeTimeToLiveCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { emulatorClient } from '../../../fixtures/emulator-client.ts';
import { startDynamoDb } from '../../../local/emulators/dynamodb.ts';
import { startSecrets } from '../../../local/emulators/secrets.ts';
import type { Emulator } from '../../../local/emulators/worker.ts';
import { createSecrets, createTables } from '../../../local/host/resources/create-resources.ts';
import { userPoolSeeds } from '../../../local/host/resources/user-pools.ts';
import { appOf, stackOf } from './stack-of.ts';

const key = (AttributeName: string, KeyType: string) => ({ AttributeName, KeyType });
const attribute = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' });

const data = (indexes: readonly string[]) =>
  appOf(
    stackOf('data', {
      Table: {
        Type: 'AWS::DynamoDB::Table',
        Properties: {
          KeySchema: [key('pk', 'HASH'), key('sk', 'RANGE')],
          AttributeDefinitions: [attribute('pk'), attribute('sk'), ...indexes.map((name) => attribute(`${name}pk`))],
          GlobalSecondaryIndexes: indexes.map((name) => ({
            IndexName: name,
            KeySchema: [key(`${name}pk`, 'HASH')],
            Projection: { ProjectionType: 'ALL' },
          })),
          TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
          BillingMode: 'PAY_PER_REQUEST',
          DeletionProtectionEnabled: true,
        },
      },
    }),
  );

describe('tables', () => {
  let emulator: Emulator;
  let dynamo: DynamoDBClient;
  beforeEach(async () => {
    emulator = await startDynamoDb();
    dynamo = new DynamoDBClient(emulatorClient(emulator.endpoint));
  });
  afterEach(async () => {
    dynamo.destroy();
    await emulator.stop();
  });

  it('are made with their indexes and TTL attribute, once', async () => {
    await createTables(data(['gsi1']), dynamo);
    await createTables(data(['gsi1']), dynamo);
    const { Table } = await dynamo.send(new DescribeTableCommand({ TableName: 'data-Table' }));
    expect(Table?.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName)).toEqual(['gsi1']);
    const ttl = await dynamo.send(new DescribeTimeToLiveCommand({ TableName: 'data-Table' }));
    expect(ttl.TimeToLiveDescription).toMatchObject({ AttributeName: 'expiresAt', TimeToLiveStatus: 'ENABLED' });
  });

  it('of an older template are refused with a way out', async () => {
    await createTables(data(['gsi1']), dynamo);
    await expect(createTables(data(['gsi1', 'gsi2']), dynamo)).rejects.toThrow('start with another --data folder');
  });
});

describe('secrets', () => {
  it('are generated once, as the template says', async () => {
    const app = appOf(
      stackOf('s', {
        Generated: {
          Type: 'AWS::SecretsManager::Secret',
          Properties: { GenerateSecretString: { PasswordLength: 64 } },
        },
      }),
    );
    const secrets = await startSecrets({ dataDir: tmpdir() });
    createSecrets(app, secrets);
    const id = String(app.resolve({ Ref: 'Generated' }, app.stacks[0]!));
    const value = secrets.ensure({ id, value: 'not this' });
    expect(value).toHaveLength(64);
    createSecrets(app, secrets);
    expect(secrets.ensure({ id, value: 'nor this' })).toBe(value);
    await secrets.stop();
  });
});

describe('user pools', () => {
  it('have their clients and custom attributes, and token lifetimes in minutes', () => {
    const app = appOf(
      stackOf('identity', {
        Pool: {
          Type: 'AWS::Cognito::UserPool',
          Properties: { Schema: [{ Name: 'email' }, { Name: 'accountId', AttributeDataType: 'String' }] },
        },
        Client: {
          Type: 'AWS::Cognito::UserPoolClient',
          Properties: {
            UserPoolId: { Ref: 'Pool' },
            IdTokenValidity: 60,
            RefreshTokenValidity: 30,
            TokenValidityUnits: { IdToken: 'minutes', RefreshToken: 'days' },
          },
        },
      }),
    );
    expect(userPoolSeeds(app)).toMatchObject([
      {
        customAttributes: ['custom:accountId'],
        clients: [
          {
            properties: {
              IdTokenValidity: 60,
              RefreshTokenValidity: 30,
              TokenValidityUnits: { IdToken: 'minutes', RefreshToken: 'days' },
            },
          },
        ],
      },
    ]);
  });
});
