import type { Dialect } from '../../domain/usage/dialect.ts';
import type { Wanted } from './json-picker.ts';
import { UsageMark } from './usage-mark.ts';

/*
 * What the meter looks for in answers and requests: one tree for all dialects, since their member names do not collide
 * and providers mix them. Facts: the providers' API references, and recorded responses.
 */

/** Only what sets a price: kinds of the tools called, not what they said. */
const outputItem: Wanted = {
  '': '#output',
  type: 'output.type',
  container_id: 'output.container',
  action: { type: 'output.action' },
};

const tools: Wanted = { '*': { '': '#tool', type: 'tool.type', model: 'tool.model' } };

const toolUsage: Wanted = { web_search: { num_requests: 'webSearchRequests' }, image_gen: 'imageGenUsage' };

/** An answer of OpenAI's Responses, whole or inside the events of its stream. */
const responsesAnswer: Wanted = {
  id: 'id',
  model: 'model',
  status: 'status',
  background: 'background',
  usage: 'usage',
  service_tier: 'serviceTier',
  output: { '*': outputItem },
  tools,
  tool_usage: toolUsage,
  // Cohere v1 ends its stream with the whole answer under `response`.
  meta: 'meta',
  // Gemini batches and OpenAI batch output wrap each answer once more.
  body: {
    model: 'model',
    usage: 'usage',
    service_tier: 'serviceTier',
    id: 'id',
    status: 'status',
    output: { '*': outputItem },
  },
};

/** Members of any provider's answer, event of a stream, or line of a batch's results. */
export const wantedInResponse: Wanted = {
  ...responsesAnswer,
  error: '#error',
  choices: '#choices',
  response: responsesAnswer,
  // Gemini
  modelVersion: 'model',
  usageMetadata: 'usageMetadata',
  candidates: {
    '*': {
      index: 'candidate.index',
      groundingMetadata: {
        webSearchQueries: 'groundingQueries',
        // Chunks may also come from the client's own files, which costs nothing.
        groundingChunks: { '*': { web: '#grounded', maps: '#mapped' } },
        searchEntryPoint: '#grounded',
      },
    },
  },
  interaction: { id: 'id', model: 'model', status: 'status', usage: 'usage' },
  predictions: { '*': '#image' },
  metadata: { usage: 'usage' },
  // Anthropic: `message_start` carries the first half of the usage.
  message: { model: 'model', usage: 'messageUsage' },
  result: { message: { model: 'model', usage: 'usage', stop_reason: 'stopReason' } },
  stop_reason: 'stopReason',
  // Anthropic's `message_delta`; Cohere v2 `message-end`
  delta: { usage: 'usage', stop_reason: 'stopReason' },
  // Groq
  x_groq: { usage: 'xGroqUsage' },
  // Mistral: text recognition; conversations name the model with each output
  usage_info: 'usage',
  outputs: { '*': { model: 'model' } },
  // xAI: of an answer to be fetched later
  request_id: 'requestId',
  // OpenAI images and speech-to-text
  data: { '*': '#image' },
  size: 'image.size',
  quality: 'image.quality',
  duration: 'audio.seconds',
};

const lineAnswer: Wanted = {
  model: 'model',
  modelVersion: 'model',
  usage: 'usage',
  usageMetadata: 'usageMetadata',
  service_tier: 'serviceTier',
};

/**
 * The results of a batch that stand inside one document, each told by `#line`, and Gemini's lines `{key, response}`.
 * @see https://ai.google.dev/api/batch-api https://openrouter.ai/docs/batch-quickstart https://docs.x.ai/docs/guides/batch-api
 */
export const wantedInBatch: Wanted = {
  error: '#error',
  model: 'model',
  metadata: { model: 'model' },
  response: {
    ...lineAnswer,
    inlinedResponses: { inlinedResponses: { '*': { '': '#line', response: lineAnswer } } },
  },
  results: {
    '*': {
      '': '#line',
      response: { body: lineAnswer },
      batch_result: { response: { chat_get_completion: lineAnswer } },
    },
  },
};

/** Text of a prompt, in every dialect's forms of it: a string, or parts with a `text` or `content` each. Told by its length alone. */
const part: Wanted = { '+': 'prompt', text: { '+': 'prompt' }, content: { '+': 'prompt' } };
const text: Wanted = { '+': 'prompt', '*': part };
const message: Wanted = { '+': 'prompt', content: text, parts: text };

/** Members of a request that decide how it is metered or priced. */
export const wantedInRequest: Wanted = {
  model: 'model',
  stream: 'stream',
  service_tier: 'serviceTier',
  serviceTier: 'serviceTier',
  size: 'image.size',
  quality: 'image.quality',
  seconds: 'video.seconds',
  tools,
  // The prompt's text, for an estimate where the provider reports nothing.
  messages: { '*': message },
  contents: { '+': 'prompt', '*': message },
  input: { '+': 'prompt', '*': message },
  system: text,
  systemInstruction: message,
  instructions: { '+': 'prompt' },
  prompt: { '+': 'prompt' },
  message: { '+': 'prompt' },
};

const usageMark = new UsageMark('usage');
const cohereMark = new UsageMark('billed_units');

/**
 * A member name, or how it begins, that every event with usage has in it: `"usage"`, `"usageMetadata"`. Cohere's first version
 * ends its stream with `"meta":{"billed_units":…}`, its second has them inside `"usage"`.
 */
export const usageMarkOf = (dialect: Dialect): UsageMark => (dialect.startsWith('cohere-') ? cohereMark : usageMark);
