import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AdminCreateUserCommand,
  AdminInitiateAuthCommand,
  AdminSetUserPasswordCommand,
  CognitoIdentityProviderClient,
} from '@aws-sdk/client-cognito-identity-provider';
import {
  CreateTableCommand,
  DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SESClient, SendEmailCommand } from '@aws-sdk/client-ses';
import { CreateQueueCommand, ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { CognitoJwtVerifier } from 'aws-jwt-verify';
import type { Jwks } from 'aws-jwt-verify/jwk';
import getPort from 'get-port';
import { emulatorClient } from '../../fixtures/emulator-client.ts';
import { startCognito } from '../../local/emulators/cognito.ts';
import { startDynamoDb } from '../../local/emulators/dynamodb.ts';
import { startSecrets } from '../../local/emulators/secrets.ts';
import { startSes } from '../../local/emulators/ses.ts';
import { startSqs } from '../../local/emulators/sqs.ts';
import { startWorker } from '../../local/emulators/worker.ts';

let dataDir: string;
const running: { stop(): Promise<void> }[] = [];
const keep = <T extends { stop(): Promise<void> }>(started: T): T => {
  running.push(started);
  return started;
};

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'emulators-'));
});
afterEach(async () => {
  for (const started of running.splice(0)) await started.stop();
});

describe('DynamoDB', () => {
  it('keeps items across a restart', async () => {
    const first = keep(await startDynamoDb({ dataDir }));
    const dynamo = new DynamoDBClient(emulatorClient(first.endpoint));
    await dynamo.send(
      new CreateTableCommand({
        TableName: 'items',
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      }),
    );
    await dynamo.send(new PutItemCommand({ TableName: 'items', Item: { pk: { S: 'a' } } }));
    await first.stop();

    const second = keep(await startDynamoDb({ dataDir }));
    const item = await new DynamoDBClient(emulatorClient(second.endpoint)).send(
      new GetItemCommand({ TableName: 'items', Key: { pk: { S: 'a' } } }),
    );
    expect(item.Item).toEqual({ pk: { S: 'a' } });
  });

  it('starts at another port where something has taken the first one meanwhile', async () => {
    const taken = createServer((_, response) => response.end('not DynamoDB'));
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const ports = [(taken.address() as AddressInfo).port];
    const freePort = async (options: { host: string }) => ports.shift() ?? getPort(options);
    const { endpoint } = keep(await startDynamoDb({ freePort }));
    taken.close();
    const { TableNames } = await new DynamoDBClient(emulatorClient(endpoint)).send(new ListTablesCommand({}));
    expect(TableNames).toEqual([]);
  });

  it('uses the server DYNAMODB_ENDPOINT names and starts none', async () => {
    process.env['DYNAMODB_ENDPOINT'] = 'http://127.0.0.1:8000';
    try {
      expect(await startDynamoDb({ dataDir })).toMatchObject({ endpoint: 'http://127.0.0.1:8000', port: 8000 });
    } finally {
      delete process.env['DYNAMODB_ENDPOINT'];
    }
  });
});

describe('SQS', () => {
  it('keeps messages across a restart on another port, delayed ones too', async () => {
    const first = keep(await startSqs({ dataDir }));
    const sqs = new SQSClient(emulatorClient(first.endpoint));
    const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: 'q' }));
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'now' }));
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'later', DelaySeconds: 1 }));
    await first.stop();

    const second = keep(await startSqs({ dataDir }));
    const url = `${second.endpoint}/000000000000/q`;
    const bodies: (string | undefined)[] = [];
    const reader = new SQSClient(emulatorClient(second.endpoint));
    while (bodies.length < 2) {
      const { Messages } = await reader.send(
        new ReceiveMessageCommand({ QueueUrl: url, WaitTimeSeconds: 2, MaxNumberOfMessages: 10 }),
      );
      for (const message of Messages ?? []) bodies.push(message.Body);
    }
    expect(bodies.sort()).toEqual(['later', 'now']);
  });

  it('listens on the loopback interface alone', async () => {
    const { port } = keep(await startSqs());
    const outside = Object.values(networkInterfaces())
      .flat()
      .find((address) => address && !address.internal && address.family === 'IPv4');
    await expect(fetch(`http://127.0.0.1:${port}/health`).then((r) => r.status)).resolves.toBe(403);
    const target = outside?.address ?? '127.0.0.2';
    await expect(fetch(`http://${target}:${port}/health`, { signal: AbortSignal.timeout(2_000) })).rejects.toThrow();
  });
});

