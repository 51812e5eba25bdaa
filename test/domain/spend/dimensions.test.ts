import { describe, expect, it } from '@jest/globals';
import { levelFor, MAX_OVERFLOW_LEVEL, OTHER, overflowDimensions } from '../../../lambda/domain/spend/dimensions.ts';

const dimensions = { provider: 'openai', model: 'm', tag: 't', keyId: 'k', providerKey: 'p' };

describe('overflowDimensions', () => {
  it('replaces tags first, then provider keys, models and keys, and never providers', () => {
    const levels = Array.from({ length: MAX_OVERFLOW_LEVEL + 1 }, (_, level) => overflowDimensions(dimensions, level));
    expect(levels).toEqual([
      dimensions,
      { ...dimensions, tag: OTHER },
      { ...dimensions, tag: OTHER, providerKey: OTHER },
      { ...dimensions, tag: OTHER, providerKey: OTHER, model: OTHER },
      { provider: 'openai', model: OTHER, tag: OTHER, keyId: OTHER, providerKey: OTHER },
    ]);
  });
});

describe('levelFor', () => {
  it.each([
    [999, 0],
    [1_000, 1],
    [1_249, 1],
    [1_250, 2],
    [1_499, 2],
    [1_500, 3],
    [1_749, 3],
    [1_750, 4],
    [1_000_000, 4],
  ])('gives new dimensions to an account with %d slots at level %d', (slots, level) => {
    expect(levelFor(dimensions, slots, () => false)).toBe(level);
  });

  it('keeps dimensions that have a slot, at the lowest level that has one', () => {
    expect(levelFor(dimensions, 1_000_000, () => true)).toBe(0);
    expect(levelFor(dimensions, 1_000_000, ({ tag, model }) => tag === OTHER && model === 'm')).toBe(1);
  });
});
