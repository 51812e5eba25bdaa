import { iterationsOf } from './iterations.ts';
import { count, type Raw } from './raw.ts';

/** Prompts of more tokens than one of these cost more with some model: all limits of the price books and of the overrides. */
export const PROMPT_SIZE_LIMITS = [100_000, 128_000, 199_999, 200_000, 271_999, 272_000] as const;

/** The number of limits that a prompt exceeds. Prompts of one step have the same price by the token. */
export const promptSizeStep = (tokens: number): number => PROMPT_SIZE_LIMITS.filter((limit) => tokens > limit).length;

/** The whole prompt of a raw usage object, cached tokens included. Close enough for its step, without the rules of each shape. */
export const promptTokensOf = (usage: Raw): number =>
  count(usage['prompt_tokens'], usage['promptTokenCount']) ||
  count(usage['input_tokens']) + count(usage['cache_read_input_tokens']) + count(usage['cache_creation_input_tokens']);

/** The same of the largest iteration, for usage with iterations. */
export const largestPromptOf = (usage: Raw): number =>
  iterationsOf(usage).reduce((largest, iteration) => Math.max(largest, promptTokensOf(iteration)), 0) ||
  promptTokensOf(usage);
