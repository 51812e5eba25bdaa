import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import WebSocket from 'ws';
import { ask } from '../../../fixtures/exchange.ts';
import { FINGERPRINT_SECRET, gatewayVariables } from '../../../fixtures/gateway-variables.ts';
import { listen, portOf } from '../../../fixtures/listen.ts';
import { type ScriptedOrigin, startScriptedOrigin } from '../../../fixtures/scripted-origin.ts';
import { createGatewayServer } from '../../../lambda/gateway/hosts/gateway-server.ts';
import { gatewayHttpServer } from '../../../lambda/gateway/hosts/http-server.ts';
import { KEYS } from '../gateway-host.ts';
import { startSocketOrigin } from '../websocket/scripted-socket-origin.ts';

/* The gateway as compose.ts builds it from its environment, against a fake AWS that responds by X-Amz-Target. */

let aws: Server;
let origin: ScriptedOrigin;
const calls: { target: string; input: Record<string, unknown> }[] = [];
let onCall = (): void => {};
const nextCall = (): Promise<void> =>
  new Promise((resolve) => {
    onCall = resolve;
  });
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
    onCall();
  });
  await listen(aws);
});
afterAll(async () => {
  aws.closeAllConnections();
  aws.close();
  await origin.close();
});

const environment = (upstream = origin.origin) => ({
  TABLE_NAME: 'table',
  USAGE_QUEUE_URL: 'https://sqs.test/queue',
  ...gatewayVariables(upstream, 30),
  AWS_REGION: 'eu-central-1',
  AWS_ENDPOINT_URL: `http://127.0.0.1:${portOf(aws)}`,
  AWS_ACCESS_KEY_ID: 'id',
  AWS_SECRET_ACCESS_KEY: 'secret',
});
const headers = { Host: 'openai.gateway.test', 'X-Service-Key': KEYS.active, Authorization: 'Bearer sk-test' };

/** Kind and delay of the events sent so far. */
const sentEvents = (): [kind: string, delaySeconds: number][] =>
  calls
    .filter(({ target }) => target.endsWith('SendMessageBatch'))
    .flatMap(({ input }) => input['Entries'] as { MessageBody: string; DelaySeconds: number }[])
    .map(({ MessageBody, DelaySeconds }) => [JSON.parse(MessageBody).kind, DelaySeconds]);

it('tracks a request with its real parts, and close() waits for its event', async () => {
  const gateway = createGatewayServer(environment());
  const server = gatewayHttpServer((request, response) => gateway.handle(request, response));
  await listen(server);
  let closed: Promise<void> | undefined;
  let isClosed = false;
  let openMeanwhile = 0;
  origin.script = (_request, response) => {
    openMeanwhile = gateway.openRequests();
    closed = gateway.close().then(() => {
      isClosed = true;
    });
    setImmediate(() => response.end('fine'));
  };
  const response = await ask({
    port: portOf(server),
    headers,
    onHeaders: () => expect(isClosed).toBe(false),
  });
  expect(response.body.toString()).toBe('fine');
  await closed;
  expect([openMeanwhile, gateway.openRequests()]).toEqual([1, 0]);
  server.close();
  const read = calls.find(({ target }) => target.endsWith('GetItem'));
  expect(read?.input).toMatchObject({ TableName: 'table', Key: { pk: { S: expect.any(String) } } });
  expect(calls.filter(({ target }) => target.endsWith('GetSecretValue')).map(({ input }) => input)).toEqual([
    { SecretId: FINGERPRINT_SECRET },
  ]);
  expect(sentEvents()).toEqual([
    ['open', 30],
    ['close', 0],
  ]);
});

it('close() waits for the last of several requests, and closes the connections to providers', async () => {
  const gateway = createGatewayServer(environment());
  const server = gatewayHttpServer((request, response) => gateway.handle(request, response));
  await listen(server);
  const held: ServerResponse[] = [];
  const bothArrived = Promise.withResolvers<void>();
  const connections: Socket[] = [];
  origin.script = (request, response) => {
    connections.push(request.socket);
    if (held.push(response) === 2) bothArrived.resolve();
  };
  const asked = [1, 2].map(() => ask({ port: portOf(server), headers }));
  await bothArrived.promise;
  let isClosed = false;
  const closed = gateway.close().then(() => {
    isClosed = true;
  });
  const before = calls.length;
  held[0]?.end('first');
  await Promise.race(asked);
  while (!calls.slice(before).some(({ input }) => JSON.stringify(input).includes('completed'))) await nextCall();
  // By now the gateway has the queue's response, too.
  await ask({ port: portOf(server), path: '/health', headers });
  expect(isClosed).toBe(false);
  held[1]?.end('second');
  await Promise.all(asked);
  await closed;
  server.close();
  // The provider learns of it within some turns, long before it would give up an idle connection.
  origin.script = (_request, response) => response.end();
  const isOpen = ({ destroyed }: Socket): boolean => !destroyed;
  for (let n = 0; n < 100 && connections.some(isOpen); n++) await ask({ port: Number(new URL(origin.origin).port) });
  expect(connections.filter(isOpen)).toHaveLength(0);
});

it('close() waits for WebSockets, which closeAllConnections() ends, and for their events', async () => {
  const sockets = await startSocketOrigin();
  const gateway = createGatewayServer(environment(sockets.origin));
  const server = gatewayHttpServer(() => {}, {}, gateway.upgrade);
  await listen(server);
  const before = sentEvents().length;
  const client = new WebSocket(`ws://127.0.0.1:${portOf(server)}/v1/realtime`, { headers });
  client.on('error', () => {});
  await once(client, 'open');
  let isClosed = false;
  const closed = gateway.close().then(() => {
    isClosed = true;
  });
  const pong = once(client, 'pong');
  client.ping();
  await pong;
  expect(isClosed).toBe(false);
  const end = once(client, 'close');
  server.closeAllConnections();
  expect((await end)[0]).toBe(1_001);
  await closed;
  expect(sentEvents().slice(before)).toEqual([
    ['open', 30],
    ['close', 0],
  ]);
  server.close();
  await sockets.close();
});

it('close() is done at once when nothing is open', async () => {
  await createGatewayServer(environment()).close();
});

it('needs its environment', () => {
  expect(() => createGatewayServer({})).toThrow('TABLE_NAME');
});
