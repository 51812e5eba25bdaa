import { priceByTokens } from '../../lambda/domain/price/reported-costs.ts';
import type { PricedUsage, Usage } from '../../lambda/domain/usage/usage.ts';
import type { Recording } from './recording.ts';
import { bundledBook, type Replayed, requestOf } from './replay.ts';

/** The five counts that everybody means by usage, then whatever else there is. */
const shownUsage = (usage: Usage | null): Record<string, unknown> | null => {
  if (!usage) return null;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens, units, ...others } = usage;
  const present = Object.entries(others).filter(([, value]) => value !== null && value !== 0);
  return {
    input: inputTokens,
    output: outputTokens,
    cacheRead: cacheReadTokens,
    cacheWrite: cacheWriteTokens,
    reasoning: reasoningTokens,
    ...Object.fromEntries(present),
    ...units,
  };
};

export const shownLine = (recording: Recording, { reading, priced, pricedAt }: Replayed): Record<string, unknown> => ({
  id: recording.id,
  provider: recording.provider,
  endpoint: recording.endpoint ?? reading.dialect,
  model: reading.modelServed ?? reading.modelRequested,
  usage: shownUsage(priced.usage),
  costNanoUsd: priced.costNanoUsd,
  provenance: priced.provenance,
  priceSource: priced.priceSource,
  pricedAt,
  ...(priced.reason !== null && { reason: priced.reason }),
});

/** `expected.norm`'s names for the counts that are compared. */
const compared: readonly (readonly [norm: string, ours: keyof Usage])[] = [
  ['input', 'inputTokens'],
  ['output', 'outputTokens'],
  ['cache_read', 'cacheReadTokens'],
  ['cache_write', 'cacheWriteTokens'],
  ['reasoning', 'reasoningTokens'],
];

/** Where our usage differs from the expected; null where it does not. A count that is not expected is not compared. */
export const differences = (recording: Recording, usage: Usage | null): Record<string, unknown> | null => {
  const norm = recording.expected?.norm ?? null;
  const differing: Record<string, unknown> = {};
  for (const [name, ours] of compared) {
    const expected = norm === null ? 0 : norm[name];
    const got = usage?.[ours] ?? (norm === null ? 0 : null);
    if (expected !== undefined && expected !== null && expected !== got) differing[name] = { expected, got };
  }
  return Object.keys(differing).length > 0 ? differing : null;
};

/** The price by the tokens alone, for responses that report what they cost; null for all others. */
export const reproduced = (
  recording: Recording,
  { reading, priced, pricedAt }: Replayed,
): { readonly reportedNanoUsd: number; readonly byTokens: PricedUsage } | null => {
  if (priced.usage?.providerCostNanoUsd == null || reading.usage === null) return null;
  const byTokens = priceByTokens(requestOf(recording, reading, pricedAt), bundledBook);
  return { reportedNanoUsd: priced.usage.providerCostNanoUsd, byTokens };
};
