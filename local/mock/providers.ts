import { request as httpRequest } from 'node:http';
import { type ChatCompletionRequest, type FixtureResponse, LLMock, type Mountable } from '@copilotkit/aimock';
import { cloudLabels } from '../../lambda/domain/hosts.ts';
import { bundledLists } from '../../lambda/domain/price/bundled-lists.ts';
import { providerLabels } from '../../lambda/domain/providers.ts';

/** Orders to the mock providers in a prompt: `[in 1200, out 300]`, `[status 429]`, `[agents 2]`, or `[tool mcp__spend__spend]`. */
interface MockOrder {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Status of an error response. */
  readonly status?: number;
  /** The response starts this number of agents, if the client has a tool for that. */
  readonly agents?: number;
  /** The response calls this tool of the client, without arguments. */
  readonly tool?: string;
}

const ORDER = /\[in (\d+), out (\d+)\]/;
const STATUS = /\[status (\d{3})\]/;
const AGENTS = /\[agents (\d)\]/;
const TOOL = /\[tool (\w+)\]/;
const CHARACTERS_PER_TOKEN = 4;
/** Tokens of the mock's response to a prompt that orders none. */
const DEFAULT_OUTPUT_TOKENS = 12;

/** A prompt whose response reports this usage. */
export const promptFor = (text: string, { inputTokens, outputTokens, status }: MockOrder): string =>
  `${text} [in ${inputTokens}, out ${outputTokens}]${status ? ` [status ${status}]` : ''}`;

/** The order in a prompt; where there is none, about what its text would use. */
export const orderOf = (prompt: string): MockOrder => {
  const [, input, output] = ORDER.exec(prompt) ?? [];
  const [, status] = STATUS.exec(prompt) ?? [];
  const [, agents] = AGENTS.exec(prompt) ?? [];
  const [, tool] = TOOL.exec(prompt) ?? [];
  return {
    inputTokens: input ? Number(input) : Math.ceil(prompt.length / CHARACTERS_PER_TOKEN),
    outputTokens: output ? Number(output) : DEFAULT_OUTPUT_TOKENS,
    ...(status && { status: Number(status) }),
    ...(agents && { agents: Number(agents) }),
    ...(tool && { tool }),
  };
};

/** Cost of a call by the mock of OpenRouter, in nano-USD: it reports cost itself. */
export const openRouterCostNanoUsd = ({ inputTokens, outputTokens }: MockOrder): number =>
  inputTokens * 200 + outputTokens * 800;

/** A model that the prices in the code do not have. */
export const NEW_MODEL = 'mock-llm-2';
/** A model whose published price is three times the price in force: the change has to wait. */
export const HELD_MODEL = 'gpt-4';

const listed = () => {
  const { openai } = bundledLists.genaiPrices;
  const models = (openai?.models ?? []).map((model) =>
    model.id === HELD_MODEL ? { ...model, prices: { input_mtok: 90, output_mtok: 180 } } : model,
  );
  const added = { id: NEW_MODEL, match: { equals: NEW_MODEL }, prices: { input_mtok: 1, output_mtok: 4 } };
  return [{ ...openai, models: [...models, added] }];
};

/** OpenAI's prices in the code, in the shape that genai-prices publishes, with a new model and a large change. */
const priceFeed = (): Mountable => ({
  async handleRequest(request, response) {
    if (request.method !== 'GET') return false;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(listed()));
    return true;
  },
});

/**
 * Gemini under `/v1/models`, where today's SDK looks for it: aimock has it under `/v1beta/models` alone. Mount it there.
 *
 * @param mockUrl the mock's own URL, known once it has started
 */
const googleV1 = (mockUrl: () => string): Mountable => ({
  async handleRequest(request, response, path) {
    if (!/:(generateContent|streamGenerateContent|embedContent)$/.test(path)) return false;
    const [, query = ''] = (request.url ?? '').split(/(\?.*)/s);
    const inner = httpRequest(
      new URL(`/v1beta/models${path}${query}`, mockUrl()),
      { method: request.method, headers: request.headers },
      (upstream) => {
        response.writeHead(upstream.statusCode ?? 502, upstream.headers);
        upstream.pipe(response);
      },
    );
    inner.on('error', () => response.destroy());
    request.pipe(inner);
    return true;
  },
});

