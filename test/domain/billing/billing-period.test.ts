import { describe, expect, it } from '@jest/globals';
import { billingPeriod } from '../../../lambda/domain/billing/subscription.ts';

describe('the billing period', () => {
  it.each([
    ['2026-11-20T16:30:00Z', '2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z'],
    ['2026-12-31T23:59:59.999Z', '2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
    ['2027-01-01T00:00:00Z', '2027-01-01T00:00:00.000Z', '2027-02-01T00:00:00.000Z'],
  ])('of FREE at %s is the calendar month, UTC', (now, start, end) => {
    expect(billingPeriod(null, new Date(now))).toEqual({ start, end });
  });

  it("of a paid plan is the subscription's at any time", () => {
    const subscription = { periodStart: '2026-10-17T14:23:00.000Z', periodEnd: '2026-11-17T14:23:00.000Z' };
    expect(billingPeriod(subscription, new Date('2026-11-20T00:00:00Z'))).toEqual({
      start: '2026-10-17T14:23:00.000Z',
      end: '2026-11-17T14:23:00.000Z',
    });
  });
});
