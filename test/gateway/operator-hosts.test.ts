import { GoogleGenAI } from '@google/genai';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import OpenAI, { AzureOpenAI } from 'openai';
import { getGlobalDispatcher } from 'undici';
import { priceRequest } from '../../fixtures/bundled-prices.ts';
import { ask } from '../../fixtures/exchange.ts';
import type { Fingerprint } from '../../lambda/gateway/admission/fingerprint.ts';
import { CREDENTIALS, fakeExchange, jsonRequest, turn } from './gateway-fakes.ts';
import { gatewayForTests } from './gateway-for-tests.ts';
import { KEYS } from './gateway-host.ts';

/** Where the gateway sends a request for a cloud: origin and path, or the code of its own error. */
const sentTo = (label: string, target: string, headers: readonly string[] = CREDENTIALS): string => {
  const { sent, errorCode, headers: forClient } = fakeExchange({ host: `${label}.gateway.test`, target, headers });
  const [request] = sent;
  if (!request) return forClient() ? errorCode() : 'nothing';
  expect(request.headers.slice(0, 2)).toEqual(['Host', request.origin.slice('https://'.length)]);
  return request.origin + request.target;
};

describe('the host that a path names', () => {
  const deployment = '/openai/deployments/gpt%2F4/chat/completions?api-version=2025-04-01-preview';
  const models = '/models/chat/completions?a=/openai/';
  it.each([
    ['azure', '/acme-ai/openai/v1/responses', 'https://acme-ai.openai.azure.com/openai/v1/responses'],
    ['azure', `/acme${deployment}`, `https://acme.openai.azure.com${deployment}`],
    ['azure', '/acme/anthropic/v1/messages', 'https://acme.services.ai.azure.com/anthropic/v1/messages'],
    ['azure', `/acme${models}`, `https://acme.services.ai.azure.com${models}`],
    ['azure', '/acme/openai-x/y', 'https://acme.services.ai.azure.com/openai-x/y'],
    ['azure', '/acme', 'https://acme.services.ai.azure.com/'],
    ['azure', `/${KEYS.active}/acme/openai?x`, 'https://acme.openai.azure.com/openai?x'],
    ['azure', 'http://evil.test/acme/openai/', 'https://acme.openai.azure.com/openai/'],
    ['bedrock', '/us-east-1/model/a%3A0/x', 'https://bedrock-runtime.us-east-1.amazonaws.com/model/a%3A0/x'],
    ['bedrock', '/us-gov-west-1//x/../y', 'https://bedrock-runtime.us-gov-west-1.amazonaws.com//x/../y'],
    ['vertex', '/europe-west12/v1/projects', 'https://europe-west12-aiplatform.googleapis.com/v1/projects'],
    ['vertex', '/global/v1/projects', 'https://aiplatform.googleapis.com/v1/projects'],
    ['vertex', '/eu?x=1', 'https://aiplatform.eu.rep.googleapis.com/?x=1'],
  ])('%s %s: %s', (label, target, to) => {
    expect(sentTo(label, target)).toBe(to);
  });

  const places = { azure: 'acme', bedrock: 'us-east-1', vertex: 'us-central1' };
  /** Ways in which a place might lead to another host. */
  const hostile = (place: string): readonly string[] => [
    '',
    '.',
    '..',
    '%2e%2e',
    'evil.test',
    `${place}.evil.test`,
    `evil.test.${place}`,
    `${place}.`,
    `.${place}`,
    `evil.test%23${place}`,
    `${place}%2Fevil.test`,
    `evil.test%2f${place}`,
    `evil.test%5c${place}`,
    `evil.test\\${place}`,
    `${place}:443`,
    `${place}:@evil.test`,
    `evil.test:80`,
    '[::1]',
    '0x7f000001.',
    `${place}\\@evil.test`,
    `user@${place}`,
    `user:key@evil.test`,
    `${place}@evil.test`,
    `${place}%40evil.test`,
    '127.0.0.1',
    '127-0-0-1.',
    '2130706433.',
    place.toUpperCase(),
    `${place.slice(0, -1)}А`,
    'аcme',
    'ａcme',
    `${place}。evil`,
    `${place}\u2044x`,
    `x${place}\u0000`,
    `${place} `,
    ` ${place}`,
    `${place}\t`,
    `${place}\r\nHost: evil.test`,
    `${place};x`,
    `${place},x`,
    `${place}%00`,
    `${place}%`,
    '-',
    `-${place}`,
    `${place}-`,
    `${place}_x`,
    '*',
    `${place}*`,
    '$place',
    '{place}',
    '__proto__.x',
    'constructor()',
    'a'.repeat(64),
    `${place}${'-a'.repeat(40)}`,
    `${place}x`.padEnd(10_000, 'x'),
    '..;',
    '.;.',
    `${place}?.evil.test`.replace('?', '%3f'),
    `${place}#`.replace('#', '%23'),
  ];

  it.each(Object.entries(places))('%s: no text but a place of its own gets through', (label, place) => {
    for (const text of hostile(place))
      for (const target of [`/${text}/openai/v1/x`, `/${text}`, `//${text}/x`, `/${text}/${place}/x`])
        expect([target, sentTo(label, target)]).toEqual([target, 'INVALID_PLACE']);
  });

  it.each([
    // Hosts of the same domain that are something else: a bucket, a mirror, another service.
    ['bedrock', 's3'],
    ['bedrock', 's3-us-east-1'],
    ['bedrock', 'us-east-1-fips'],
    ['bedrock', 'us-east'],
    ['vertex', 'autopush'],
    ['vertex', 'us-central1-autopush'],
    ['vertex', 'asia'],
    ['azure', 'a'],
  ])('%s: %s is no place', (label, place) => {
    expect(sentTo(label, `/${place}/x`)).toBe('INVALID_PLACE');
  });

  it('is never chosen by a header, the query or the rest of the path', () => {
    const others = ['X-Forwarded-Host', 'evil.test', 'Host', 'evil.test', 'Forwarded', 'host=evil.test'];
    const headers = [...CREDENTIALS, ...others];
    expect(sentTo('azure', '/acme/openai/v1/x?resource=evil&host=evil.test', headers)).toBe(
      'https://acme.openai.azure.com/openai/v1/x?resource=evil&host=evil.test',
    );
    for (const rest of ['@evil.test', '..//evil.test', 'http://evil.test/', '\\evil.test', '%2e%2e%2fevil'])
      expect(sentTo('bedrock', `/eu-west-3/${rest}`)).toBe(`https://bedrock-runtime.eu-west-3.amazonaws.com/${rest}`);
  });

  it('is that of an own server whatever the path', () => {
    for (const path of ['/v1/models', '//evil.test/x', '/@evil.test', '/\\evil.test', '/../x'])
      expect(sentTo('own-vllm', path)).toBe(`https://vllm.example.com${path}`);
    expect(sentTo('own-vllm', 'http://evil.test:80/x')).toBe('https://vllm.example.com/x');
    for (const label of ['own-other', 'own-', 'own', 'own-vllm.x', 'x.own-vllm', 'constructor', '__proto__'])
      expect(sentTo(label, '/v1/models')).toBe('UNKNOWN_PROVIDER');
  });
});

