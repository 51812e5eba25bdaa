import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { listen, stopServer, urlOf } from '../../../fixtures/listen.ts';
import { awsCaller, awsService, environmentCredentials } from '../../../lambda/gateway/aws/aws-json.ts';
import { type AwsRequest, DeadConnectionError } from '../../../lambda/gateway/aws/transport.ts';
import { nodeTransport } from '../../../lambda/gateway/aws/transport-node.ts';
import { undiciTransport } from '../../../lambda/gateway/aws/transport-undici.ts';

let respond: (request: IncomingMessage, response: ServerResponse) => void;
let connections: Socket[];
let server: ReturnType<typeof createServer>;
let variables: Record<string, string>;

beforeEach(async () => {
  connections = [];
  respond = (_request, response) => response.end('{"ok":true}');
  server = createServer((request, response) => {
    request.resume().on('end', () => respond(request, response));
  });
  server.on('connection', (socket) => connections.push(socket));
  await listen(server);
  variables = { AWS_ENDPOINT_URL_SQS: urlOf(server), AWS_REGION: 'x' };
});

afterEach(() => stopServer(server));

/** For calls that get a response. */
const PATIENCE_MS = 60_000;

const transports = [
  ['node:http', nodeTransport, 1],
  // Cannot distinguish a new connection from a kept one, so it retries once.
  ['undici', undiciTransport, 2],
] as const;

describe.each(transports)('awsCaller over %s', (_name, transport, mostTries) => {
  const caller = () =>
    awsCaller(awsService('sqs', variables), () => ({ accessKeyId: 'a', secretAccessKey: 'b' }), transport);

  it('reuses its connection', async () => {
    const call = caller();
    for (let n = 0; n < 9; n++) expect(await call('GetItem', {}, PATIENCE_MS)).toEqual({ ok: true });
    // undici leaves a connection unused for a turn of the event loop.
    expect(connections.length).toBeLessThanOrEqual(2);
  });

  it('replaces, once, a kept connection that the other side closes at that moment', async () => {
    const call = caller();
    await call('GetItem', {}, PATIENCE_MS);
    let dropped = 0;
    respond = (request, response) => {
      if (dropped++ === 0) request.socket.destroy();
      else response.end('{"ok":2}');
    };
    expect(await call('GetItem', {}, PATIENCE_MS)).toEqual({ ok: 2 });
    expect(dropped).toBe(2);
  });

  it('does not retry forever when connections close before a response', async () => {
    let requests = 0;
    respond = (request) => {
      requests += 1;
      request.socket.destroy();
    };
    await expect(caller()('GetItem', {}, PATIENCE_MS)).rejects.toThrow(/hang up|ECONNRESET|other side closed/);
    expect(requests).toBe(mostTries);
  });

  it('does not retry after a timeout or an error response', async () => {
    const call = caller();
    await call('GetItem', {}, PATIENCE_MS);
    let requests = 0;
    respond = () => void requests++;
    await expect(call('GetItem', {}, 250)).rejects.toThrow('sqs GetItem: no response within 250 ms');
    respond = (_request, response) => {
      requests += 10;
      response.writeHead(400).end('{"__type":"x#Throttled","message":"slow"}');
    };
    await expect(call('GetItem', {}, PATIENCE_MS)).rejects.toMatchObject({ code: 'Throttled', status: 400 });
    respond = (_request, response) => response.end('<html>');
    await expect(call('GetItem', {}, PATIENCE_MS)).rejects.toThrow(
      'sqs GetItem: the response (status 200) is not JSON',
    );
    respond = (_request, response) => response.end('x'.repeat(2 ** 20 + 1));
    await expect(call('GetItem', {}, PATIENCE_MS)).rejects.toThrow(
      'sqs GetItem: the response is longer than 1048576 bytes',
    );
    // On a stalled machine the first call may time out before the server sees it.
    expect([10, 11]).toContain(requests);
  });
});

