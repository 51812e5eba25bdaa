import { describe, expect, it } from '@jest/globals';
import type { PricedUsage } from '../../lambda/domain/usage/usage.ts';
import { plausible, recordOfClose } from '../../lambda/usage-recorder/build-record.ts';
import { closeEvent, priceOfTokens, recordOf } from './events.ts';

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
    ['a list cost above the highest', priced({}, { listCostNanoUsd: MOST + 1 })],
    ['a fraction of a nano-USD', priced({}, { costNanoUsd: 0.5 })],
    ['more than the most of a unit', priced({ units: { audioSeconds: MOST / 1_000 + 1 } })],
    ['less than nothing of a unit', priced({ units: { audioSeconds: -0.001 } })],
    ['a provenance that does not exist', priced({}, { provenance: 'guessed' as PricedUsage['provenance'] })],
  ])('makes a price with %s unknown', (_, price) => {
    expect(plausible(price)).toMatchObject({ usage: null, costNanoUsd: null, provenance: 'unknown', lines: [] });
  });
});

describe('a record', () => {
  it.each([
    ['google', 'models/gemini-2.5-pro', 'gemini-2.5-pro'],
    ['vertex', 'projects/p/locations/global/publishers/google/models/gemini-2.5-pro', 'gemini-2.5-pro'],
    ['vertex', 'publishers/google/models/gemini-2.5-pro', 'gemini-2.5-pro'],
    ['openrouter', 'google/gemini-2.5-pro', 'google/gemini-2.5-pro'],
    ['google', 'tunedModels/mine', 'tunedModels/mine'],
    ['vertex', 'google/gemini-2.5-pro', 'google/gemini-2.5-pro'],
    ['own-gpu', 'models/llama', 'models/llama'],
    ['fireworks', 'accounts/fireworks/models/glm-5', 'accounts/fireworks/models/glm-5'],
  ] as const)('of %s names %s without the path that only some calls have: %s', (provider, model, expected) => {
    const event = closeEvent();
    const reading = { ...event.reading, modelRequested: model, modelServed: model };
    expect(recordOf({ ...event, provider, reading }).reading).toMatchObject({
      modelRequested: expected,
      modelServed: expected,
    });
  });

  it('has what limits reserved, but for limits of each, and how long a provider took', () => {
    const reservation = { periodId: 'monthly#2026-11-01', minute: 1, unknownNanoUsd: 0 };
    const reservations = [
      { ...reservation, budgetId: 'b1', nanoUsd: 5 },
      { ...reservation, budgetId: 'b2', nanoUsd: 7, value: 'ada' },
    ];
    const recorded = (facts: object) => {
      const event = { ...closeEvent(), ...facts } as Parameters<typeof recordOfClose>[0];
      const context = { revision: 1, overflowLevel: 0, recordedAt: event.startedAt, expiresAt: 1 };
      return recordOfClose(event, priced({}), null, context);
    };
    expect(recorded({ reservations }).reservations).toEqual([{ budgetId: 'b1', nanoUsd: 5 }]);
    expect(recorded({ reservations: reservations.slice(1) })).not.toHaveProperty('reservations');
    expect(recorded({})).not.toHaveProperty('reservations');
    expect(recorded({})).toHaveProperty('durationBucket');
    expect(recorded({ outcome: 'refused' })).not.toHaveProperty('durationBucket');
  });
});
