import { describe, expect, it } from '@jest/globals';
import { providerLabels } from '../../lambda/domain/providers.ts';
import { compareProvider } from '../../ops/prices/compare.ts';

describe('the two price books', () => {
  it('have no unresolved disagreement, and cover every provider', () => {
    const at = new Date('2026-11-20T12:00:00Z');
    for (const provider of providerLabels) {
      const { disagreements, genaiPrices, aiModelPrices } = compareProvider(provider, at);
      expect(disagreements.filter(({ resolvedBy }) => resolvedBy === null)).toEqual([]);
      expect(genaiPrices + aiModelPrices).toBeGreaterThan(0);
    }
  });
});
