import { describe, expect, it } from '@jest/globals';
import { fuzz } from '../../ops/meter/fuzz.ts';
import { seedRecordings } from '../../ops/meter/recording.ts';
import { replay } from '../../ops/meter/replay.ts';
import { SEED, withSeed } from '../seed.ts';

describe('meter and pricing', () => {
  it('survive 4,000 damaged bodies, with a price that holds to the rules', async () => {
    const counts = await withSeed(() => fuzz(seedRecordings, 4000, SEED));
    expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(4000);
    expect(counts.unknown).toBeGreaterThan(0);
    expect(counts.computed).toBeGreaterThan(0);
  });

  it('give the same reading wherever a body is cut', async () => {
    const at = '2026-11-20T00:00:00.000Z';
    for (const recording of seedRecordings) {
      const [first, ...others] = await Promise.all([1, 2, 3, 4, 5].map((seed) => replay(recording, seed, at)));
      for (const other of others) expect(other).toEqual(first);
    }
  });
});
