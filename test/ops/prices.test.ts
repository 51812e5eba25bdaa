import { describe, expect, it } from '@jest/globals';
import { providerLabels, providers } from '../../lambda/domain/providers.ts';
import { compareProvider } from '../../ops/prices/compare.ts';

describe('the two price books', () => {
  const at = new Date('2026-11-20T12:00:00Z');

  it.each(providerLabels)('have no unresolved disagreement about %s', (provider) => {
    const { disagreements } = compareProvider(provider, at);
    expect(disagreements.filter(({ resolvedBy }) => resolvedBy === null)).toEqual([]);
  });

  it.each(providers)('have prices of $label', ({ label, priceIds }) => {
    const { genaiPrices, aiModelPrices } = compareProvider(label, at);
    // Neither has: see priceIds in lambda/domain/providers.ts, then run `npm run prices -- --snapshot`.
    expect({ ...priceIds, models: genaiPrices + aiModelPrices > 0 ? 'priced' : 'none priced' }).toMatchObject({
      models: 'priced',
    });
  });
});
