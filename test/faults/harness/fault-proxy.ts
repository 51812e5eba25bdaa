import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { SendMessageBatchCommand, type SendMessageBatchCommandInput, SQSClient } from '@aws-sdk/client-sqs';
import { emulatorClient } from '../../../fixtures/emulator-client.ts';
import type { Answer, ItemLocks } from './item-locks.ts';

/** What an AWS service does wrong. */
export type Fault =
  | { readonly kind: 'none' }
  /** Nobody listens. */
  | { readonly kind: 'refuses' }
  /** Does the work and responds late. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** Takes the call and never responds. */
  | { readonly kind: 'silent' }
  /** Responds with this error. */
  | { readonly kind: 'error'; readonly status: number; readonly body: object }
  /** Does the work, and the connection breaks before the response. */
  | { readonly kind: 'responseLost' }
  /** SQS: refuses every second entry of a batch. */
  | { readonly kind: 'halfBatch' }
  /** DynamoDB: refuses writes that conflict. */
  | { readonly kind: 'conflicts'; readonly locks: ItemLocks };

/** Error bodies as the services send them. */
export const awsErrors = {
  dynamoDbThrottled: {
    status: 400,
    body: {
      __type: 'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException',
      message:
        'The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API.',
    },
  },
  throttled: {
    status: 400,
    body: { __type: 'com.amazon.coral.availability#ThrottlingException', message: 'Rate exceeded' },
  },
  sqsThrottled: {
    status: 400,
    body: {
      __type: 'com.amazonaws.sqs#RequestThrottled',
      message: 'The request was denied due to request throttling.',
    },
  },
  internal: {
    status: 500,
    body: { __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError', message: 'Internal server error' },
  },
  unavailable: { status: 503, body: { __type: 'com.amazon.coral.service#ServiceUnavailableException' } },
} as const;

/** Stands between a part and the service it calls; keeps its address whatever becomes of the service. */
export interface FaultProxy {
  readonly endpoint: string;
  fault: Fault;
  /** Where calls go; may change when the service starts anew. */
  target: string;
  /** Calls so far, by operation. */
  readonly calls: Map<string, number>;
  /** Messages so far with several events. */
  sharedMessages: number;
  set(fault: Fault): Promise<void>;
  close(): Promise<void>;
}

const batchOf = (body: string) => {
  const { QueueUrl, Entries = [] } = JSON.parse(body) as SendMessageBatchCommandInput;
  return { QueueUrl, Entries };
};

export const startFaultProxy = async (target: string): Promise<FaultProxy> => {
  const agent = new Agent({ keepAlive: true });
  const calls = new Map<string, number>();
  let sqs: SQSClient | undefined;

  const pass = (request: IncomingMessage, body: string): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const url = new URL(proxy.target);
      const headers = { ...request.headers, 'content-length': String(Buffer.byteLength(body)) };
      const outgoing = httpRequest(
        { agent, hostname: url.hostname, port: url.port, method: request.method, path: request.url, headers },
        async (upstream) => {
          resolve({ status: upstream.statusCode ?? 0, body: await text(upstream).catch(() => '') });
        },
      );
      outgoing.on('error', reject);
      outgoing.end(body);
    });

  const respond = (response: ServerResponse, { status, body }: Answer): void => {
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(body);
  };

  /** Sends half of a batch anew: what is signed cannot be changed. */
  const passHalf = async (body: string): Promise<Answer> => {
    const { QueueUrl, Entries } = batchOf(body);
    const [taken, refused] = [0, 1].map((rest) => Entries.filter((_, index) => index % 2 === rest));
    sqs ??= new SQSClient({ ...emulatorClient(proxy.target), useQueueUrlAsEndpoint: false });
    const { Successful } = await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries: taken }));
    const Failed = refused?.map(({ Id }) => ({ Id, SenderFault: false, Code: 'InternalError' }));
    return { status: 200, body: JSON.stringify({ Successful, Failed }) };
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const operation = String(request.headers['x-amz-target'] ?? '').replace(/^.*\./, '');
    calls.set(operation, (calls.get(operation) ?? 0) + 1);
    if (operation === 'SendMessageBatch')
      proxy.sharedMessages += batchOf(body).Entries.filter(({ MessageBody }) => MessageBody?.startsWith('[')).length;
    const { fault } = proxy;
    if (fault.kind === 'silent') return;
    if (fault.kind === 'error') {
      respond(response, { status: fault.status, body: JSON.stringify(fault.body) });
      return;
    }
    if (fault.kind === 'responseLost') {
      await pass(request, body);
      request.socket.destroy();
      return;
    }
    if (fault.kind === 'slow') await sleep(fault.ms);
    if (fault.kind === 'halfBatch' && operation === 'SendMessageBatch') respond(response, await passHalf(body));
    else if (fault.kind === 'conflicts')
      respond(response, await fault.locks.run(operation, body, () => pass(request, body)));
    else respond(response, await pass(request, body));
  };

  const server = createServer((request, response) => {
    serve(request, response).catch(() => request.socket.destroy());
  });
  const listen = (port: number): Promise<unknown> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => resolve(undefined));
    });
  const stop = (): Promise<unknown> =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;

  const proxy: FaultProxy = {
    endpoint: `http://127.0.0.1:${port}`,
    fault: { kind: 'none' },
    target,
    calls,
    sharedMessages: 0,
    set: async (fault) => {
      if (server.listening && fault.kind === 'refuses') await stop();
      if (!server.listening && fault.kind !== 'refuses') await listen(port);
      // Pending calls of a silent service end with it.
      if (proxy.fault.kind === 'silent' && fault.kind !== 'silent') server.closeAllConnections();
      proxy.fault = fault;
    },
    close: async () => {
      if (server.listening) await stop();
      agent.destroy();
      sqs?.destroy();
    },
  };
  return proxy;
};
