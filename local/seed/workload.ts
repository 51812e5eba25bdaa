import type { ProviderLabel } from '../../lambda/domain/providers.ts';
import type { Dialect } from '../../lambda/domain/usage/dialect.ts';
import type { UsageShape } from './usage-shapes.ts';

/** When in a day (UTC) calls come: 24 weights. */
export const office = [0, 0, 0, 0, 0, 0, 1, 3, 7, 10, 10, 8, 6, 9, 10, 9, 8, 5, 3, 2, 1, 1, 0, 0];
export const round = [3, 2, 2, 2, 2, 3, 4, 6, 8, 9, 9, 9, 8, 9, 9, 9, 8, 8, 7, 6, 6, 5, 4, 4];
export const night = [0, 8, 14, 10, 2, ...Array.from({ length: 19 }, () => 0)];

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

export const chat = { path: '/v1/chat/completions', dialect: 'openai-chat', shape: 'openAi' } as const;
export const messages = { path: '/v1/messages', dialect: 'anthropic-messages', shape: 'anthropic' } as const;

export const gemini = (model: string) =>
  ({ model, path: `/v1beta/models/${model}:generateContent`, dialect: 'gemini-generate', shape: 'gemini' }) as const;