describe('a service’s endpoint', () => {
  it('is the regional one', () => {
    expect(awsService('sqs', { AWS_REGION: 'eu-central-1' })).toEqual({
      name: 'sqs',
      targetPrefix: 'AmazonSQS',
      contentType: 'application/x-amz-json-1.0',
      endpoint: 'https://sqs.eu-central-1.amazonaws.com',
      region: 'eu-central-1',
    });
    expect(awsService('dynamodb', {})).toMatchObject({
      endpoint: 'https://dynamodb.us-east-1.amazonaws.com',
      region: 'us-east-1',
    });
  });

  it.each([
    ['sqs', 'AWS_ENDPOINT_URL_SQS'],
    ['dynamodb', 'AWS_ENDPOINT_URL_DYNAMODB'],
    ['secretsmanager', 'AWS_ENDPOINT_URL_SECRETS_MANAGER'],
  ] as const)('of %s is replaced by %s, else by AWS_ENDPOINT_URL', (name, variable) => {
    const all = { AWS_ENDPOINT_URL: 'http://all.test' };
    expect(awsService(name, all).endpoint).toBe('http://all.test');
    expect(awsService(name, { ...all, [variable]: 'http://one.test' }).endpoint).toBe('http://one.test');
  });
});

describe('credentials from the environment', () => {
  const pair = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };

  it('are a pair, with a session token if there is one', () => {
    const keys = { accessKeyId: 'id', secretAccessKey: 'secret' };
    expect(environmentCredentials(pair)()).toEqual(keys);
    expect(environmentCredentials({ ...pair, AWS_SESSION_TOKEN: '' })()).toEqual(keys);
    expect(environmentCredentials({ ...pair, AWS_SESSION_TOKEN: 'token' })()).toEqual({
      ...keys,
      sessionToken: 'token',
    });
  });

  it.each(Object.keys(pair))('are missing without %s', (name) => {
    expect(environmentCredentials({ ...pair, [name]: undefined })).toThrow(
      'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
    );
  });
});

describe('a call’s result', () => {
  const keys = { accessKeyId: 'a', secretAccessKey: 'b' };
  const callWith = (status: number, body: string) =>
    awsCaller(
      awsService('sqs', {}),
      () => keys,
      () => async () => ({ status, body: Buffer.from(body) }),
    )('Op', {}, 1);

  it.each([
    [200, '{"a":1}', { a: 1 }],
    [299, '{}', {}],
    [200, '', {}],
  ])('of status %i is its body: %j', async (status, body, output) => {
    expect(await callWith(status, body)).toEqual(output);
  });

  it.each([
    [400, '{"__type":"com.amazonaws.sqs#NoQueue","message":"gone"}', 'NoQueue', 'gone'],
    [500, '{"code":"Internal","Message":"oh"}', 'Internal', 'oh'],
    [300, '{"__type":"Moved"}', 'Moved', ''],
    [199, '', 'UnknownError', ''],
  ])('of status %i is an error: %s', async (status, body, code, message) => {
    await expect(callWith(status, body)).rejects.toMatchObject({ name: code, status, code, message });
  });

  it('is an error that names the call and its cause when there is no response, after one more attempt', async () => {
    const sent: AwsRequest[] = [];
    const call = awsCaller(
      awsService('sqs', {}),
      async () => keys,
      () => async (request) => {
        sent.push(request);
        throw new DeadConnectionError('closed');
      },
    );
    await expect(call('Op', { a: 1 }, 1)).rejects.toMatchObject({
      message: 'sqs Op: closed',
      cause: { name: 'DeadConnectionError' },
    });
    expect(sent).toHaveLength(2);
    expect(sent[1]).toEqual(sent[0]);
    expect(sent[0]).toMatchObject({
      headers: { 'X-Amz-Target': 'AmazonSQS.Op', Host: 'sqs.us-east-1.amazonaws.com' },
      body: '{"a":1}',
    });
  });
});
