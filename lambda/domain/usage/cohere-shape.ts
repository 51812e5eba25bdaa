import type { UsageDraft } from './consistent-usage.ts';
import type { Dialect } from './dialect.ts';
import { at, count, countOf, isRaw, type Raw } from './raw.ts';
import { hasUnreadable } from './sides.ts';

const knownUnits = new Set(['input_tokens', 'output_tokens', 'search_units', 'images', 'image_tokens']);

/** Dialects whose responses have both input and output. Others may have units alone. */
const generates: ReadonlySet<Dialect> = new Set(['cohere-chat', 'cohere-generate']);

/** Such as `classifications`. */
const otherUnits = (billed: Raw): number =>
  Object.entries(billed).reduce((sum, [unit, quantity]) => sum + (knownUnits.has(unit) ? 0 : count(quantity)), 0);

/**
 * Cohere: `tokens` is what was processed, `billed_units` what is charged (the preamble, for example, is free). Older responses,
 * embeddings and rerank have only `billed_units`. Image tokens are part of `tokens`, but separate from the text in `billed_units`.
 * @see https://docs.cohere.com/docs/how-does-cohere-pricing-work
 */
export const readCohereUsage = (raw: Raw, _provider: string, dialect: Dialect): UsageDraft => {
  const billed = raw['billed_units'];
  const tokens = raw['tokens'];
  const text = countOf(at(billed, 'input_tokens'));
  const billedImages = tokens === undefined ? count(at(billed, 'image_tokens')) : 0;
  const billedInput = text === null && billedImages === 0 ? null : (text ?? 0) + billedImages;
  const billedOutput = countOf(at(billed, 'output_tokens'));
  const input = countOf(at(tokens, 'input_tokens')) ?? billedInput;
  const output = countOf(at(tokens, 'output_tokens')) ?? billedOutput;
  const isPartial =
    (generates.has(dialect) && (input === null || output === null)) ||
    [billed, tokens].some((counts) => isRaw(counts) && hasUnreadable(counts, ['input_tokens', 'output_tokens']));
  return {
    ...(isPartial && { gap: 'missing' }),
    inputTokens: input ?? 0,
    outputTokens: output ?? 0,
    cacheReadTokens: count(raw['cached_tokens']),
    reasoningTokens: count(at(tokens, 'reasoning_tokens')),
    inputImageTokens: count(at(tokens, 'image_tokens'), billedImages),
    billedInputTokens: billedInput,
    billedOutputTokens: billedOutput,
    units: {
      searchUnits: count(at(billed, 'search_units')),
      images: count(at(billed, 'images')),
      otherUnits: isRaw(billed) ? otherUnits(billed) : 0,
    },
  };
};
