import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { getGlobalDispatcher } from 'undici';
import type { CloseEvent } from '../../lambda/domain/usage/usage-event.ts';
import { type MockProviders, promptFor, startMockProviders } from '../../local/mock/providers.ts';
import { type GatewayHost, KEYS, startGatewayHost } from './gateway-host.ts';

/*
 * The providers' own SDKs, directly and through the gateway: their parsing must give the same objects both ways, and the
 * gateway's own errors must appear as their API errors.
 */

let mock: MockProviders;
let host: GatewayHost;

beforeAll(async () => {
  // Google's SDK looks for the dispatcher that undici leaves among the globals; Jest's have none before it is asked for.
  getGlobalDispatcher();
  mock = await startMockProviders();
  host = await startGatewayHost({ origin: mock.url });
});

afterAll(async () => {
  await host.close();
  await mock.stop();
});

interface Way {
  readonly base: (label: string) => string;
  readonly headers: Record<string, string>;
}

const direct = (): Way => ({ base: () => mock.url, headers: {} });
const through = (serviceKey = KEYS.active): Way => ({
  base: (label) => `http://127.0.0.1:${host.port}/gateway/${label}`,
  headers: { 'X-Service-Key': serviceKey },
});

const openai = ({ base, headers }: Way, label = 'openai') =>
  new OpenAI({ baseURL: `${base(label)}/v1`, apiKey: 'sk-test', defaultHeaders: headers, maxRetries: 0 });
const anthropic = ({ base, headers }: Way) =>
  new Anthropic({ baseURL: base('anthropic'), apiKey: 'sk-ant-test', defaultHeaders: headers, maxRetries: 0 });
const google = ({ base, headers }: Way) =>
  new GoogleGenAI({ apiKey: 'test', httpOptions: { baseUrl: base('google'), headers } });

const prompt = promptFor('Tell me something.', { inputTokens: 21, outputTokens: 9 });
const chat = { model: 'gpt-4o', messages: [{ role: 'user' as const, content: prompt }] };
const message = { model: 'claude-haiku-4-5', max_tokens: 100, messages: [{ role: 'user' as const, content: prompt }] };

const collect = <T>(stream: AsyncIterable<T>): Promise<T[]> => Array.fromAsync(stream);

type Call = (way: Way) => Promise<unknown>;

const calls: [string, Call, Partial<CloseEvent['reading']>][] = [
  [
    'OpenAI chat',
    (way) => openai(way).chat.completions.create(chat),
    { dialect: 'openai-chat', usage: expect.objectContaining({ prompt_tokens: 21, completion_tokens: 9 }) },
  ],
  [
    'OpenAI chat, streamed, usage not asked for',
    async (way) => collect(await openai(way).chat.completions.create({ ...chat, stream: true })),
    {
      dialect: 'openai-chat',
      streamed: true,
      usage: expect.objectContaining({ prompt_tokens: 21, completion_tokens: 9 }),
    },
  ],
  [
    'OpenAI chat, streamed, usage asked for',
    async (way) =>
      collect(
        await openai(way).chat.completions.create({ ...chat, stream: true, stream_options: { include_usage: true } }),
      ),
    { streamed: true, usage: expect.objectContaining({ prompt_tokens: 21 }) },
  ],
  [
    'OpenAI responses',
    (way) => openai(way).responses.create({ model: 'gpt-5', input: prompt }),
    { dialect: 'openai-responses', usage: expect.objectContaining({ input_tokens: 21 }) },
  ],
  [
    'OpenAI responses, streamed',
    async (way) => collect(await openai(way).responses.create({ model: 'gpt-5', input: prompt, stream: true })),
    { dialect: 'openai-responses', usage: expect.objectContaining({ output_tokens: 9 }) },
  ],
  [
    'OpenAI embeddings',
    (way) => openai(way).embeddings.create({ model: 'text-embedding-3-small', input: 'hello' }),
    { dialect: 'openai-embeddings' },
  ],
  [
    'Anthropic messages',
    (way) => anthropic(way).messages.create(message),
    { dialect: 'anthropic-messages', usage: expect.objectContaining({ input_tokens: 21, output_tokens: 9 }) },
  ],
  [
    'Anthropic messages, streamed',
    async (way) => collect(await anthropic(way).messages.create({ ...message, stream: true })),
    { dialect: 'anthropic-messages', usage: expect.objectContaining({ output_tokens: 9 }) },
  ],
  [
    'Gemini',
    (way) => google(way).models.generateContent({ model: 'gemini-2.5-flash', contents: prompt }),
    { dialect: 'gemini-generate', usage: expect.objectContaining({ promptTokenCount: 21 }) },
  ],
  [
    'Gemini, streamed',
    async (way) =>
      collect(await google(way).models.generateContentStream({ model: 'gemini-2.5-flash', contents: prompt })),
    { dialect: 'gemini-generate', streamed: true, usage: expect.objectContaining({ candidatesTokenCount: 9 }) },
  ],
];

/** Ids, times and headers are new with every call of the mock. */
const essence = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (name, member: unknown) =>
      /^(id|item_id|created|created_at|completed_at|_request_id|responseId|sdkHttpResponse)$/.test(name)
        ? undefined
        : member,
    ),
  );

describe('the SDKs see the same objects', () => {
  it.each(calls)('%s', async (_name, call, reading) => {
    const count = host.closes().length;
    const expected = essence(await call(direct()));
    expect(essence(await call(through()))).toEqual(expected);
    const close = await host.nthClose(count + 1);
    expect(close).toMatchObject({ outcome: 'completed', status: 200, reading });
  });
});

describe('errors', () => {
  it('of the provider reach the SDK as they are', async () => {
    const failing = {
      ...chat,
      messages: [{ role: 'user' as const, content: promptFor('x', { inputTokens: 1, outputTokens: 1, status: 429 }) }],
    };
    const errors = await Promise.all(
      [direct(), through()].map((way) =>
        openai(way)
          .chat.completions.create(failing)
          .catch((error: unknown) => error),
      ),
    );
    expect(errors[1]).toBeInstanceOf(OpenAI.RateLimitError);
    expect((errors[1] as Error).message).toBe((errors[0] as Error).message);
  });

  it('of the gateway appear as OpenAI API errors', async () => {
    const error = await openai(through(KEYS.absent))
      .models.list()
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(error).toMatchObject({ status: 401, code: 'INVALID_SERVICE_KEY', type: 'gateway_error' });
    expect((error as Error).message).toContain('No account has this X-Service-Key');
  });

  it('of the gateway appear as Anthropic API errors', async () => {
    const error = await anthropic(through(KEYS.inactive))
      .messages.create(message)
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(Anthropic.PermissionDeniedError);
    expect((error as Error).message).toContain('This account is suspended or cancelled');
  });

  it('of the gateway appear as Gemini API errors', async () => {
    const error = await google(through('svc_wrong'))
      .models.generateContent({ model: 'g', contents: 'x' })
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject({ status: 401 });
    expect((error as Error).message).toContain('No account has this X-Service-Key');
  });
});
