import type { ProviderLabel } from '../../lambda/domain/providers.ts';

/** Which real SDK makes a call, and by which of its methods. */
export type Method = 'openai-chat' | 'openai-responses' | 'openai-models' | 'anthropic-messages' | 'google-generate';

export interface DemoCall {
  readonly method: Method;
  readonly provider: ProviderLabel;
  /** Null for a call that names none. */
  readonly model: string | null;
  readonly tag: string | null;
  readonly stream: boolean;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The provider refuses the call with this status. */
  readonly status?: number;
}

type Line = readonly [Method, ProviderLabel, string, tag: string | null];

/** Everyday traffic: each line is called streaming and not, several times, with other token counts each time. */
const lines: readonly Line[] = [
  ['openai-chat', 'openai', 'gpt-4o-mini', 'chatbot'],
  ['openai-chat', 'openai', 'gpt-4.1', 'reports'],
  ['openai-responses', 'openai', 'gpt-4.1-mini', 'reports'],
  ['anthropic-messages', 'anthropic', 'claude-sonnet-4-6', 'code-review'],
  ['anthropic-messages', 'anthropic', 'claude-haiku-4-5', 'chatbot'],
  ['google-generate', 'google', 'gemini-2.5-flash', 'chatbot'],
  ['google-generate', 'google', 'gemini-2.5-pro', null],
  ['openai-chat', 'groq', 'llama-3.3-70b-versatile', 'chatbot'],
  ['openai-chat', 'openrouter', 'openai/gpt-4o-mini', 'experiments'],
];
const CALLS_PER_LINE = 4;

const everyday = lines.flatMap(([method, provider, model, tag], line) =>
  Array.from(
    { length: CALLS_PER_LINE },
    (_, index): DemoCall => ({
      method,
      provider,
      model,
      tag,
      stream: index % 2 === 1,
      inputTokens: 1_000 + 137 * line + 911 * index,
      outputTokens: 200 + 53 * line + 97 * index,
    }),
  ),
);

const plain = { method: 'openai-chat', provider: 'openai', stream: false, inputTokens: 0, outputTokens: 0 } as const;

const special: readonly DemoCall[] = [
  // A model nobody publishes a price for: its cost is unknown, which is not $0.
  {
    ...plain,
    provider: 'together',
    model: 'acme/house-model-1',
    tag: 'experiments',
    inputTokens: 5_000,
    outputTokens: 500,
  },
  // Free of charge: listing models.
  { ...plain, method: 'openai-models', model: null, tag: null },
  // Refused by the provider: no charge.
  { ...plain, model: 'gpt-4.1', tag: 'reports', inputTokens: 1_000, status: 429 },
  { ...plain, model: 'gpt-4.1', tag: 'reports', inputTokens: 1_000, status: 500, stream: true },
];

export const demoCalls: readonly DemoCall[] = [...everyday, ...special];
