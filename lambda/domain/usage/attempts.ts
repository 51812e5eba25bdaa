import { BILLABLE } from './billable-items.ts';
import { iterationsOf, readingsOf } from './iterations.ts';
import { count, type Raw } from './raw.ts';
import type { Reading } from './usage-event.ts';

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
