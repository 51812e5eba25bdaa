import { describe, expect, it } from '@jest/globals';
import { trackingGaps } from '../../../lambda/domain/spend/tracking-gaps.ts';

const report = (from: string, to: string, requests: number) => ({
  from: `2026-11-20T${from}.000Z`,
  to: `2026-11-20T${to}.000Z`,
  requests,
});

describe('trackingGaps', () => {
  it('is empty without reports', () => {
    expect(trackingGaps([])).toEqual({ requests: 0, gaps: [] });
  });

  it('merges reports that are a minute apart or less, and keeps others separate', () => {
    const reports = [report('10:00:00', '10:05:00', 1), report('10:06:00', '10:07:00', 2)];
    expect(trackingGaps(reports)).toEqual({ requests: 3, gaps: [report('10:00:00', '10:07:00', 3)] });
    const apart = [report('10:00:00', '10:05:00', 1), report('10:06:01', '10:07:00', 2)];
    expect(trackingGaps(apart)).toEqual({ requests: 3, gaps: apart });
  });

  it('sorts reports by their begin, and does not change them', () => {
    const reports = [
      report('12:00:00', '12:01:00', 4),
      report('10:00:00', '10:01:00', 1),
      report('11:00:00', '11:01:00', 2),
    ];
    const before = structuredClone(reports);
    expect(trackingGaps(reports).gaps.map(({ requests }) => requests)).toEqual([1, 2, 4]);
    expect(reports).toEqual(before);
  });

  it('ends a gap with the report that ends last, not with the last report', () => {
    const reports = [report('10:00:00', '10:30:00', 1), report('10:10:00', '10:20:00', 2)];
    expect(trackingGaps(reports).gaps).toEqual([report('10:00:00', '10:30:00', 3)]);
    expect(reports[0]?.requests).toBe(1);
  });
});
