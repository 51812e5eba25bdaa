import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { allocationContributionsOf, contributionOf } from '../../../lambda/domain/spend/contribution.ts';
import { addCounters, type Counters } from '../../../lambda/domain/spend/counters.ts';
import { durationBucketOf, durationCounterName, latencyOf } from '../../../lambda/domain/spend/durations.ts';
import { recordOf } from '../../usage-recorder/events.ts';

const HOUR_MS = 3_600_000;
const countersOf = (durationsMs: readonly number[]): Counters =>
  durationsMs
    .map((ms): Counters => ({ [durationCounterName(durationBucketOf(ms))]: 1 }))
    .reduce<Counters>(addCounters, { requests: durationsMs.length });

describe('latencyOf', () => {
  it('is within a tenth of the percentiles by nearest rank, from a millisecond to an hour', () => {
    // Even powers: most doubles from 0 to 22 are next to 0.
    const duration = fc.nat(22_000).map((thousandths) => Math.min(HOUR_MS, 2 ** (thousandths / 1_000)));
    fc.assert(
      fc.property(fc.array(duration, { minLength: 1, maxLength: 200 }), (durations) => {
        const sorted = durations.toSorted((left, right) => left - right);
        const { p50Ms = 0, p95Ms = 0, requests } = latencyOf(countersOf(durations)) ?? {};
        expect(requests).toBe(durations.length);
        for (const [percent, ms] of [
          [50, p50Ms],
          [95, p95Ms],
        ] as const) {
          const truth = sorted[Math.ceil((durations.length * percent) / 100) - 1] ?? 0;
          // Rounded to a millisecond.
          expect(Math.abs(ms - truth)).toBeLessThanOrEqual(truth / 10 + 0.5);
        }
      }),
    );
  });

  it('is not known of sums without durations', () => {
    expect(latencyOf({})).toBeNull();
    expect(latencyOf({ requests: 3, unfinishedRequests: 3 })).toBeNull();
  });

  it('says of how many requests it is known', () => {
    expect(latencyOf(addCounters(countersOf([100, 100, 100]), { requests: 7 }))).toMatchObject({ requests: 3 });
  });

  it('has an hour for all that takes longer, and a millisecond for all that is shorter', () => {
    expect(durationBucketOf(1e12)).toBe(durationBucketOf(HOUR_MS));
    expect(durationBucketOf(0)).toBe(durationBucketOf(1));
  });
});

describe('a record', () => {
  const durationsOf = (counters: Counters) => Object.keys(counters).filter((name) => name.startsWith('ms.'));

  it('counts its duration by combination and by allocation dimension', () => {
    const record = { ...recordOf({ totalMs: 900 }), allocations: { client: { value: null, level: 0, kept: [] } } };
    expect(contributionOf(record).counters).toMatchObject({ requests: 1, 'ms.34': 1 });
    expect(allocationContributionsOf(record)[0]?.counters).toMatchObject({ requests: 1, 'ms.34': 1 });
  });

  it('counts no duration if the gateway did not forward the request', () => {
    expect(durationsOf(contributionOf(recordOf({ outcome: 'refused', status: null })).counters)).toEqual([]);
  });

  it('counts no duration if it is of a version that did not: its counters have none', () => {
    const { durationBucket: _, ...older } = recordOf({ totalMs: 900 });
    expect(durationsOf(contributionOf(older).counters)).toEqual([]);
  });
});
