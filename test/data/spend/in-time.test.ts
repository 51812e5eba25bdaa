import { describe, expect, it } from '@jest/globals';
import { inTime } from '../../../lambda/data/spend/spend.ts';
import { UnavailableError } from '../../../lambda/domain/errors.ts';
import type { SpendCounter } from '../../../lambda/domain/spend/counters.ts';

const spendCounter: SpendCounter = {
  time: '2026-11-20T16',
  dimensions: { provider: 'openai', model: 'm', tag: null, keyId: null, providerKey: null },
  counters: { requests: 1 },
};

/** A reading of so many spend counters, each of which takes so long. `seen` has how many were read, and whether the reading was closed. */
const reading = (spendCounters: number, msEach: number) => {
  const seen = { spendCounters: 0, ended: false };
  let ms = 0;
  const read = async function* () {
    try {
      for (let n = 0; n < spendCounters; n++) {
        ms += msEach;
        yield spendCounter;
      }
    } finally {
      seen.ended = true;
    }
  };
  const all = async (limit = Number.POSITIVE_INFINITY) => {
    for await (const _ of inTime(read(), () => ms)) if (++seen.spendCounters >= limit) break;
  };
  return { seen, all };
};

describe('reading with a time limit', () => {
  it('returns every spend counter where there is time', async () => {
    const { seen, all } = reading(10_000, 2);
    await all();
    expect(seen).toEqual({ spendCounters: 10_000, ended: true });
  });

  it('rejects with advice for the user, well before API Gateway times out', async () => {
    const { seen, all } = reading(10_000, 5);
    await expect(all()).rejects.toThrow(UnavailableError);
    await expect(reading(10_000, 5).all()).rejects.toThrow('a shorter range, days instead of hours');
    expect(seen.spendCounters * 5).toBeGreaterThan(20_000);
    expect(seen.spendCounters * 5).toBeLessThan(25_000);
  });

  it('closes the reading when its reader stops early', async () => {
    const { seen, all } = reading(10_000, 2);
    await all(3);
    expect(seen).toEqual({ spendCounters: 3, ended: true });
  });
});
