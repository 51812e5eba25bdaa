import type { DraftUnits, UsageDraft } from './consistent-usage.ts';
import type { Dialect } from './dialect.ts';
import { at, byModality, count, countOf, type Raw } from './raw.ts';
import { hasUnreadable, readSides } from './sides.ts';

/** Gemini's counts of tokens, under either of its sets of names. */
type Counts = Readonly<Record<'input' | 'output' | 'tool' | 'thoughts' | 'total', unknown>>;

/**
 * The prompt includes cached tokens. Tokens of tools are separate from the prompt, and thoughts from the output unless prompt and output
 * already add up to the total (Gemini Live's leaves them out). An output that is left out is what the others leave of the total: Google
 * leaves out zeros. What the total has beyond all of them is charged as thoughts.
 */
const readTokens = (counts: Counts, dialect: Dialect, isLive = false): UsageDraft => {
  const tool = count(counts.tool);
  const thoughts = count(counts.thoughts);
  const total = countOf(counts.total);
  const sides = readSides(
    {
      input: counts.input,
      output: counts.output,
      // The part that tools and thoughts leave of it. A total without thoughts has them in the output.
      total: total === null ? null : total - tool - thoughts,
    },
    dialect,
  );
  const inputTokens = sides.inputTokens + tool;
  const listed = inputTokens + sides.outputTokens;
  const beyond = total === null ? 0 : Math.max(0, total - listed - thoughts);
  const gap = sides.gap === 'derived' && counts.output === undefined ? undefined : sides.gap;
  return {
    gap: hasUnreadable(counts, ['tool', 'thoughts']) ? 'missing' : (gap ?? (beyond > 0 ? 'derived' : undefined)),
    inputTokens,
    outputTokens: sides.outputTokens + (total === listed && !isLive ? 0 : thoughts) + beyond,
    reasoningTokens: thoughts + beyond,
  };
};

/** Gemini's `usageMetadata`. @see https://ai.google.dev/api/generate-content#UsageMetadata */
export const readGeminiUsage = (raw: Raw, _provider: string, dialect: Dialect): UsageDraft => ({
  ...readTokens(
    {
      input: raw['promptTokenCount'],
      output: raw['candidatesTokenCount'] ?? raw['responseTokenCount'],
      tool: raw['toolUsePromptTokenCount'],
      thoughts: raw['thoughtsTokenCount'],
      total: raw['totalTokenCount'],
    },
    dialect,
    raw['responseTokenCount'] !== undefined,
  ),
  cacheReadTokens: count(raw['cachedContentTokenCount']),
  ...modalities(
    [raw['promptTokensDetails'] ?? raw['promptTokenDetails'], raw['toolUsePromptTokensDetails']],
    raw['candidatesTokensDetails'] ?? raw['responseTokensDetails'],
    raw['cacheTokensDetails'],
  ),
});

/** Gemini's `/interactions`: the same rules under other names. */
export const readInteractionsUsage = (raw: Raw, _provider: string, dialect: Dialect): UsageDraft => ({
  ...readTokens(
    {
      input: raw['total_input_tokens'],
      output: raw['total_output_tokens'],
      tool: raw['total_tool_use_tokens'],
      thoughts: raw['total_thought_tokens'] ?? raw['total_reasoning_tokens'],
      total: raw['total_tokens'],
    },
    dialect,
  ),
  cacheReadTokens: count(raw['total_cached_tokens']),
  units: groundingUnits(raw['grounding_tool_count']),
  ...modalities(
    [raw['input_tokens_by_modality'], raw['tool_use_tokens_by_modality']],
    raw['output_tokens_by_modality'],
    raw['cached_tokens_by_modality'],
  ),
});

/** Queries by tool, `[{ type: 'google_search', count: 2 }]`. @see https://ai.google.dev/api/interactions-api */
const groundingUnits = (counts: unknown): DraftUnits => {
  const queries = (type: string): number =>
    (Array.isArray(counts) ? counts : []).reduce<number>(
      (sum, item) => sum + (at(item, 'type') === type ? count(at(item, 'count')) : 0),
      0,
    );
  const searches = queries('google_search');
  const places = queries('google_maps');
  return {
    groundingQueries: searches,
    groundedPrompts: Math.min(searches, 1),
    mapsQueries: places,
    mapsPrompts: Math.min(places, 1),
  };
};

const modalities = (inputs: readonly unknown[], output: unknown, cached: unknown): UsageDraft => {
  const ins = inputs.map(byModality);
  const input = (modality: string) => ins.reduce((sum, tokens) => sum + (tokens.get(modality) ?? 0), 0);
  const out = byModality(output);
  const cache = byModality(cached);
  return {
    inputAudioTokens: input('audio'),
    inputImageTokens: input('image'),
    inputVideoTokens: input('video'),
    outputAudioTokens: out.get('audio') ?? 0,
    outputImageTokens: out.get('image') ?? 0,
    outputVideoTokens: out.get('video') ?? 0,
    cacheReadAudioTokens: cache.get('audio') ?? 0,
    cacheReadImageTokens: cache.get('image') ?? 0,
  };
};
