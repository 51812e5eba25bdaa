import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ask } from '../../../fixtures/exchange.ts';
import { type ScriptedOrigin, startScriptedOrigin } from '../../../fixtures/scripted-origin.ts';
import { createGatewayServer } from '../../../lambda/gateway/hosts/gateway-server.ts';
import { gatewayHttpServer } from '../../../lambda/gateway/hosts/http-server.ts';
import { KEYS } from '../gateway-host.ts';

/* The gateway as compose.ts builds it from its environment, against a fake AWS that responds by X-Amz-Target. */

let aws: Server;
let origin: ScriptedOrigin;
const calls: { target: string; input: Record<string, unknown> }[] = [];
const text = (value: string) => ({ S: value });

const responses: Record<string, (input: Record<string, unknown>) => object> = {
  'DynamoDB_20120810.GetItem': () => ({
    Item: {
      accountId: text(KEYS.active),
      keyId: text('key-1'),
      keyStatus: text('active'),
      accountStatus: text('active'),
    },
  }),
  'secretsmanager.GetSecretValue': () => ({ SecretString: 'key' }),
  'AmazonSQS.SendMessageBatch': () => ({ Successful: [] }),
};

beforeAll(async () => {
  origin = await startScriptedOrigin();
  aws = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const target = String(request.headers['x-amz-target']);
    const input = JSON.parse(body);
    calls.push({ target, input });
    response.end(JSON.stringify(responses[target]?.(input)));
  });
  aws.listen(0, '127.0.0.1');
  await once(aws, 'listening');
});
afterAll(async () => {
  aws.closeAllConnections();
  aws.close();
  await origin.close();
});

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

it('tracks a request with its real parts, and close() waits for its event', async () => {
  const gateway = createGatewayServer({
    TABLE_NAME: 'table',
    USAGE_QUEUE_URL: 'https://sqs.test/queue',
    GATEWAY_DOMAIN: 'gateway.test',
    FINGERPRINT_SECRET_ID: 'secret-id',
    OPEN_EVENT_DELAY_SECONDS: '30',
    CONNECT_TIMEOUT_MS: '60000',
    HEADERS_TIMEOUT_MS: '60000',
    IDLE_TIMEOUT_MS: '60000',
    UPSTREAM_ORIGINS: JSON.stringify({ openai: origin.origin }),
    AWS_REGION: 'eu-central-1',
    AWS_ENDPOINT_URL: `http://127.0.0.1:${portOf(aws)}`,
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'secret',
  });
  const server = gatewayHttpServer((request, response) => gateway.handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  let closed: Promise<void> | undefined;
  let isClosed = false;
  origin.script = (_request, response) => {
    closed = gateway.close().then(() => {
      isClosed = true;
    });
    setImmediate(() => response.end('fine'));
  };
  const response = await ask({
    port: portOf(server),
    headers: { Host: 'openai.gateway.test', 'X-Service-Key': KEYS.active, Authorization: 'Bearer sk-test' },
    onHeaders: () => expect(isClosed).toBe(false),
  });
  expect(response.body.toString()).toBe('fine');
  await closed;
  server.close();
  const read = calls.find(({ target }) => target.endsWith('GetItem'));
  expect(read?.input).toMatchObject({ TableName: 'table', Key: { pk: { S: expect.any(String) } } });
  expect(calls.filter(({ target }) => target.endsWith('GetSecretValue')).map(({ input }) => input)).toEqual([
    { SecretId: 'secret-id' },
  ]);
  const sent = calls
    .filter(({ target }) => target.endsWith('SendMessageBatch'))
    .flatMap(({ input }) => input['Entries'] as { MessageBody: string; DelaySeconds: number }[])
    .map(({ MessageBody, DelaySeconds }) => [JSON.parse(MessageBody).kind, DelaySeconds]);
  expect(sent).toEqual([
    ['open', 30],
    ['close', 0],
  ]);
});

it('needs its environment', () => {
  expect(() => createGatewayServer({})).toThrow('TABLE_NAME');
});
