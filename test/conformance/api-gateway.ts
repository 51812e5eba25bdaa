import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { proxyEvent } from '../../local/host/rest-api/proxy-event.ts';
import type { ResponseSink, RuntimeApi } from './runtime-api.ts';

const route = {
  apiId: 'gateway',
  method: 'ANY',
  resourcePath: '/{proxy+}',
  segments: ['{proxy+}'],
  authorizationType: 'NONE',
  authorizerId: undefined,
  integration: { Type: 'AWS_PROXY', TimeoutInMillis: 900_000, IntegrationResponses: [] },
};

const clientSink = (response: ServerResponse): ResponseSink => ({
  head: ({ statusCode, headers, multiValueHeaders }) => {
    response.writeHead(statusCode, { ...headers, ...multiValueHeaders } as Record<string, string | string[]>);
    response.flushHeaders();
  },
  // It keeps reading for a client that disconnected: the function does not learn of it.
  chunk: (bytes) => response.destroyed || response.write(bytes),
  drained: () =>
    new Promise((resolve) => {
      const resume = (): void => {
        response.off('drain', resume).off('close', resume);
        resolve();
      };
      response.on('drain', resume).on('close', resume);
    }),
  end: () => {
    response.end();
  },
  fail: () => {
    if (response.headersSent) response.destroy();
    else response.writeHead(502).end();
  },
});

/** What API Gateway is between a client and a streaming function: it turns requests into events and streamed results into responses. */
export const startApiGateway = async (runtime: RuntimeApi) => {
  const server = createServer({ maxHeaderSize: 256 * 1024 }, async (request, response) => {
    response.sendDate = false;
    const requestId = randomUUID();
    const match = { route, pathParameters: {} };
    const event = proxyEvent({
      request,
      requestId,
      body: await buffer(request),
      match,
      claims: undefined,
      binaryMediaTypes: ['*/*'],
    });
    await runtime.invoke(event, clientSink(response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    stop: async (): Promise<void> => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
