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
  environment: { container_id: 'output.container' },
  action: { type: 'output.action' },
  svg_usage: 'svgUsage',
};

const container: Wanted = { memory_limit: 'code_interpreter_container.memory' };
const tools: Wanted = {
  '*': { '': '#tool', type: 'tool.type', model: 'tool.model', container, environment: container },
};

const searchUsage: Wanted = { web_search: { num_requests: 'web_search_requests' } };

/** Members of a response, and of one among the results of a batch. */
const billed: Wanted = {
  model: 'model',
  usage: 'usage',
  // Mistral's text recognition
  usage_info: 'usage',
  service_tier: 'serviceTier',
};

const responseBody: Wanted = {
  ...billed,
  id: 'response.id',
  // Gemini's interactions
  agent: 'agent',
  status: 'status',
  output: { '*': outputItem },
  tools,
  tool_usage: searchUsage,
};

/** A response of OpenAI's Responses API, whole or inside the events of its stream. */
const responseObject: Wanted = {
  ...responseBody,
  background: 'background',
  tool_usage: { ...searchUsage, image_gen: 'imageGenUsage' },
  // Cohere v1 ends its stream with the whole response as `response`.
  meta: 'meta',
};

/** Gemini's searches. Chunks of the client's own files, and of pages that it names, are free. Each search has queries or an entry point. */
const groundingMetadata: Wanted = {
  webSearchQueries: 'groundingQueries',
  imageSearchQueries: 'groundingQueries',
  // Vertex AI: in the client's own data
  retrievalQueries: '#executedTool',
  groundingChunks: { '*': { maps: '#mapped' } },
  searchEntryPoint: '#grounded',
};

/** Members of any provider's response, stream event, or line of a batch's results. */
export const wantedInResponse: Wanted = {
  ...responseObject,
  type: 'type',
  error: 'error',
  choices: {
    '': '#choices',
    '*': {
      '': '#part',
      delta: '#delta',
      finish_reason: 'finishReason',
      message: { executed_tools: { '*': '#executedTool' } },
    },
  },
  response: responseObject,
  // Gemini
  modelVersion: 'model',
  usageMetadata: 'usageMetadata',
  candidates: {
    '*': {
      '': '#part',
      finishReason: 'finishReason',
      groundingMetadata,
    },
  },
  promptFeedback: { blockReason: 'finishReason' },
  interaction: responseBody,
  // Imagen's images, which have a type: filtered ones have a reason, which is not charged. Vertex AI's embeddings
  predictions: { '*': { mimeType: 'predictedImage', embeddings: { statistics: { token_count: 'embeddedTokens' } } } },
  // Gemini's interactions: of an event before the last. A client's own metadata may have such a member, too.
  metadata: { usage: 'metadataUsage', total_usage: 'metadataUsage' },
  // Anthropic: `message_start` has the first half of the usage.
  message: { model: 'model', usage: 'messageUsage' },
  stop_reason: 'stopReason',
  // Anthropic's `message_delta`; Cohere v2 `message-end`
  delta: { usage: 'usage', stop_reason: 'stopReason' },
  // Groq
  x_groq: { usage: 'xGroqUsage' },
  // Mistral: conversations name the model in each output. Together: a video's cost
  outputs: { '*': { model: 'model' }, cost: 'outputsCost' },
  // xAI: a deferred response has only this
  request_id: 'requestId',
  // Bedrock: the last event of a stream; Converse
  'amazon-bedrock-invocationMetrics': 'invocationMetrics',
  serviceTier: { type: 'serviceTier' },
  performanceConfig: { latency: 'latency' },
  // Anthropic: a batch
  request_counts: { succeeded: 'batch.succeeded' },
  // OpenAI images and speech-to-text
  data: { '*': '#image' },
  // DeepSeek's search
  results: { '': '#search', '*': '#searchResult' },
  svg_usage: 'svgUsage',
  size: 'image.size',
  quality: 'image.quality',
  duration: 'audio.seconds',
  seconds: 'video.seconds',
};

const geminiResponse: Wanted = {
  modelVersion: 'model',
  usageMetadata: 'usageMetadata',
  // An embedding has no other usage.
  tokenCount: 'tokenCount',
  candidates: { '*': { groundingMetadata } },
};
const lineResponse: Wanted = { ...billed, ...geminiResponse };

