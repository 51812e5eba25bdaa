import { isRaw, type Raw } from './raw.ts';

/**
 * The sum of two raw usage objects: numbers are added, name by name and level by level; of anything else the later is kept.
 * For the lines of a batch's results, which are answers of their own; events of one stream are never summed.
 */
export const addUsage = (total: Raw | null, usage: Raw): Raw => {
  if (!total) return usage;
  const sum: Record<string, unknown> = { ...total };
  for (const [name, value] of Object.entries(usage)) {
    const before = Object.hasOwn(sum, name) ? sum[name] : undefined;
    if (typeof before === 'number' && typeof value === 'number') sum[name] = before + value;
    else if (isRaw(before) && isRaw(value)) sum[name] = addUsage(before, value);
    else if (value !== null && value !== undefined) sum[name] = value;
  }
  return sum;
};