export const MOCK_RESPONSE = 'This is the mock provider speaking. It bills exactly what the prompt asks for.';

/** The response to a prompt with this in it is slow enough to be interrupted. */
const SLOW_PROMPT = /\[slow\]/;
const SLOW_CHUNK_DELAY_MS = 1_000;

const textOf = ({ messages }: ChatCompletionRequest): string => {
  const content = messages.findLast(({ role }) => role === 'user')?.content;
  return typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join(' ');
};

/** The tools by which coding agents start another agent: Claude Code's and opencode's. */
const AGENT_TOOL = /^(agent|task)$/i;

/** Calls of the client's tools: the one that the prompt names, or as many agents as it orders. None once a tool has responded. */
const toolCalls = ({ tools = [], messages }: ChatCompletionRequest, { agents = 0, tool: named }: MockOrder) => {
  if (named !== undefined)
    return messages.some(({ role }) => role === 'tool') ? [] : [{ name: named, arguments: '{}' }];
  // Tools of the type `custom` have no function.
  const tool = tools.map((each) => each.function?.name).find((name) => name !== undefined && AGENT_TOOL.test(name));
  if (tool === undefined || messages.some(({ role }) => role === 'tool')) return [];
  return Array.from({ length: agents }, (_, n) => ({
    name: tool,
    arguments: JSON.stringify({
      description: `Agent ${n + 1}`,
      prompt: promptFor('Say hello.', { inputTokens: 100 * (n + 1), outputTokens: n + 1 }),
      subagent_type: /^task$/.test(tool) ? 'general' : 'general-purpose',
    }),
  }));
};

const respond = (request: ChatCompletionRequest): FixtureResponse => {
  const order = orderOf(textOf(request));
  const { inputTokens, outputTokens, status } = order;
  if (status) return { status, error: { message: `The mock was asked for status ${status}.`, type: 'mock_error' } };
  const calls = toolCalls(request, order);
  return {
    ...(calls.length > 0 ? { toolCalls: calls } : { content: MOCK_RESPONSE }),
    // The names of all providers; the mock takes those that its response shape has.
    usage: {
      prompt_tokens: inputTokens,
      completion_tokens: outputTokens,
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      promptTokenCount: inputTokens,
      candidatesTokenCount: outputTokens,
      cost: openRouterCostNanoUsd(order) / 1e9,
    },
  };
};

/** Fakes of all providers, on one local port. @param options.chunkDelayMs pause between the chunks of a streamed response */
export const startMockProviders = async (options: { readonly chunkDelayMs?: number } = {}) => {
  const mock = new LLMock({ port: 0, host: '127.0.0.1', latency: options.chunkDelayMs ?? 0 });
  mock.onMessage(SLOW_PROMPT, respond, { latency: SLOW_CHUNK_DELAY_MS });
  mock.onMessage(/.*/s, respond);
  mock.mount(
    '/v1/models',
    googleV1(() => mock.url),
  );
  mock.mount('/price-feed', priceFeed());
  await mock.start();
  return {
    url: mock.url,
    /** Variables of a stack of which no call leaves the machine: every label leads here, and no prices are fetched. */
    environment: {
      HOSTS: JSON.stringify({ clouds: cloudLabels }),
      UPSTREAM_ORIGINS: JSON.stringify(
        Object.fromEntries([...providerLabels, ...cloudLabels].map((label) => [label, mock.url])),
      ),
      PRICE_FEED_SOURCES: '{}',
    },
    /** In the place of the same variable there: prices come from a feed of the mock. */
    withFeed: { PRICE_FEED_SOURCES: JSON.stringify({ 'genai-prices': `${mock.url}/price-feed` }) },
    stop: () => mock.stop(),
  };
};

export type MockProviders = Awaited<ReturnType<typeof startMockProviders>>;