describe('credentials of clouds', () => {
  it('Azure takes api-key, alone or behind the service key, and nobody else does', async () => {
    const headersFor = (headers: string[]) =>
      fakeExchange({ host: 'azure.gateway.test', target: '/acme/openai/v1/models', headers }).sent[0]?.headers;
    const apart = ['X-Service-Key', KEYS.active, 'api-key', 'secret'];
    const host = ['Host', 'acme.openai.azure.com'];
    expect(headersFor(apart)).toEqual(expect.arrayContaining(['api-key', 'secret']));
    expect(headersFor(['Api-Key', `${KEYS.active}:secret`])).toEqual([...host, 'Api-Key', 'secret']);
    const fingerprint = jest.fn<Fingerprint>(() => null);
    const headers = [...apart, 'Authorization', 'Bearer token'];
    fakeExchange({ host: 'azure.gateway.test', target: '/acme/openai/v1/models', headers }, { parts: { fingerprint } });
    for (let i = 0; i < 2; i++) await turn();
    expect(fingerprint).toHaveBeenCalledWith('token');
    expect(sentTo('bedrock', '/us-east-1/x', apart)).toBe('MISSING_AUTH');
    expect(sentTo('openai', '/v1/models', apart)).toBe('MISSING_AUTH');
  });

  it.each([
    [
      '/us-east-1/model/x/converse',
      'AWS4-HMAC-SHA256 Credential=AKIA/20261124/us-east-1/bedrock/aws4_request, Signature=0',
    ],
    ['/us-east-1/model/x/converse', 'AWS4-ECDSA-P256-SHA256 Credential=AKIA'],
    ['/us-east-1/model/x/converse?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=0', 'Bearer x'],
  ])('%s signed by %s: says to use an API key', (target, authorization) => {
    const headers = ['X-Service-Key', KEYS.active, 'Authorization', authorization];
    expect(sentTo('bedrock', target, headers)).toBe('SIGNED_REQUEST');
  });
});

