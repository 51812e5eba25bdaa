import { describe, expect, it } from '@jest/globals';
import type { PricedUsage } from '../../lambda/domain/usage/usage.ts';
import { plausible } from '../../lambda/usage-recorder/build-record.ts';
import { closeEvent, priceOfTokens } from './events.ts';

/** The most that one request may add to a counter. */
const MOST = 9e13;
const priced = (usage: object, more: Partial<PricedUsage> = {}): PricedUsage => {
  const price = priceOfTokens(closeEvent({ tokens: 1 }));
  return { ...price, usage: { ...price.usage, units: {}, ...usage } as PricedUsage['usage'], ...more };
};

describe('plausible', () => {
  it.each([
    ['no usage', priced({}, { usage: null })],
    ['no cost', priced({}, { costNanoUsd: null, provenance: 'unknown' })],
    ['a cost of 0', priced({}, { costNanoUsd: 0 })],
    ['no token', priced({ inputTokens: 0 })],
    ['the most tokens', priced({ outputTokens: MOST })],
    ['the highest cost', priced({}, { costNanoUsd: MOST })],
    ['the most of a unit, which is counted in thousandths', priced({ units: { audioSeconds: MOST / 1_000 } })],
    ['a fraction of a unit', priced({ units: { audioSeconds: 0.5 } })],
  ])('keeps a price with %s', (_, price) => {
    expect(plausible(price)).toBe(price);
  });

  it.each([
    ['more than the most tokens', priced({ outputTokens: MOST + 1 })],
    ['a fraction of a token', priced({ inputTokens: 0.5 })],
    ['fewer than no tokens', priced({ inputTokens: -1 })],
    ['a cost above the highest', priced({}, { costNanoUsd: MOST + 1 })],
    ['a negative cost', priced({}, { costNanoUsd: -1 })],
    ['a fraction of a nano-USD', priced({}, { costNanoUsd: 0.5 })],
    ['more than the most of a unit', priced({ units: { audioSeconds: MOST / 1_000 + 1 } })],
    ['less than nothing of a unit', priced({ units: { audioSeconds: -0.001 } })],
    ['a provenance that does not exist', priced({}, { provenance: 'guessed' as PricedUsage['provenance'] })],
  ])('makes a price with %s unknown', (_, price) => {
    expect(plausible(price)).toMatchObject({ usage: null, costNanoUsd: null, provenance: 'unknown', lines: [] });
  });
});