it.each([
  ['{ errcode: 13 }', 'SetupError', expect.stringMatching(/^The disk of the data folder is full/)],
  ["{ code: 'ENOSPC' }", 'SetupError', expect.stringMatching(/^The disk of the data folder is full/)],
  ['{ errcode: 11 }', 'Error', 'own words'],
])('an emulator that cannot start, %s, says why', async (members, name, message) => {
  const entry = new URL(`data:text/javascript,throw Object.assign(new Error('own words'), ${members})`);
  await expect(startWorker(entry, { data: null })).rejects.toMatchObject({ name, message });
});

describe('Cognito', () => {
  const register = async (cognito: CognitoIdentityProviderClient, userPoolId: string) => {
    await cognito.send(
      new AdminCreateUserCommand({
        UserPoolId: userPoolId,
        Username: 'ada@example.com',
        MessageAction: 'SUPPRESS',
        UserAttributes: [
          { Name: 'email', Value: 'ada@example.com' },
          { Name: 'email_verified', Value: 'true' },
          { Name: 'custom:accountId', Value: 'svc_1' },
        ],
      }),
    );
    await cognito.send(
      new AdminSetUserPasswordCommand({
        UserPoolId: userPoolId,
        Username: 'ada@example.com',
        Password: 'Correct-Horse-1',
        Permanent: true,
      }),
    );
  };

  it('issues ID tokens that aws-jwt-verify takes for the real pool, and keeps users across a restart', async () => {
    const first = keep(await startCognito({ dataDir }));
    await register(new CognitoIdentityProviderClient(emulatorClient(first.endpoint)), first.userPoolId);
    await first.stop();

    const second = keep(await startCognito({ dataDir }));
    const response = await new CognitoIdentityProviderClient(emulatorClient(second.endpoint)).send(
      new AdminInitiateAuthCommand({
        UserPoolId: second.userPoolId,
        ClientId: second.clientId,
        AuthFlow: 'ADMIN_USER_PASSWORD_AUTH',
        AuthParameters: { USERNAME: 'ada@example.com', PASSWORD: 'Correct-Horse-1' },
      }),
    );
    const verifier = CognitoJwtVerifier.create({
      userPoolId: second.userPoolId,
      clientId: second.clientId,
      tokenUse: 'id',
    });
    verifier.cacheJwks((await fetch(second.jwksUri).then((response) => response.json())) as Jwks);
    const claims = await verifier.verify(response.AuthenticationResult?.IdToken ?? '');
    expect(claims).toMatchObject({ email: 'ada@example.com', 'custom:accountId': 'svc_1', iss: second.issuer });
    expect(Number(claims.exp) - Number(claims.iat)).toBe(3600);
  });
});

describe('SES', () => {
  it('keeps the inbox across a restart', async () => {
    const first = keep(await startSes({ dataDir }));
    await new SESClient(emulatorClient(first.endpoint)).send(
      new SendEmailCommand({
        Source: 'alerts@example.com',
        Destination: { ToAddresses: ['ada@example.com'] },
        Message: { Subject: { Data: 'Hello' }, Body: { Text: { Data: 'You spent $1.' } } },
      }),
    );
    await first.stop();
    const second = keep(await startSes({ dataDir }));
    expect(await second.inbox()).toMatchObject([{ subject: 'Hello', destination: { to: ['ada@example.com'] } }]);
  });
});

describe('Secrets Manager', () => {
  const read = async (endpoint: string, id: string) =>
    (await new SecretsManagerClient(emulatorClient(endpoint)).send(new GetSecretValueCommand({ SecretId: id })))
      .SecretString;

  it('generates a value once', async () => {
    const first = keep(await startSecrets({ dataDir }));
    const value = first.ensure({ id: 'fingerprint', length: 40 });
    expect(value).toHaveLength(40);
    expect(await read(first.endpoint, 'fingerprint')).toBe(value);
    await first.stop();
    const second = keep(await startSecrets({ dataDir }));
    expect(second.ensure({ id: 'fingerprint', length: 40 })).toBe(value);
    await expect(read(second.endpoint, 'other')).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });
});
