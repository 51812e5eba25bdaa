import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { listen, stopServer, urlOf } from '../../../fixtures/listen.ts';
import { awsCaller, awsService } from '../../../lambda/gateway/aws/aws-json.ts';
import { nodeTransport } from '../../../lambda/gateway/aws/transport-node.ts';

const sent: object[] = [];
const server = createServer(async (request, response) => {
  const { method, url, headers } = request;
  const authorization = headers.authorization ?? '';
  sent.push({
    method,
    url,
    host: headers.host,
    type: headers['content-type'],
    target: headers['x-amz-target'],
    token: headers['x-amz-security-token'],
    credential: /Credential=[^,]+/.exec(authorization)?.[0],
    body: JSON.parse(await text(request)),
  });
  response.end('{}');
});
let endpoint: string;
beforeAll(async () => {
  await listen(server);
  endpoint = urlOf(server);
});
afterAll(() => stopServer(server));

const region = 'eu-central-1';
const credentials = { accessKeyId: 'AKIA1', secretAccessKey: 'secret', sessionToken: 'token' };
const item = { TableName: 'spend', Key: { pk: { S: 'a' }, sk: { S: 'META' } } };
const change = { ...item, UpdateExpression: 'ADD n :n', ExpressionAttributeValues: { ':n': { N: '1' } } };
const messages = {
  QueueUrl: 'http://127.0.0.1:1/000000000000/usage',
  Entries: [{ Id: '0', MessageBody: '{"text":"☃ \\" \\u0000"}', DelaySeconds: 900 }],
};
const secret = { SecretId: 'fingerprints' };
const config = () => ({ endpoint, region, credentials, useQueueUrlAsEndpoint: false, md5: false as const });

it.each([
  ['dynamodb', 'GetItem', item, () => new DynamoDBClient(config()).send(new GetItemCommand(item))],
  ['dynamodb', 'UpdateItem', change, () => new DynamoDBClient(config()).send(new UpdateItemCommand(change))],
  ['sqs', 'SendMessageBatch', messages, () => new SQSClient(config()).send(new SendMessageBatchCommand(messages))],
  [
    'secretsmanager',
    'GetSecretValue',
    secret,
    () => new SecretsManagerClient(config()).send(new GetSecretValueCommand(secret)),
  ],
] as const)('a call of %s %s is what the SDK sends', async (name, operation, input, sendBySdk) => {
  const service = awsService(name, { AWS_ENDPOINT_URL: endpoint, AWS_REGION: region });
  await awsCaller(service, () => credentials, nodeTransport)(operation, input, 60_000);
  await sendBySdk();
  const [ours, ofSdk] = sent.splice(0);
  expect(ours).toEqual(ofSdk);
});