/**
 * Batch results inside one document, each reported as `#line`, and lines: Gemini's `{key, response}`, Anthropic's `{custom_id, result}`,
 * and `{custom_id, response: {body}}` of OpenAI and its like. A client's own files have the same path, and usage elsewhere.
 * @see https://ai.google.dev/api/batch-api https://openrouter.ai/docs/batch-quickstart https://docs.x.ai/docs/guides/batch-api
 * https://docs.mistral.ai/studio-api/batch-processing
 */
export const wantedInBatch: Wanted = {
  model: 'model',
  metadata: { model: 'model' },
  response: {
    ...geminiResponse,
    inlinedResponses: { inlinedResponses: { '*': { '': '#line', response: lineResponse } } },
    body: { ...responseBody, results: '#results' },
    status_code: 'lineStatus',
  },
  result: { message: { model: 'model', usage: 'usage', stop_reason: 'stopReason' } },
  results: {
    '*': {
      '': '#line',
      response: { body: lineResponse },
      batch_result: {
        response: {
          '': '#result',
          chat_get_completion: lineResponse,
          image_generation: lineResponse,
          video_generation: lineResponse,
        },
      },
    },
  },
  outputs: { '*': { '': '#line', response: { body: lineResponse } } },
  output_file: 'batch.file',
};

/*
 * Parts of a prompt, in every dialect. Only lengths are reported, for an estimate when the provider reports no usage:
 * see prompt-counter.ts.
 */
const text: Wanted = { '+': 'text' };
const textOrJson: Wanted = { '+': 'text', '{}': 'text' };
/** A file: its content in base64, a data URL, or its address. */
const media: Wanted = { '+': 'media' };
/** An id of something that the provider keeps. */
const stored: Wanted = { '+': 'stored', '': '#stored' };
const call: Wanted = { '': '#call', name: text, args: textOrJson, arguments: textOrJson };
const response: Wanted = { name: text, response: textOrJson };
const code: Wanted = { code: text, output: text };
const file: Wanted = { '': '#file' };

/** Google reads its members in both cases. */
const inBothCases = (members: Wanted): Wanted => {
  const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return { ...members, ...Object.fromEntries(Object.entries(members).map(([name, wanted]) => [snake(name), wanted])) };
};

const contentMembers: Wanted = {
  '+': 'text',
  type: 'part.type',
  detail: 'part.detail',
  text,
  thinking: text,
  reasoning_content: text,
  refusal: text,
  name: text,
  title: text,
  input: textOrJson,
  arguments: textOrJson,
  result: textOrJson,
  document: textOrJson,
  summary: { '*': { text } },
  function: call,
  ...inBothCases({
    functionCall: call,
    functionResponse: response,
    executableCode: code,
    codeExecutionResult: code,
    inlineData: { data: media },
    fileData: file,
  }),
  image_url: { '+': 'media', url: media, detail: 'part.detail' },
  source: { data: media, url: media, file_id: stored, content: { '+': 'text', '*': { text } } },
  data: media,
  file,
  file_id: stored,
  file_url: stored,
  input_audio: file,
};
const innerPart: Wanted = { ...contentMembers, '': '#part' };
const innerContent: Wanted = { '+': 'text', '*': innerPart };
const part: Wanted = { ...contentMembers, '': '#part', content: innerContent };
const parts: Wanted = { ...contentMembers, '*': part };
const message: Wanted = {
  ...contentMembers,
  '': '#message',
  content: parts,
  parts,
  output: innerContent,
  tool_calls: { '*': { function: call } },
  // Cohere v1
  message: text,
};
const messages: Wanted = { ...contentMembers, '*': message, parts };
const schema: Wanted = { '{}': 'schema' };
const generationConfig = inBothCases({ responseSchema: schema, responseJsonSchema: schema });
/** A tool that the provider runs: what it finds is input too. */
const serverTool: Wanted = { '': '#serverTool' };
const requestTools: Wanted = {
  '{}': 'tools',
  '*': {
    type: 'tool.type',
    model: 'tool.model',
    // Gemini's tools have a member each in place of a type.
    ...inBothCases({
      googleSearch: serverTool,
      googleSearchRetrieval: serverTool,
      googleMaps: serverTool,
      urlContext: serverTool,
      codeExecution: serverTool,
      fileSearch: serverTool,
      computerUse: serverTool,
    }),
  },
};

