import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import pMap, { pMapSkip } from 'p-map';
import type { ProviderLabel } from '../../lambda/domain/providers.ts';
import { MOCK_RESPONSE, promptFor } from '../mock/providers.ts';
import type { DemoCall, Method } from './calls.ts';

/** Makes one call with the provider's own SDK. Resolves with the text the SDK gave; rejects as the SDK does. */
export type MakeCall = (call: DemoCall) => Promise<string>;

/** Where each provider's SDK expects its API below the host. */
const API_PATHS: Partial<Record<ProviderLabel, string>> = {
  groq: '/openai/v1',
  openrouter: '/api/v1',
};

/** A byte for each token at least, as in real ones: by its bytes, what a request may cost is reserved. */
const promptOf = (call: DemoCall): string => promptFor('Tell me something.', call).padEnd(call.inputTokens, ' word');
const tagHeader = ({ tag }: DemoCall): Record<string, string> => (tag === null ? {} : { 'X-Service-Tag': tag });

const chatOf = (call: DemoCall) => ({
  model: call.model ?? '',
  max_tokens: 1_000,
  messages: [{ role: 'user' as const, content: promptOf(call) }],
});

/** The text of a streamed response. */
const joined = async <T>(chunks: AsyncIterable<T>, textOf: (chunk: T) => string | null | undefined): Promise<string> =>
  (await Array.fromAsync(chunks, textOf)).join('');

/**
 * @param url of the local stack
 * @param serviceKey the account's key: all that tracking needs from a client, apart from the base URL
 */
export const demoClients = (url: string, serviceKey: string): MakeCall => {
  const defaultHeaders = { 'X-Service-Key': serviceKey };
  const base = (provider: ProviderLabel) => `${url}/gateway/${provider}`;
  const openai = (provider: ProviderLabel) =>
    new OpenAI({
      baseURL: `${base(provider)}${API_PATHS[provider] ?? '/v1'}`,
      apiKey: 'sk-demo',
      defaultHeaders,
      maxRetries: 0,
    });
  const anthropic = new Anthropic({
    baseURL: base('anthropic'),
    apiKey: 'sk-ant-demo',
    defaultHeaders,
    maxRetries: 0,
  });
  // Its own way to fetch needs undici's dispatcher as a global variable, which is missing in Jest.
  const google = new GoogleGenAI({ apiKey: 'demo', httpOptions: { baseUrl: base('google'), fetch } });

  const methods: Readonly<Record<Method, MakeCall>> = {
    'openai-chat': async (call) => {
      const { completions } = openai(call.provider).chat;
      const request = chatOf(call);
      const options = { headers: tagHeader(call) };
      if (!call.stream) return (await completions.create(request, options)).choices[0]?.message.content ?? '';
      const chunks = await completions.create({ ...request, stream: true }, options);
      return joined(chunks, (chunk) => chunk.choices[0]?.delta.content);
    },
    'openai-responses': async (call) => {
      const { responses } = openai(call.provider);
      const request = { model: call.model ?? '', input: promptOf(call) };
      const options = { headers: tagHeader(call) };
      if (!call.stream) return (await responses.create(request, options)).output_text;
      const events = await responses.create({ ...request, stream: true }, options);
      return joined(events, (event) => (event.type === 'response.output_text.delta' ? event.delta : ''));
    },
    'openai-models': async (call) => {
      const page = await openai(call.provider).models.list({ headers: tagHeader(call) });
      return page.data.map(({ id }) => id).join(' ');
    },
    'anthropic-messages': async (call) => {
      const request = chatOf(call);
      const options = { headers: tagHeader(call) };
      const message = call.stream
        ? await anthropic.messages.stream(request, options).finalMessage()
        : await anthropic.messages.create(request, options);
      return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    },
    'google-generate': async (call) => {
      const request = {
        model: call.model ?? '',
        contents: promptOf(call),
        config: { httpOptions: { headers: { ...defaultHeaders, ...tagHeader(call) } } },
      };
      if (!call.stream) return (await google.models.generateContent(request)).text ?? '';
      return joined(await google.models.generateContentStream(request), ({ text }) => text);
    },
  };
  return (call) => methods[call.method](call);
};

const CONCURRENCY = 4;

const statusOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;

/** Fault from the client's view, undefined where the SDK saw what it should have seen. */
const fault = async (call: DemoCall, makeCall: MakeCall): Promise<string | undefined> => {
  const name = `${call.provider} ${call.model ?? call.method}${call.stream ? ' (streamed)' : ''}`;
  try {
    const text = await makeCall(call);
    if (call.status !== undefined) return `${name}: the SDK reported no error, expected status ${call.status}`;
    return call.method === 'openai-models' || text === MOCK_RESPONSE ? undefined : `${name}: the SDK read "${text}"`;
  } catch (error) {
    return statusOf(error) === call.status && call.status !== undefined ? undefined : `${name}: ${error}`;
  }
};

/**
 * Makes all calls, a few at a time.
 *
 * @param onProgress called with the number of calls made
 * @throws the signal's reason, once it is aborted
 * @returns what clients saw go wrong
 */
export const sendTraffic = async (
  calls: readonly DemoCall[],
  makeCall: MakeCall,
  onProgress: (made: number) => void,
  interruption: AbortSignal,
): Promise<string[]> => {
  let made = 0;
  const check = async (call: DemoCall) => {
    const found = await fault(call, makeCall);
    made += 1;
    onProgress(made);
    return found ?? pMapSkip;
  };
  return pMap(calls, check, { concurrency: CONCURRENCY, signal: interruption });
};
