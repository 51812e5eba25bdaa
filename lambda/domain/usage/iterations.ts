import { BILLABLE } from './billable-items.ts';
import { isRaw, type Raw } from './raw.ts';
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