const annotation: Wanted = { type: 'annotation' };

/** Members of a request that decide how it is metered or priced. */
export const wantedInRequest: Wanted = {
  model: 'model',
  models: { '*': 'fallback' },
  stream: 'stream',
  ...inBothCases({ serviceTier: 'serviceTier', systemInstruction: messages, generationConfig, cachedContent: stored }),
  size: 'image.size',
  quality: 'image.quality',
  seconds: 'video.seconds',
  // Mistral's text recognition
  document_annotation_format: annotation,
  bbox_annotation_format: annotation,
  billing_policy: { bill_to: 'billTo' },
  messages,
  chat_history: messages,
  contents: messages,
  input: messages,
  inputs: messages,
  content: messages,
  requests: { '*': { content: messages } },
  system: parts,
  instructions: messages,
  preamble: text,
  message: text,
  prompt: { '+': 'text', '*': text, id: stored },
  suffix: text,
  texts: { '*': text },
  images: { '*': media },
  documents: textOrJson,
  tool_results: textOrJson,
  tools: requestTools,
  functions: { '{}': 'tools' },
  response_format: schema,
  output_format: schema,
  output_config: { format: schema },
  text: { format: schema },
  previous_response_id: stored,
  previous_interaction_id: stored,
  conversation: stored,
  conversation_id: stored,
  agent_id: stored,
  mcp_servers: { '*': serverTool },
  plugins: { '*': serverTool },
  connectors: { '*': serverTool },
  web_search_options: serverTool,
};

/*
 * The members with a model's output, in every dialect. Only sizes leave the gateway, for an estimate when the provider reports no
 * usage: see visible-output.ts. `hidden` is reasoning in encrypted form.
 */
const toolCall: Wanted = { name: 'call', arguments: 'arguments', args: 'arguments' };
const outputPart: Wanted = {
  '': '#part',
  text: 'text',
  thinking: { '+': 'thinking', '*': { text: 'thinking' } },
  // Anthropic: a whole response
  name: 'call',
  input: 'arguments',
  signature: 'hidden',
  // Gemini
  thought: 'thought',
  functionCall: toolCall,
  thoughtSignature: 'hidden',
};
const outputMessage: Wanted = {
  content: { '+': 'text', text: 'text', thinking: 'thinking', '*': outputPart },
  refusal: 'text',
  reasoning: 'reasoning',
  reasoning_content: 'reasoning_content',
  reasoning_details: { '*': { data: 'hidden' } },
  tool_plan: 'text',
  // A list; in Cohere's streams one call.
  tool_calls: { function: toolCall, '*': { function: toolCall } },
};

export const wantedOutput: Wanted = {
  type: 'type',
  text: 'text',
  completion: 'completion',
  content: { '*': outputPart },
  choices: {
    '*': { text: 'completion', delta: { '': '#delta', ...outputMessage }, message: { '': '#whole', ...outputMessage } },
  },
  message: outputMessage,
  generations: { '*': { text: 'text' } },
  candidates: { '*': { content: { parts: { '*': outputPart } } } },
  // A string in OpenAI's Responses API; an object at Anthropic and Cohere
  delta: {
    '+': 'delta',
    text: 'text',
    thinking: 'thinking',
    partial_json: 'arguments',
    signature: 'hidden',
    message: outputMessage,
  },
  content_block: { text: 'text', name: 'call', data: 'hidden' },
  item: { name: 'call', encrypted_content: 'hidden' },
};

const usageMark = new UsageMark('usage');
const cohereMark = new UsageMark('billed_units');

/**
 * The beginning of a member name that every event with usage contains: `"usage"`, `"usageMetadata"`. Cohere v1 ends its stream
 * with `"meta":{"billed_units":…}`; v2 has them inside `"usage"`.
 */
export const usageMarkOf = (dialect: Dialect): UsageMark => (dialect.startsWith('cohere-') ? cohereMark : usageMark);
