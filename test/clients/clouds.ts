import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { EventStreamCodec } from '@smithy/core/event-streams';
import { listen, stopServer, urlOf } from '../../fixtures/listen.ts';

/* Amazon Bedrock and Vertex AI, by the shapes of their documentation. Each response reports the same tokens. */

const INPUT = 1_200;
const OUTPUT = 34;
const TEXTS = ['This is a cloud ', 'speaking.'];

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
);
const message = (type: string, payload: object): Uint8Array =>
  codec.encode({
    headers: {
      ':event-type': { type: 'string', value: type },
      ':content-type': { type: 'string', value: 'application/json' },
      ':message-type': { type: 'string', value: 'event' },
    },
    body: Buffer.from(JSON.stringify(payload)),
  });
const chunk = (event: object): Uint8Array =>
  message('chunk', { bytes: Buffer.from(JSON.stringify(event)).toString('base64'), p: 'abcdef' });

const text = TEXTS.join('');
const metrics = {
  'amazon-bedrock-invocationMetrics': {
    ...{ inputTokenCount: INPUT, outputTokenCount: OUTPUT },
    ...{ invocationLatency: 551, firstByteLatency: 120 },
  },
};
const converseUsage = { inputTokens: INPUT, outputTokens: OUTPUT, totalTokens: INPUT + OUTPUT };
const converseEvents: readonly (readonly [string, object])[] = [
  ['messageStart', { role: 'assistant' }],
  ...TEXTS.map((part) => ['contentBlockDelta', { delta: { text: part }, contentBlockIndex: 0 }] as const),
  ['contentBlockStop', { contentBlockIndex: 0 }],
  ['messageStop', { stopReason: 'end_turn' }],
  ['metadata', { usage: converseUsage, metrics: { latencyMs: 551 } }],
];
/** The body of ConverseStream. */
export const converseStream = Buffer.concat(converseEvents.map((each) => message(...each)));
const converse = {
  output: { message: { role: 'assistant', content: [{ text }] } },
  stopReason: 'end_turn',
  usage: converseUsage,
};

const claude = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5-20250929' };
const claudeEvents = [
  {
    type: 'message_start',
    message: { ...claude, content: [], stop_reason: null, usage: { input_tokens: INPUT, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ...TEXTS.map((part) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: part } })),
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: OUTPUT } },
];
const claudeMessage = {
  ...{ ...claude, content: [{ type: 'text', text }], stop_reason: 'end_turn' },
  usage: { input_tokens: INPUT, output_tokens: OUTPUT },
};

/** What InvokeModel has for each family of models, and the events of its stream. */
const families: readonly { readonly model: RegExp; readonly whole: object; readonly events: readonly object[] }[] = [
  { model: /anthropic/, whole: claudeMessage, events: [...claudeEvents, { type: 'message_stop', ...metrics }] },
  {
    model: /nova/,
    whole: converse,
    events: converseEvents.map(([name, event]) => ({ [name]: event, ...(name === 'metadata' ? metrics : {}) })),
  },
  {
    model: /llama/,
    whole: { generation: text, prompt_token_count: INPUT, generation_token_count: OUTPUT, stop_reason: 'stop' },
    events: TEXTS.map((generation, n) => ({
      ...{ generation, prompt_token_count: n === 0 ? INPUT : null, generation_token_count: n + 1 },
      ...(n === 0 ? { stop_reason: null } : { stop_reason: 'stop', ...metrics }),
    })),
  },
  {
    model: /mistral/,
    whole: { outputs: [{ text, stop_reason: 'stop' }] },
    events: TEXTS.map((part, n) => ({
      outputs: [{ text: part, stop_reason: n === 0 ? null : 'stop' }],
      ...(n === 0 ? {} : metrics),
    })),
  },
];

const EVENTS = 'application/vnd.amazon.eventstream';
const bedrock = (model: string, call: string, response: ServerResponse): void => {
  const family = families.find((each) => each.model.test(model));
  const streams = call.endsWith('-stream');
  response.setHeader('x-amzn-requestid', 'r-1').setHeader('content-type', streams ? EVENTS : 'application/json');
  if (call === 'converse-stream') response.end(converseStream);
  else if (call === 'converse') response.end(JSON.stringify(converse));
  else if (streams)
    response
      .setHeader('x-amzn-bedrock-content-type', 'application/json')
      .end(Buffer.concat((family?.events ?? []).map(chunk)));
  else
    response
      .setHeader('x-amzn-bedrock-input-token-count', INPUT)
      .setHeader('x-amzn-bedrock-output-token-count', OUTPUT)
      .end(JSON.stringify(family?.whole));
};

const gemini = (parts: readonly string[]) => ({
  candidates: [{ content: { role: 'model', parts: parts.map((part) => ({ text: part })) }, finishReason: 'STOP' }],
  usageMetadata: {
    ...{ promptTokenCount: INPUT, candidatesTokenCount: OUTPUT, totalTokenCount: INPUT + OUTPUT },
    trafficType: 'ON_DEMAND',
  },
  modelVersion: 'gemini-2.5-flash',
});

const vertex = (call: string, response: ServerResponse): void => {
  const streams = call.startsWith('stream');
  response.setHeader('content-type', streams ? 'text/event-stream' : 'application/json');
  if (call === 'rawPredict') response.end(JSON.stringify(claudeMessage));
  else if (call === 'streamRawPredict')
    for (const event of [...claudeEvents, { type: 'message_stop' }])
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  else if (!streams) response.end(JSON.stringify(gemini(TEXTS)));
  else for (const part of TEXTS) response.write(`data: ${JSON.stringify(gemini([part]))}\r\n\r\n`);
  response.end();
};

const BEDROCK_PATH = /^\/model\/([^/]+)\/([a-z-]+)$/;
const VERTEX_PATH = /^\/v1(?:beta1)?\/projects\/[^?]+:(\w+)/;

/** Whether a path is one of theirs. */
export const isCloudPath = (path: string): boolean => BEDROCK_PATH.test(path) || VERTEX_PATH.test(path);

const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  await request.toArray();
  const path = request.url ?? '';
  const [, model = '', call = ''] = BEDROCK_PATH.exec(path) ?? [];
  if (request.headers.authorization?.startsWith('Bearer ') !== true) response.writeHead(403).end();
  else if (call !== '') bedrock(model, call, response);
  else vertex(VERTEX_PATH.exec(path)?.[1] ?? '', response);
};

/** Both on one free port. */
export const startClouds = async (): Promise<{ readonly url: string; stop(): Promise<void> }> => {
  const server = createServer((request, response) => void respond(request, response));
  await listen(server);
  return {
    url: urlOf(server),
    stop: async () => {
      await stopServer(server);
    },
  };
};
