import { describe, expect, it } from '@jest/globals';
import {
  maxOverflowLevel,
  OTHER,
  overflowDimensions,
  overflowOf,
  type SlotClaim,
  type SlotState,
  withoutOther,
} from '../../../lambda/domain/spend/dimensions.ts';

const dimensions = { provider: 'openai', model: 'm', tag: 't', keyId: 'k', providerKey: 'p' };

describe('overflowDimensions', () => {
  it('replaces tags first, then provider keys, models and keys, and never providers', () => {
    const levels = Array.from({ length: maxOverflowLevel() + 1 }, (_, level) => overflowDimensions(dimensions, level));
    expect(levels).toEqual([
      dimensions,
      { ...dimensions, tag: OTHER },
      { ...dimensions, tag: OTHER, providerKey: OTHER },
      { ...dimensions, tag: OTHER, providerKey: OTHER, model: OTHER },
      { provider: 'openai', model: OTHER, tag: OTHER, keyId: OTHER, providerKey: OTHER },
    ]);
  });
});

describe('overflowOf', () => {
  const claim: SlotClaim = { dimensions, mayCost: true, isRecent: false, kept: [] };
  const slots: SlotState = { size: 0, awaited: 0, has: () => false };
  const levelOf = (some: Partial<SlotClaim>, state: Partial<SlotState>) =>
    overflowOf({ ...claim, ...some }, { ...slots, ...state }).level;

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
  ])('gives new dimensions to an account with %d slots at level %d', (size, level) => {
    expect(levelOf({}, { size })).toBe(level);
  });

  it('keeps dimensions that have a slot, at the lowest level that has one', () => {
    const size = 1_000_000;
    expect(levelOf({}, { size, has: () => true })).toBe(0);
    expect(levelOf({}, { size, has: ({ tag, model }) => tag === OTHER && model === 'm' })).toBe(1);
  });

  it('lets requests without a cost take the first 250 slots, and after that only share', () => {
    expect(levelOf({ mayCost: false }, { size: 249 })).toBe(0);
    expect(levelOf({ mayCost: false }, { size: 250 })).toBe(4);
    expect(levelOf({ mayCost: false }, { size: 250, has: () => true })).toBe(0);
    expect(levelOf({ mayCost: false }, { size: 250, has: ({ tag, model }) => tag === OTHER && model === 'm' })).toBe(1);
  });

  it('leaves slots to the combinations of recent days, 500 at most', () => {
    expect(levelOf({}, { size: 899, awaited: 100 })).toBe(0);
    expect(levelOf({}, { size: 900, awaited: 100 })).toBe(1);
    expect(levelOf({}, { size: 1_649, awaited: 100 })).toBe(3);
    expect(levelOf({}, { size: 1_650, awaited: 100 })).toBe(4);
    expect(levelOf({}, { size: 499, awaited: 10_000 })).toBe(0);
    expect(levelOf({ isRecent: true }, { size: 1_749, awaited: 100 })).toBe(0);
    expect(levelOf({ isRecent: true }, { size: 1_750, awaited: 100 })).toBe(4);
  });

  it('keeps names of alert rules at every level', () => {
    const has = () => false;
    expect(overflowOf({ ...claim, kept: ['tag'] }, { ...slots, size: 1_300, has })).toEqual({
      level: 2,
      kept: ['tag'],
    });
    const last = overflowOf(
      { ...claim, mayCost: false, kept: ['provider', 'tag', 'model'] },
      { ...slots, size: 9_999 },
    );
    expect(last).toEqual({ level: 4, kept: ['tag', 'model'] });
    expect(overflowDimensions(dimensions, last.level, last.kept)).toEqual({
      ...dimensions,
      providerKey: OTHER,
      keyId: OTHER,
    });
    // With its tag kept, nothing of it overflows at level 1.
    expect(overflowOf({ ...claim, kept: ['tag'] }, { ...slots, size: 1_100 })).toEqual({ level: 0, kept: [] });
  });
});

describe('withoutOther', () => {
  it('marks what reads like the overflow, and keeps different names different', () => {
    expect(['(other)', '\\(other)', '(others)', 'a', '', null].map(withoutOther)).toEqual([
      '\\(other)',
      '\\\\(other)',
      '(others)',
      'a',
      '',
      null,
    ]);
  });
});
