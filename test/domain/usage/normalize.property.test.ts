import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { providerLabels } from '../../../lambda/domain/providers.ts';
import { dialects } from '../../../lambda/domain/usage/dialect.ts';
import { addUsage, type Usage } from '../../../lambda/domain/usage/usage.ts';
import { normalizeUsage, reading } from './metered-usage.ts';

const counts = fc.oneof(
  fc.nat(100_000),
  fc.constantFrom(null, -5, 1e300, Number.NaN, Number.POSITIVE_INFINITY, 2.5, '12', 'many', true, [], {}),
);

const details = fc.dictionary(
  fc.constantFrom(
    'cached_tokens',
    'audio_tokens',
    'image_tokens',
    'reasoning_tokens',
    'cache_write_tokens',
    'thinking_tokens',
  ),
  counts,
);

const modalities = fc.array(
  fc.record({ modality: fc.constantFrom('TEXT', 'image', 'AUDIO', 'VIDEO', 7), tokenCount: counts, tokens: counts }),
);

/** Usage objects of every shape and of none, with lies among the numbers. */
const usages = fc.dictionary(
  fc.constantFrom(
    ...['prompt_tokens', 'completion_tokens', 'total_tokens', 'input_tokens', 'output_tokens', 'cached_tokens'],
    ...[
      'cache_read_input_tokens',
      'cache_creation_input_tokens',
      'reasoning_tokens',
      'prompt_audio_seconds',
      'seconds',
    ],
    ...['promptTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount', 'totalTokenCount', 'cachedContentTokenCount'],
    ...[
      'toolUsePromptTokenCount',
      'total_input_tokens',
      'total_output_tokens',
      'total_thought_tokens',
      'pages_processed',
    ],
    ...['prompt_tokens_details', 'completion_tokens_details', 'input_tokens_details', 'output_tokens_details'],
    ...['promptTokensDetails', 'candidatesTokensDetails', 'cacheTokensDetails', 'billed_units', 'tokens', 'iterations'],
    ...['cost', 'cost_in_usd_ticks', 'cost_details', 'is_byok', 'server_tool_use', 'cache_creation', '__proto__'],
  ),
  fc.oneof(counts, details, modalities, fc.array(details), fc.jsonValue()),
);

const parts: readonly (readonly [whole: keyof Usage, parts: readonly (keyof Usage)[]])[] = [
  ['inputTokens', ['cacheReadTokens', 'cacheWriteTokens']],
  ['inputTokens', ['inputAudioTokens', 'inputImageTokens', 'inputVideoTokens']],
  ['outputTokens', ['outputAudioTokens', 'outputImageTokens', 'outputVideoTokens']],
  ['outputTokens', ['reasoningTokens']],
  ['cacheWriteTokens', ['cacheWrite1hTokens', 'cacheWrite12hTokens']],
  ['cacheReadTokens', ['cacheReadAudioTokens', 'cacheReadImageTokens']],
  ['inputAudioTokens', ['cacheReadAudioTokens']],
  ['inputImageTokens', ['cacheReadImageTokens']],
];

const readings = fc.record({
  provider: fc.constantFrom(...providerLabels),
  dialect: fc.constantFrom(...dialects),
  usage: usages,
});

describe('any usage object', () => {
  it('gives whole, non-negative counts, parts within their wholes, and no exception', () => {
    fc.assert(
      fc.property(readings, ({ provider, dialect, usage }) => {
        const normal = normalizeUsage(provider, reading({ dialect, usage }));
        if (!normal) return;
        const { units, providerCostNanoUsd, billedInputTokens, billedOutputTokens, ...tokens } = normal;
        for (const count of [
          ...Object.values(tokens),
          providerCostNanoUsd ?? 0,
          billedInputTokens ?? 0,
          billedOutputTokens ?? 0,
        ]) {
          expect(Number.isSafeInteger(count)).toBe(true);
          expect(count).toBeGreaterThanOrEqual(0);
        }
        for (const quantity of Object.values(units)) expect(quantity).toBeGreaterThan(0);
        for (const [whole, names] of parts) {
          const sum = names.reduce((total, name) => total + (normal[name] as number), 0);
          expect(sum).toBeLessThanOrEqual(normal[whole] as number);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('is read the same from JSON text and back', () => {
    fc.assert(
      fc.property(readings, ({ provider, dialect, usage }) => {
        const again = JSON.parse(JSON.stringify(usage));
        const fromJson = normalizeUsage(provider, reading({ dialect, usage: again }));
        const twice = normalizeUsage(provider, reading({ dialect, usage: JSON.parse(JSON.stringify(again)) }));
        expect(twice).toEqual(fromJson);
      }),
    );
  });
});

describe('addUsage', () => {
  const honest = fc.record({
    prompt_tokens: fc.nat(9999),
    completion_tokens: fc.nat(9999),
    d: fc.record({ cached: fc.nat(99) }),
  });

  it('adds in any order', () => {
    fc.assert(
      fc.property(honest, honest, honest, (a, b, c) => {
        expect(addUsage(addUsage(addUsage(null, a), b), c)).toEqual(addUsage(addUsage(a, c), b));
      }),
    );
  });
});
