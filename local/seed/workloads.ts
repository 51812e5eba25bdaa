import type { ProviderLabel } from '../../lambda/domain/providers.ts';
import type { Dialect } from '../../lambda/domain/usage/dialect.ts';
import type { UsageShape } from './usage-shapes.ts';

/** When in a day (UTC) calls come: 24 weights. */
const office = [0, 0, 0, 0, 0, 0, 1, 3, 7, 10, 10, 8, 6, 9, 10, 9, 8, 5, 3, 2, 1, 1, 0, 0];
const round = [3, 2, 2, 2, 2, 3, 4, 6, 8, 9, 9, 9, 8, 9, 9, 9, 8, 8, 7, 6, 6, 5, 4, 4];
const night = [0, 8, 14, 10, 2, ...Array.from({ length: 19 }, () => 0)];

/** One kind of call that a made-up company sends. */
export interface Workload {
  readonly tag: string | null;
  /** The program that sends it, where the gateway recognizes one. */
  readonly client?: string;
  /** It sends session ids, and starts agents. */
  readonly hasSessions?: boolean;
  /** By the account's second service key. */
  readonly batchKey?: true;
  /** Distinguished by the fingerprint of the provider's credential. */
  readonly providerKey: string;
  readonly provider: ProviderLabel;
  readonly model: string;
  readonly method?: 'GET';
  readonly path: string;
  readonly dialect: Dialect;
  readonly shape: UsageShape | null;
  readonly hours: readonly number[];
  /** Calls on a weekday; on others this share of them. */
  readonly perDay: number;
  readonly weekend: number;
  readonly input: number;
  readonly cachedShare?: number;
  readonly output: number;
  readonly reasoningShare?: number;
  readonly streamed?: true;
  /** In use for this number of days; without it all along. */
  readonly sinceDays?: number;
}

const chat = { path: '/v1/chat/completions', dialect: 'openai-chat', shape: 'openAi' } as const;
const messages = { path: '/v1/messages', dialect: 'anthropic-messages', shape: 'anthropic' } as const;

const gemini = (model: string) =>
  ({ model, path: `/v1beta/models/${model}:generateContent`, dialect: 'gemini-generate', shape: 'gemini' }) as const;

/** Trials next to production: providers with little use, most of it without a tag. */
const trials: readonly Workload[] = [
  {
    tag: null,
    providerKey: 'groq-trial',
    provider: 'groq',
    model: 'llama-3.3-70b-versatile',
    path: '/openai/v1/chat/completions',
    dialect: 'openai-chat',
    shape: 'openAi',
    hours: office,
    perDay: 4,
    weekend: 0.2,
    input: 17_000,
    output: 1_300,
    streamed: true,
  },
  {
    tag: null,
    providerKey: 'mistral-trial',
    provider: 'mistral',
    model: 'mistral-small-latest',
    ...chat,
    hours: office,
    perDay: 3,
    weekend: 0.2,
    input: 34_000,
    output: 1_600,
  },
  {
    tag: null,
    providerKey: 'deepseek-trial',
    provider: 'deepseek',
    model: 'deepseek-chat',
    ...chat,
    path: '/chat/completions',
    hours: office,
    perDay: 3,
    weekend: 0.2,
    input: 57_000,
    cachedShare: 0.4,
    output: 3_200,
  },
  {
    tag: null,
    providerKey: 'openrouter-trial',
    provider: 'openrouter',
    model: 'qwen/qwen3-coder',
    path: '/api/v1/chat/completions',
    dialect: 'openai-chat',
    shape: 'openRouter',
    hours: office,
    perDay: 3,
    weekend: 0.2,
    input: 99_000,
    output: 3_800,
    streamed: true,
  },
  // A model of one's own has no list price: its cost stays unknown.
  {
    tag: 'support-bot',
    providerKey: 'fireworks-trial',
    provider: 'fireworks',
    model: 'accounts/acme/models/support-v2',
    path: '/inference/v1/chat/completions',
    dialect: 'openai-chat',
    shape: 'openAi',
    hours: round,
    perDay: 2,
    weekend: 0.5,
    input: 11_000,
    output: 800,
    sinceDays: 12,
  },
];

