import { describe, expect, it } from '@jest/globals';
import { readInTime } from '../../../lambda/data/spend/read-in-time.ts';
import { UnavailableError } from '../../../lambda/domain/errors.ts';
import type { ReadCounters, ReportCounter } from '../../../lambda/domain/spend/spend-report.ts';

const cell: ReportCounter = {
  time: '2026-11-20T16',
  dimensions: { provider: 'openai', model: 'm', tag: null, keyId: null, providerKey: null },
  counters: { requests: 1 },
};
const range = { granularity: 'hour', from: '2026-11-20T00:00:00.000Z', to: '2026-11-21T00:00:00.000Z' } as const;

/** Reads so many cells, each of which takes so long, and says how many of them were taken and whether it was ended. */
const reading = (cells: number, msEach: number) => {
  const seen = { cells: 0, ended: false };
  let ms = 0;
  const read: ReadCounters = async function* () {
    try {
      for (let n = 0; n < cells; n++) {
        ms += msEach;
        yield cell;
      }
    } finally {
      seen.ended = true;
    }
  };
  const all = async (limit = Number.POSITIVE_INFINITY) => {
    for await (const _ of readInTime(read, () => ms)('svc_a', range, [])) if (++seen.cells >= limit) break;
  };
  return { seen, all };
};

describe('reading for somebody who waits', () => {
  it('gives every cell where there is time', async () => {
    const { seen, all } = reading(10_000, 2);
    await all();
    expect(seen).toEqual({ cells: 10_000, ended: true });
  });

  it('ends with an error that says what to ask for instead, well before API Gateway gives up', async () => {
    const { seen, all } = reading(10_000, 5);
    await expect(all()).rejects.toThrow(UnavailableError);
    await expect(reading(10_000, 5).all()).rejects.toThrow('a shorter range, days instead of hours');
    expect(seen.cells * 5).toBeGreaterThan(20_000);
    expect(seen.cells * 5).toBeLessThan(25_000);
  });

  it('ends the reading where its reader stops early', async () => {
    const { seen, all } = reading(10_000, 2);
    await all(3);
    expect(seen).toEqual({ cells: 3, ended: true });
  });
});
