import { createSecureContext } from 'node:tls';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { newAccountKey } from '../../domain/accounts/issued-secret.ts';
import type { AwsTransport } from '../aws/transport.ts';
import { composeGateway } from '../compose.ts';
import type { ClientResponse } from '../protocol/client.ts';
import type { Upstream, UpstreamListener } from '../upstream/upstream.ts';
import { gatewayRequest } from './lambda-adapter.ts';

const MODEL = 'warm-up';
const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

const responses = {
  'application/json': JSON.stringify({ model: MODEL, choices: [], usage: USAGE }),
  'text/event-stream': `data: ${JSON.stringify({ model: MODEL, choices: [], usage: USAGE })}\n\ndata: [DONE]\n\n`,
};
type ContentType = keyof typeof responses;

const respondingUpstream = (contentType: ContentType): Upstream => ({
  send: ({ body }, listener: UpstreamListener) => {
    if (Buffer.isBuffer(body)) listener.onRequestBytes(body);
    listener.onRequestEnd();
    setImmediate(() => {
      listener.onHeaders({ status: 200, statusMessage: 'OK', headers: ['Content-Type', contentType] });
      listener.onData(Buffer.from(responses[contentType]));
      listener.onEnd([]);
    });
    return { abort: () => {}, pause: () => {}, resume: () => {} };
  },
  close: () => {},
});

/** Responds to every call: as the table with a service key, as the secret with a text, as the queue with success. */
const awsResponse = Buffer.from(
  JSON.stringify({
    Item: { accountId: { S: MODEL }, keyId: { S: MODEL }, keyStatus: { S: 'active' }, accountStatus: { S: 'active' } },
    SecretString: MODEL,
  }),
);

const noClient: ClientResponse = {
  start: () => {},
  write: () => true,
  onDrain: () => {},
  end: () => {},
  abort: () => {},
  onDisconnect: () => {},
};

const proxyEvent = (domain: string, contentType: ContentType): APIGatewayProxyEvent => {
  const headers = {
    Authorization: ['Bearer warm-up'],
    'Content-Type': ['application/json'],
    'X-Service-Key': [newAccountKey((size) => new Uint8Array(size))],
  };
  const body = { model: MODEL, stream: contentType === 'text/event-stream', messages: [{ role: 'user', content: '' }] };
  return {
    httpMethod: 'POST',
    path: '/v1/chat/completions',
    multiValueHeaders: headers,
    multiValueQueryStringParameters: null,
    body: JSON.stringify(body),
    isBase64Encoded: false,
    requestContext: { domainName: domain },
  } as unknown as APIGatewayProxyEvent;
};

/**
 * Relays a chat and a stream through a gateway of its own whose provider and AWS are in this process: nothing is sent, counted or kept.
 * V8 compiles functions, and Node reads its root certificates, when they are first needed. During initialisation Lambda gives a function
 * a whole processor, afterwards the share that goes with its memory, while a client waits.
 *
 * @param aws where the calls go; for tests
 */
export const warmUp = async (
  variables: Readonly<Record<string, string | undefined>>,
  aws: AwsTransport = async () => ({ status: 200, body: awsResponse }),
): Promise<void> => {
  createSecureContext();
  for (const contentType of Object.keys(responses) as ContentType[]) {
    const { gateway, parts } = composeGateway(variables, () => ({ accessKeyId: MODEL, secretAccessKey: MODEL }), {
      upstream: () => respondingUpstream(contentType),
      aws: () => aws,
      afterResponse: (work) => work(),
    });
    await gateway(gatewayRequest(proxyEvent(`openai.${parts.gatewayDomain}`, contentType)), noClient);
  }
};
