import { iterationsOf } from './iterations.ts';
import { count, type Raw } from './raw.ts';

/** Prompts longer than these are dearer with some model of some provider: every limit that the price books have, as they have it. */
const LIMITS = [100_000, 128_000, 199_999, 200_000, 256_000, 271_999, 272_000, 512_000] as const;

/** Which of the limits a prompt is past: prompts of one step have one price. */
export const promptSizeStep = (tokens: number): number => LIMITS.filter((limit) => tokens > limit).length;

/** Whole prompt of a raw usage object, cached tokens included: enough to tell its step, without the rules of each shape. */
export const promptTokensOf = (usage: Raw): number =>
  count(usage['prompt_tokens'], usage['promptTokenCount']) ||
  count(usage['input_tokens']) + count(usage['cache_read_input_tokens']) + count(usage['cache_creation_input_tokens']);

/** The same of its largest iteration, where it has some. */
export const largestPromptOf = (usage: Raw): number =>
  iterationsOf(usage).reduce((largest, iteration) => Math.max(largest, promptTokensOf(iteration)), 0) ||
  promptTokensOf(usage);
