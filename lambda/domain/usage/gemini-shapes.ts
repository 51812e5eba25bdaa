import type { DraftUnits, UsageDraft } from './consistent-usage.ts';
import type { Dialect } from './dialect.ts';
import { at, byModality, count, countOf, type Raw } from './raw.ts';
import { hasUnreadable, readSides } from './sides.ts';

/**
 * Gemini's `usageMetadata`: the prompt includes cached tokens. Tokens of tools are separate from the prompt, and thoughts from the
 * candidates unless prompt and candidates already add up to the total. Candidates that are left out are what the others leave of the
 * total: Google leaves out zeros.
 * @see https://ai.google.dev/api/generate-content#UsageMetadata
 */
export const readGeminiUsage = (raw: Raw, _provider: string, dialect: Dialect): UsageDraft => {
  const tool = count(raw['toolUsePromptTokenCount']);
  const thoughts = count(raw['thoughtsTokenCount']);
  const total = countOf(raw['totalTokenCount']);
  const reportedOutput = raw['candidatesTokenCount'] ?? raw['responseTokenCount'];
  const sides = readSides(
    {
      input: raw['promptTokenCount'],
      output: reportedOutput,
      // The part that tools and thoughts leave of it. A total without thoughts has them among the candidates.
      total: total === null ? null : total - tool - thoughts,
    },
    dialect,
  );
  const { inputTokens: prompt, outputTokens: candidates } = sides;
  const isInferred = sides.gap === 'derived' && reportedOutput === undefined;
  const thoughtsInside = total !== null && prompt + tool + candidates === total;
  return {
    gap: hasUnreadable(raw, ['toolUsePromptTokenCount', 'thoughtsTokenCount'])
      ? 'missing'
      : isInferred
        ? undefined
        : sides.gap,
    inputTokens: prompt + tool,
    outputTokens: candidates + (thoughtsInside ? 0 : thoughts),
    cacheReadTokens: count(raw['cachedContentTokenCount']),
    reasoningTokens: thoughts,
    ...modalities(
      [raw['promptTokensDetails'] ?? raw['promptTokenDetails'], raw['toolUsePromptTokensDetails']],
      raw['candidatesTokensDetails'] ?? raw['responseTokensDetails'],
      raw['cacheTokensDetails'],
    ),
  };
};

/** Gemini's `/interactions`: the same rules under other names. */
export const readInteractionsUsage = (raw: Raw, _provider: string, dialect: Dialect): UsageDraft => {
  const tool = count(raw['total_tool_use_tokens']);
  const thoughts = count(raw['total_thought_tokens'], raw['total_reasoning_tokens']);
  const total = countOf(raw['total_tokens']);
  const sides = readSides(
    {
      input: raw['total_input_tokens'],
      output: raw['total_output_tokens'],
      total: total === null ? null : total - tool - thoughts,
    },
    dialect,
  );
  const input = sides.inputTokens + tool;
  const output = sides.outputTokens;
  return {
    gap: hasUnreadable(raw, ['total_tool_use_tokens', 'total_thought_tokens']) ? 'missing' : sides.gap,
    inputTokens: input,
    outputTokens: output + (total !== null && input + output === total ? 0 : thoughts),
    cacheReadTokens: count(raw['total_cached_tokens']),
    reasoningTokens: thoughts,
    units: groundingUnits(raw['grounding_tool_count']),
    ...modalities(
      [raw['input_tokens_by_modality'], raw['tool_use_tokens_by_modality']],
      raw['output_tokens_by_modality'],
      raw['cached_tokens_by_modality'],
    ),
  };
};

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
