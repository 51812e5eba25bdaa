import type { Wanted } from './json-picker.ts';

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
  object: 'object',
  type: 'type',
  response: responsesAnswer,
  // Gemini
  modelVersion: 'model',
  usageMetadata: 'usageMetadata',
  candidates: {
    '*': {
      index: 'candidate.index',
      groundingMetadata: {
        webSearchQueries: 'groundingQueries',
        groundingChunks: '#grounded',
        searchEntryPoint: '#grounded',
      },
    },
  },
  interaction: { id: 'id', model: 'model', status: 'status', usage: 'usage' },
  predictions: { '*': '#image' },
  metadata: { usage: 'usage' },
  // Anthropic: `message_start` carries the first half of the usage.
  message: { model: 'model', usage: 'messageUsage' },
  result: { message: { model: 'model', usage: 'usage' } },
  // Cohere v2 `message-end`
  delta: { usage: 'usage' },
  // Groq
  x_groq: { usage: 'xGroqUsage' },
  // OpenAI images and speech-to-text
  data: { '*': '#image' },
  size: 'image.size',
  quality: 'image.quality',
  duration: 'audio.seconds',
};

/** Members of a request that decide how it is metered or priced. */
export const wantedInRequest: Wanted = {
  model: 'model',
  stream: 'stream',
  stream_options: 'streamOptions',
  service_tier: 'serviceTier',
  background: 'background',
  size: 'image.size',
  quality: 'image.quality',
  seconds: 'video.seconds',
  input: 'input',
  tools,
};