/** All that the made-up company sends, day by day. */
export const workloads: readonly Workload[] = [
  {
    tag: 'code-review',
    client: 'claude-code',
    hasSessions: true,
    providerKey: 'anthropic-engineering',
    provider: 'anthropic',
    model: 'claude-opus-4-1',
    ...messages,
    hours: office,
    perDay: 6,
    weekend: 0.1,
    input: 72_000,
    cachedShare: 0.55,
    output: 4_200,
    streamed: true,
    sinceDays: 41,
  },
  {
    tag: 'support-bot',
    client: 'anthropic-python',
    providerKey: 'anthropic-production',
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    ...messages,
    hours: round,
    perDay: 21,
    weekend: 0.6,
    input: 103_000,
    cachedShare: 0.8,
    output: 2_100,
    streamed: true,
  },
  {
    tag: 'search',
    client: 'openai-python',
    providerKey: 'openai-production',
    provider: 'openai',
    model: 'text-embedding-3-small',
    path: '/v1/embeddings',
    dialect: 'openai-embeddings',
    shape: 'embedding',
    hours: round,
    perDay: 9,
    weekend: 0.5,
    input: 456_000,
    output: 0,
  },
  {
    tag: 'search',
    client: 'openai-python',
    providerKey: 'cohere-production',
    provider: 'cohere',
    model: 'rerank-v3.5',
    path: '/v2/rerank',
    dialect: 'cohere-rerank',
    shape: 'rerank',
    hours: round,
    perDay: 7,
    weekend: 0.5,
    input: 0,
    output: 0,
  },
  {
    tag: 'summaries',
    providerKey: 'gemini-production',
    provider: 'google',
    ...gemini('gemini-2.5-flash'),
    hours: round,
    perDay: 12,
    weekend: 0.4,
    input: 87_000,
    output: 4_500,
    reasoningShare: 0.3,
  },
  {
    tag: 'summaries',
    providerKey: 'gemini-production',
    provider: 'google',
    ...gemini('gemini-2.5-pro'),
    hours: office,
    perDay: 4,
    weekend: 0.1,
    input: 228_000,
    cachedShare: 0.3,
    output: 8_300,
    reasoningShare: 0.5,
  },
  {
    tag: 'nightly-report',
    batchKey: true,
    providerKey: 'openai-batch',
    provider: 'openai',
    model: 'gpt-4.1',
    ...chat,
    hours: night,
    perDay: 9,
    weekend: 1,
    input: 247_000,
    cachedShare: 0.2,
    output: 7_200,
  },
  {
    tag: 'extraction',
    batchKey: true,
    providerKey: 'openai-batch',
    provider: 'openai',
    model: 'gpt-4o-mini',
    ...chat,
    hours: round,
    perDay: 16,
    weekend: 0.4,
    input: 27_000,
    output: 1_400,
  },
  {
    tag: 'research',
    providerKey: 'perplexity-research',
    provider: 'perplexity',
    model: 'sonar-pro',
    path: '/chat/completions',
    dialect: 'openai-chat',
    shape: 'perplexity',
    hours: office,
    perDay: 4,
    weekend: 0.1,
    input: 6_000,
    output: 2_700,
    streamed: true,
  },
  {
    tag: 'research',
    providerKey: 'xai-research',
    provider: 'xai',
    model: 'grok-4',
    ...chat,
    shape: 'xai',
    hours: office,
    perDay: 3,
    weekend: 0.1,
    input: 46_000,
    cachedShare: 0.3,
    output: 5_000,
    reasoningShare: 0.6,
  },
  ...trials,
  {
    tag: null,
    providerKey: 'openai-production',
    provider: 'openai',
    model: '',
    method: 'GET',
    path: '/v1/models',
    dialect: 'free',
    shape: null,
    hours: office,
    perDay: 1,
    weekend: 0,
    input: 0,
    output: 0,
  },
];

/** An agent that called itself for some hours, so that there is something for rules to find. */
export const runaway = {
  daysAgo: 9,
  hours: [13, 14, 15],
  callsPerHour: 20,
  workload: {
    tag: 'extraction',
    batchKey: true,
    providerKey: 'openai-batch',
    provider: 'openai',
    model: 'gpt-4o',
    ...chat,
    hours: [],
    perDay: 0,
    weekend: 0,
    input: 137_000,
    output: 3_400,
  } satisfies Workload,
} as const;
