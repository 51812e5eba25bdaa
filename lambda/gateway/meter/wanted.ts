import type { Dialect } from '../../domain/usage/dialect.ts';
import type { Wanted } from './json-picker.ts';
import { UsageMark } from './usage-mark.ts';

/*
 * The members that the meter reads from responses and requests. One tree serves all dialects: their member names do not
 * collide, and providers mix them. Sources: the providers' API references and recorded responses.
 */

/** Only what decides a price: the kind of each tool call, not its content. */
const outputItem: Wanted = {
  '': '#output',
  type: 'output.type',
  container_id: 'output.container',
  action: { type: 'output.action' },
};

const tools: Wanted = { '*': { '': '#tool', type: 'tool.type', model: 'tool.model' } };

const toolUsage: Wanted = { web_search: { num_requests: 'webSearchRequests' }, image_gen: 'imageGenUsage' };

/** A response of OpenAI's Responses API, whole or inside the events of its stream. */
const responseObject: Wanted = {
  id: 'id',
  model: 'model',
  status: 'status',
  background: 'background',
  usage: 'usage',
  service_tier: 'serviceTier',
  output: { '*': outputItem },
  tools,
  tool_usage: toolUsage,
  // Cohere v1 ends its stream with the whole response as `response`.
  meta: 'meta',
  // Gemini batches and OpenAI batch output wrap each response once more.
  body: {
    model: 'model',
    usage: 'usage',
    service_tier: 'serviceTier',
    id: 'id',
    status: 'status',
    output: { '*': outputItem },
  },
};

/** Members of any provider's response, stream event, or line of a batch's results. */
export const wantedInResponse: Wanted = {
  ...responseObject,
  error: '#error',
  choices: '#choices',
  response: responseObject,
  // Gemini
  modelVersion: 'model',
  usageMetadata: 'usageMetadata',
  candidates: {
    '*': {
      index: 'candidate.index',
      groundingMetadata: {
        webSearchQueries: 'groundingQueries',
        // Chunks from the client's own files are free.
        groundingChunks: { '*': { web: '#grounded', maps: '#mapped' } },
        searchEntryPoint: '#grounded',
      },
    },
  },
  interaction: { id: 'id', model: 'model', status: 'status', usage: 'usage' },
  predictions: { '*': '#image' },
  metadata: { usage: 'usage' },
  // Anthropic: `message_start` has the first half of the usage.
  message: { model: 'model', usage: 'messageUsage' },
  result: { message: { model: 'model', usage: 'usage', stop_reason: 'stopReason' } },
  stop_reason: 'stopReason',
  // Anthropic's `message_delta`; Cohere v2 `message-end`
  delta: { usage: 'usage', stop_reason: 'stopReason' },
  // Groq
  x_groq: { usage: 'xGroqUsage' },
  // Mistral: OCR has `usage_info`; conversations name the model in each output
  usage_info: 'usage',
  outputs: { '*': { model: 'model' } },
  // xAI: a deferred response has only this
  request_id: 'requestId',
  // OpenAI images and speech-to-text
  data: { '*': '#image' },
  size: 'image.size',
  quality: 'image.quality',
  duration: 'audio.seconds',
};

const lineResponse: Wanted = {
  model: 'model',
  modelVersion: 'model',
  usage: 'usage',
  usageMetadata: 'usageMetadata',
  service_tier: 'serviceTier',
};

/**
 * Batch results inside one document, each reported as `#line`, and Gemini's lines `{key, response}`.
 * @see https://ai.google.dev/api/batch-api https://openrouter.ai/docs/batch-quickstart https://docs.x.ai/docs/guides/batch-api
 */
export const wantedInBatch: Wanted = {
  error: '#error',
  model: 'model',
  metadata: { model: 'model' },
  response: {
    ...lineResponse,
    inlinedResponses: { inlinedResponses: { '*': { '': '#line', response: lineResponse } } },
  },
  results: {
    '*': {
      '': '#line',
      response: { body: lineResponse },
      batch_result: { response: { chat_get_completion: lineResponse } },
    },
  },
};

/** The text of a prompt in every dialect: a string, or parts with `text` or `content`. Only its length is reported. */
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
  // The prompt's text, for an estimate when the provider reports no usage.
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
 * The beginning of a member name that every event with usage contains: `"usage"`, `"usageMetadata"`. Cohere v1 ends its stream
 * with `"meta":{"billed_units":…}`; v2 has them inside `"usage"`.
 */
export const usageMarkOf = (dialect: Dialect): UsageMark => (dialect.startsWith('cohere-') ? cohereMark : usageMark);