describe('what an SDK gets', () => {
  const { origin, host: gateway } = gatewayForTests();
  const usage = { prompt_tokens: 1_000, completion_tokens: 10, total_tokens: 1_010 };
  const completion = (model: string) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model,
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello.' } }],
    usage,
  });

  // Google's SDK looks for it among the globals.
  beforeAll(() => void getGlobalDispatcher());

  it('of Azure OpenAI: the same request and response, and the cost of the model that the response names', async () => {
    origin.script = (_request, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(completion('gpt-4o-2024-08-06')));
    };
    const settings = { apiKey: 'azure-key', apiVersion: '2025-04-01-preview', deployment: 'our-chat', maxRetries: 0 };
    const ask = (baseURL: string, headers = {}) =>
      new AzureOpenAI({ ...settings, baseURL, defaultHeaders: headers }).chat.completions.create({
        model: 'our-chat',
        messages: [{ role: 'user', content: 'Hi' }],
      });
    const direct = await ask(`${origin.origin}/openai`);
    const proxied = await ask(`http://127.0.0.1:${gateway.port}/gateway/azure/acme/openai`, {
      'X-Service-Key': KEYS.active,
    });
    expect(proxied).toEqual(direct);
    const [first, second] = origin.received.slice(-2);
    expect(second?.url).toBe(first?.url);
    expect(second?.body).toEqual(first?.body);
    const close = await gateway.nthClose(1);
    expect(close).toMatchObject({
      provider: 'azure',
      reading: { dialect: 'openai-chat', usage, modelServed: 'gpt-4o-2024-08-06', modelRequested: 'our-chat' },
    });
    // USD 2.50 and 10 for a million tokens.
    expect(priceRequest(close)).toMatchObject({ provenance: 'computed', costNanoUsd: 2_600_000 });
  });

  it('of an own server: usage that it asks for itself, and a cost that is unknown and not $0', async () => {
    const chunk = (choices: unknown[], more = {}) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'gpt-4o', choices, ...more })}\n\n`;
    const text = chunk([{ index: 0, delta: { role: 'assistant', content: 'Hello.' } }]);
    origin.script = async (request, response) => {
      const body = Buffer.concat(await request.toArray());
      const asked = JSON.parse(body.toString()).stream_options?.include_usage === true;
      response.setHeader('content-type', 'text/event-stream');
      response.end(`${text}${asked ? chunk([], { usage }) : ''}data: [DONE]\n\n`);
    };
    const baseURL = `http://127.0.0.1:${gateway.port}/gateway/own-vllm/v1`;
    const defaultHeaders = { 'X-Service-Key': KEYS.active };
    const client = new OpenAI({ apiKey: 'none', baseURL, defaultHeaders, maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'Hi' }];
    const stream = await client.chat.completions.create({ model: 'gpt-4o', stream: true, messages });
    expect(await Array.fromAsync(stream)).toHaveLength(1);
    const close = await gateway.nthClose(2);
    expect(close).toMatchObject({ provider: 'own-vllm', reading: { usage, modelServed: 'gpt-4o' } });
    expect(priceRequest(close)).toMatchObject({ provenance: 'unknown', costNanoUsd: null });
  });

  it('of Azure OpenAI: usage in streams where its API takes the option', async () => {
    const stream = (target: string) => {
      const request = jsonRequest({ model: 'm', stream: true, messages: [] });
      const { sent } = fakeExchange({ ...request, host: 'azure.gateway.test', target });
      return String(sent[0]?.body).includes('include_usage');
    };
    const deployment = '/acme/openai/deployments/x/chat/completions?api-version=';
    expect(stream('/acme/openai/v1/chat/completions')).toBe(true);
    for (const version of ['2024-09-01-preview', '2024-10-21', '2025-04-01-preview', '2027-01-01'])
      expect([version, stream(deployment + version)]).toEqual([version, true]);
    for (const version of ['2023-05-15', '2024-02-01', '2024-08-01-preview', ''])
      expect([version, stream(deployment + version)]).toEqual([version, false]);
    expect(stream('/acme/models/chat/completions?api-version=2025-04-01')).toBe(false);
  });

  it('of Vertex AI: the same request and response, and the cost of Gemini', async () => {
    const usageMetadata = { promptTokenCount: 1_000, candidatesTokenCount: 10, totalTokenCount: 1_010 };
    const event = {
      candidates: [{ content: { role: 'model', parts: [{ text: 'Hello.' }] }, finishReason: 'STOP' }],
      usageMetadata: { ...usageMetadata, trafficType: 'ON_DEMAND' },
      modelVersion: 'gemini-2.5-flash',
    };
    origin.script = (request, response) => {
      const isStream = request.url?.includes('alt=sse');
      response.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json');
      response.end(isStream ? `data: ${JSON.stringify(event)}\r\n\r\n` : JSON.stringify(event));
    };
    const authClient = { getRequestHeaders: async () => new Headers({ authorization: 'Bearer ya29.token' }) };
    const client = (baseUrl: string, headers = {}) =>
      new GoogleGenAI({
        vertexai: true,
        project: 'acme',
        location: 'europe-west4',
        googleAuthOptions: { authClient: authClient as never },
        httpOptions: { baseUrl, headers },
      });
    const ways = [
      client(origin.origin),
      client(`http://127.0.0.1:${gateway.port}/gateway/vertex/europe-west4`, { 'X-Service-Key': KEYS.active }),
    ];
    const request = { model: 'gemini-2.5-flash', contents: 'Hi' };
    const [direct, proxied] = await Promise.all(ways.map(({ models }) => models.generateContent(request)));
    expect(proxied?.candidates).toEqual(direct?.candidates);
    const streamed = await Promise.all(
      ways.map(
        async ({ models }) => (await Array.fromAsync(await models.generateContentStream(request)))[0]?.candidates,
      ),
    );
    expect(streamed[1]).toEqual(streamed[0]);
    const sent = origin.received.slice(-4).map(({ url, body }) => `${url} ${body}`);
    expect(new Set(sent).size).toBe(2);
    expect(sent[0]).toContain('/projects/acme/locations/europe-west4/publishers/google/models/gemini-2.5-flash:');
    const closes = [await gateway.nthClose(3), await gateway.nthClose(4)];
    expect(closes.map(({ reading }) => reading.streamed)).toEqual([false, true]);
    // USD 0.30 and 2.50 for a million tokens.
    for (const close of closes)
      expect(priceRequest(close)).toMatchObject({ provenance: 'computed', costNanoUsd: 300_000 + 25_000 });
  });

  const messages = {
    type: 'message',
    model: 'claude-sonnet-4-5-20250929',
    usage: { input_tokens: 1_000, output_tokens: 10 },
  };
  it.each([
    // A tenth more than in the region `global`, but for models before Claude 4.5.
    ['anthropic/models/claude-sonnet-4-5@20250929:rawPredict', messages, 'anthropic-messages', 3_465_000],
    [
      'anthropic/models/claude-sonnet-4@20250514:rawPredict',
      { ...messages, model: 'claude-sonnet-4-20250514' },
      'anthropic-messages',
      3_150_000,
    ],
    ['anthropic/models/count-tokens:rawPredict', { input_tokens: 14 }, 'free', 0],
    ['../../endpoints/openapi/chat/completions', { ...completion('google/gemini-2.5-flash') }, 'openai-chat', 325_000],
    ['mistralai/models/nobody-knows:rawPredict', completion('nobody-knows'), 'openai-chat', null],
    [
      'google/models/gemini-embedding-001:predict',
      {
        predictions: [600, 400].map((token_count) => ({ embeddings: { values: [0.1], statistics: { token_count } } })),
      },
      'gemini-embed',
      150_000,
    ],
    ['google/models/imagen-x:predict', { predictions: [{ bytesBase64Encoded: 'aGk=' }] }, 'gemini-predict', null],
  ])('of Vertex AI: %s', async (call, response, dialect, costNanoUsd) => {
    origin.script = (_request, answer) => {
      answer.setHeader('content-type', 'application/json').end(JSON.stringify(response));
    };
    const received = await ask({
      port: gateway.port,
      method: 'POST',
      path: `/us-east5/v1/projects/p/locations/us-east5/publishers/${call}`,
      headers: [...CREDENTIALS, 'Host', 'vertex.gateway.test', 'Content-Type', 'application/json'],
      body: '{}',
    });
    const close = await gateway.closeOf(String(received.headers['x-service-request-id']));
    expect(close.reading.dialect).toBe(dialect);
    expect(priceRequest(close).costNanoUsd).toBe(costNanoUsd);
  });
});
