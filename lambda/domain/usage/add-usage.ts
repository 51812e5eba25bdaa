import { countOf, isRaw, type Raw } from './raw.ts';

const kindOf = (item: Raw): string => JSON.stringify([item['modality'], item['type'], item['model']]);

/** Adds lists such as Gemini's tokens by modality and Anthropic's iterations: items of one kind are added up. */
const addLists = (total: readonly unknown[], items: readonly unknown[]): unknown[] => {
  const sum = [...total];
  for (const item of items.filter(isRaw)) {
    const same = sum.findIndex((other) => isRaw(other) && kindOf(other) === kindOf(item));
    if (same === -1) sum.push(item);
    else sum[same] = addUsage(sum[same] as Raw, item);
  }
  return sum;
};

/** Members without which the cost of a response is not known. */
const sides: ReadonlySet<string> = new Set([
  'prompt_tokens',
  'completion_tokens',
  'input_tokens',
  'output_tokens',
  'promptTokenCount',
  'candidatesTokenCount',
  'total_input_tokens',
  'total_output_tokens',
]);

/** Null where one of them cannot be read: the sum of the others is too low. */
const addSides = (left: unknown, right: unknown): number | null => {
  const [one, other] = [countOf(left), countOf(right)];
  return one === null || other === null ? null : one + other;
};

/**
 * The sum of two raw usage objects: numbers are added by name at every level, lists by the kind of their items. Of anything else
 * the later value is kept; of a side that one of them lacks, null. For the lines of a batch's results, each of which is a response; events of one stream are never added.
 */
export const addUsage = (total: Raw | null, usage: Raw): Raw => {
  if (!total) return usage;
  const sum: Record<string, unknown> = { ...total };
  for (const [name, value] of Object.entries(usage)) {
    const before = Object.hasOwn(sum, name) ? sum[name] : undefined;
    if (sides.has(name) && before !== undefined) sum[name] = addSides(before, value);
    else if (typeof before === 'number' && typeof value === 'number') sum[name] = before + value;
    else if (isRaw(before) && isRaw(value)) sum[name] = addUsage(before, value);
    else if (Array.isArray(before) && Array.isArray(value)) sum[name] = addLists(before, value);
    else if (value !== null && value !== undefined) sum[name] = value;
  }
  return sum;
};
