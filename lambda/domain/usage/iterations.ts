import { BILLABLE } from './billable-items.ts';
import { count, isRaw, type Raw } from './raw.ts';
import type { Reading } from './usage-event.ts';

/** The iterations of Anthropic's usage object, if it has any. */
export const iterationsOf = (usage: Raw | null): readonly Raw[] => {
  const iterations = usage?.['iterations'];
  return Array.isArray(iterations) ? iterations.filter(isRaw) : [];
};

/** Members that apply to all iterations of a request. */
const shared = ({ service_tier, inference_geo, speed }: Raw): Raw => ({ service_tier, inference_geo, speed });

/** One reading for each iteration, of the model it names. The last one also has the billable items. */
export const readingsOf = (reading: Reading, iterations: readonly Raw[]): readonly Reading[] => {
  const usage = reading.usage ?? {};
  const batch = reading.billableItems[BILLABLE.batch];
  return iterations.map((iteration, index) => {
    const isLast = index === iterations.length - 1;
    const model = iteration['model'];
    return {
      ...reading,
      usage: { ...shared(usage), ...iteration, ...(isLast && { server_tool_use: usage['server_tool_use'] }) },
      ...(typeof model === 'string' && { modelServed: model, modelRequested: null }),
      billableItems: isLast ? reading.billableItems : batch === undefined ? {} : { [BILLABLE.batch]: batch },
    };
  });
};

/*
 * When a model declines a request, Anthropic may try others. The iterations then report every attempt, and the top level only
 * the last one. Each attempt is charged at the price of its model; an attempt that declined before any output is not charged.
 * https://platform.claude.com/docs/en/build-with-claude/refusals-and-fallback
 */

/** True where the iterations are attempts of several models. */
export const areAttempts = (iterations: readonly Raw[]): boolean =>
  iterations.some(({ type }) => type === 'fallback_message');

const isCharged = (attempt: Raw, isRefused: boolean): boolean => {
  const declined = attempt['type'] === 'message' || (attempt['type'] === 'fallback_message' && isRefused);
  return !declined || count(attempt['output_tokens']) > 0;
};

/** The attempts that are charged. One that names no model ran on the requested one. */
export const chargedAttempts = (reading: Reading): readonly Reading[] => {
  const isRefused = reading.billableItems[BILLABLE.refused] === 1;
  const charged = iterationsOf(reading.usage).filter((attempt) => isCharged(attempt, isRefused));
  return readingsOf({ ...reading, modelServed: null }, charged);
};

/** Prompts of more tokens than one of these cost more with some model: all limits of the price books, of the overrides, and of the feed (2026-11). */
export const PROMPT_SIZE_LIMITS = [32_000, 100_000, 128_000, 199_999, 200_000, 256_000, 271_999, 272_000] as const;

/** The number of limits that a prompt exceeds. Prompts of one step have the same price by the token. */
export const promptSizeStep = (tokens: number): number => PROMPT_SIZE_LIMITS.filter((limit) => tokens > limit).length;

/** The whole prompt of a raw usage object, cached tokens included. Close enough for its step, without the rules of each shape. */
export const promptTokensOf = (usage: Raw): number =>
  count(usage['prompt_tokens'], usage['promptTokenCount']) ||
  count(usage['input_tokens']) + count(usage['cache_read_input_tokens']) + count(usage['cache_creation_input_tokens']);

/** The same of the largest iteration, for usage with iterations. */
export const largestPromptOf = (usage: Raw): number =>
  Math.max(0, ...iterationsOf(usage).map(promptTokensOf)) || promptTokensOf(usage);
