import { describe, expect, it } from '@jest/globals';
import { billingStateOf, UnknownPriceError } from '../../../lambda/domain/billing/billing-state.ts';
import { differs, paidSubscriptions, type RecordedBilling } from '../../../lambda/domain/billing/reconciliation.ts';
import type { Subscription } from '../../../lambda/domain/billing/subscription.ts';
import { prices, subscription } from './subscriptions.ts';

/** An account as it is right after it was brought in line. */
const recordedOf = (...subscriptions: Subscription[]): RecordedBilling => {
  const { isSuspended, ...state } = billingStateOf(subscriptions, prices);
  return { ...state, status: isSuspended ? 'suspended' : 'active' };
};

const paid = recordedOf(subscription({}));
const free = recordedOf();
const live = [subscription({})];

describe('a difference between an account and its subscriptions', () => {
  it.each(['active', 'trialing', 'past_due', 'unpaid', 'paused', 'incomplete'] as const)(
    'is none where it was brought in line: %s',
    (status) => {
      const all = [subscription({ status })];
      expect(differs(recordedOf(...all), all, prices)).toBe(false);
    },
  );

  it('ignores subscriptions that are over', () => {
    expect(differs(recordedOf(subscription({ status: 'canceled' })), [], prices)).toBe(false);
    expect(differs(free, [], prices)).toBe(false);
  });

  it.each<[string, RecordedBilling, readonly Subscription[]]>([
    ['a plan that is not paid for any more', paid, []],
    ['a purchase that never arrived', free, live],
    ['another plan', { ...paid, plan: 'SCALE' }, live],
    ['another status', { ...paid, billingStatus: 'PAST_DUE' }, live],
    ['a suspension that is over', { ...paid, status: 'suspended' }, live],
    ['a suspension that is missing', { ...paid, billingStatus: 'UNPAID' }, [subscription({ status: 'unpaid' })]],
    ['a suspension of what is FREE', { ...free, status: 'suspended' }, []],
    ['a status of what is no more', { ...free, billingStatus: 'PAST_DUE' }, []],
    ['another subscription', paid, [subscription({ id: 'sub_2' })]],
    [
      'a renewal',
      {
        ...paid,
        subscription: { id: 'sub_1', periodStart: '2026-10-05T10:00:00.000Z', periodEnd: '2026-11-05T10:00:00.000Z' },
      },
      live,
    ],
  ])('is %s', (_, recorded, subscriptions) => {
    expect(differs(recorded, subscriptions, prices)).toBe(true);
  });

  it('does not count a cancelled or held account', () => {
    expect(differs({ ...paid, status: 'cancelled' }, live, prices)).toBe(false);
    expect(differs({ ...paid, status: 'suspended', heldAt: '2026-11-20T00:00:00.000Z' }, live, prices)).toBe(false);
  });

  it('is not possible with an unknown price', () => {
    expect(() => differs(paid, [subscription({ price: 'price_other' })], prices)).toThrow(UnknownPriceError);
  });

  it('counts subscriptions that pay for a plan', () => {
    const all = [
      subscription({}),
      subscription({ id: 'b', price: 'price_other' }),
      subscription({ id: 'c', price: 'price_scale' }),
    ];
    expect(paidSubscriptions(all, prices)).toBe(2);
  });
});
