import type { Reading } from '../usage-event.ts';
import { EXTRA } from './extras.ts';
import { count, isRaw, type Raw } from './raw.ts';

/*
 * Anthropic may try a request on one model after another, when one declines it. Its iterations then tell of every attempt,
 * and the top level of the last alone. Each attempt is charged at the price of the model that ran it; one that declined before
 * any output is not charged.
 * https://platform.claude.com/docs/en/build-with-claude/refusals-and-fallback
 */

/** Iterations of a usage object; none where it has no list of them. */
export const iterationsOf = (usage: Raw | null): readonly Raw[] => {
  const iterations = usage?.['iterations'];
  return Array.isArray(iterations) ? iterations.filter(isRaw) : [];
};

/** True where the iterations are attempts of several models. */
export const areAttempts = (iterations: readonly Raw[]): boolean =>
  iterations.some(({ type }) => type === 'fallback_message');

const isCharged = (attempt: Raw, isRefused: boolean): boolean => {
  const declined = attempt['type'] === 'message' || (attempt['type'] === 'fallback_message' && isRefused);
  return !declined || count(attempt['output_tokens']) > 0;
};

/** What holds for all attempts of a request. */
const shared = ({ service_tier, inference_geo, speed }: Raw): Raw => ({ service_tier, inference_geo, speed });

/** The attempts that are charged, each as a reading of its own; what was used beside the tokens stands with the last. */
export const chargedAttempts = (reading: Reading, attempts: readonly Raw[]): readonly Reading[] => {
  const usage = reading.usage ?? {};
  const charged = attempts.filter((attempt) => isCharged(attempt, reading.extras[EXTRA.refused] === 1));
  return charged.map((attempt, index) => {
    const isLast = index === charged.length - 1;
    const model = attempt['model'];
    return {
      ...reading,
      usage: { ...shared(usage), ...attempt, ...(isLast && { server_tool_use: usage['server_tool_use'] }) },
      // An attempt that names no model ran on the one that was asked for.
      modelAnswered: typeof model === 'string' ? model : null,
      modelRequested: typeof model === 'string' ? null : reading.modelRequested,
      extras: isLast ? reading.extras : {},
    };
  });
};
