import { BILLABLE } from './billable-items.ts';
import { isRaw, type Raw } from './raw.ts';
import type { Reading } from './usage-event.ts';

/** Iterations of Anthropic's usage object; none where it has no list of them. */
export const iterationsOf = (usage: Raw | null): readonly Raw[] => {
  const iterations = usage?.['iterations'];
  return Array.isArray(iterations) ? iterations.filter(isRaw) : [];
};

/** What holds for all iterations of a request. */
const shared = ({ service_tier, inference_geo, speed }: Raw): Raw => ({ service_tier, inference_geo, speed });

/** Each iteration as a reading of its own, of the model it names; what was used beside the tokens stands with the last. */
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
