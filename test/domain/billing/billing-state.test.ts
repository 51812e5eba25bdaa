import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  billingStateOf,
  differs,
  paidSubscriptions,
  type RecordedBilling,
  UnknownPriceError,
} from '../../../lambda/domain/billing/billing-state.ts';
import { type Subscription, subscriptionStatuses } from '../../../lambda/domain/billing/subscription.ts';
import { prices, subscription } from './subscriptions.ts';

const stateOf = (...subscriptions: Subscription[]) => {
  const { plan, billingStatus, isSuspended, subscription: paying } = billingStateOf(subscriptions, prices);
  return [plan, billingStatus, isSuspended, paying?.id ?? null];
};

describe('the billing state of an account', () => {
  it('without subscriptions is FREE', () => {
    expect(stateOf()).toEqual(['FREE', 'ACTIVE', false, null]);
  });

  it.each([
    ['active', ['PRO', 'ACTIVE', false, 'sub_1']],
    ['trialing', ['PRO', 'TRIALING', false, 'sub_1']],
    ['past_due', ['PRO', 'PAST_DUE', false, 'sub_1']],
    ['unpaid', ['PRO', 'UNPAID', true, 'sub_1']],
    ['paused', ['FREE', 'PAUSED', false, null]],
    ['incomplete', ['FREE', 'INCOMPLETE', false, null]],
    ['incomplete_expired', ['FREE', 'ACTIVE', false, null]],
    ['canceled', ['FREE', 'CANCELED', false, null]],
  ] as const)('with a subscription that is %s', (status, expected) => {
    expect(stateOf(subscription({ status }))).toEqual(expected);
  });

  it('has the period of the item that is for the plan', () => {
    const other = {
      id: 'si_2',
      priceId: 'price_support',
      periodStart: '2026-01-01T00:00:00Z',
      periodEnd: '2027-01-01T00:00:00Z',
    };
    const mixed = subscription({});
    expect(billingStateOf([{ ...mixed, items: [other, ...mixed.items] }], prices).subscription).toEqual({
      id: 'sub_1',
      periodStart: '2026-11-05T10:00:00.000Z',
      periodEnd: '2026-12-05T10:00:00.000Z',
    });
  });

  it.each([
    [
      'the better state',
      [subscription({ id: 'a', status: 'unpaid', price: 'price_scale' }), subscription({ id: 'b' })],
      ['PRO', 'ACTIVE', false, 'b'],
    ],
    [
      'the larger plan',
      [subscription({ id: 'a' }), subscription({ id: 'b', price: 'price_scale' })],
      ['SCALE', 'ACTIVE', false, 'b'],
    ],
    [
      'the newer',
      [
        subscription({ id: 'a', createdAt: '2026-11-02T00:00:00.000Z' }),
        subscription({ id: 'b', createdAt: '2026-11-03T00:00:00.000Z' }),
      ],
      ['PRO', 'ACTIVE', false, 'b'],
    ],
    [
      'what is not over',
      [
        subscription({ id: 'a', status: 'canceled', price: 'price_scale' }),
        subscription({ id: 'b', status: 'past_due' }),
      ],
      ['PRO', 'PAST_DUE', false, 'b'],
    ],
    [
      'the known price',
      [subscription({ id: 'a', price: 'price_other' }), subscription({ id: 'b', price: 'price_starter_old' })],
      ['STARTER', 'ACTIVE', false, 'b'],
    ],
  ] as const)('of several follows %s', (_, subscriptions, expected) => {
    expect(stateOf(...subscriptions)).toEqual(expected);
    expect(stateOf(...subscriptions.toReversed())).toEqual(expected);
  });

  it('is unknown when all prices are unknown, unless their subscriptions are over', () => {
    expect(() => stateOf(subscription({ price: 'price_other' }))).toThrow(UnknownPriceError);
    expect(() => stateOf(subscription({ price: 'price_other' }))).toThrow('sub_1: price_other');
    expect(stateOf(subscription({ price: 'price_other', status: 'canceled' }))).toEqual([
      'FREE',
      'CANCELED',
      false,
      null,
    ]);
  });

  it('does not depend on the order of subscriptions', () => {
    const any = fc
      .uniqueArray(
        fc.record({
          id: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
          status: fc.constantFrom(...subscriptionStatuses),
          price: fc.constantFrom('price_starter', 'price_pro', 'price_scale'),
          createdAt: fc.constantFrom('2026-11-01T00:00:00.000Z', '2026-11-02T00:00:00.000Z'),
        }),
        { selector: ({ id }) => id },
      )
      .map((all) => all.map(subscription));
    fc.assert(
      fc.property(
        any.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
        ([all, shuffled]) => {
          expect(billingStateOf(shuffled, prices)).toEqual(billingStateOf(all, prices));
          const { plan, isSuspended, subscription: paying, billingStatus } = billingStateOf(all, prices);
          expect(paying === null).toBe(plan === 'FREE');
          expect(isSuspended).toBe(billingStatus === 'UNPAID');
        },
      ),
    );
  });
});

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
    ['a status of no subscription where there is one', { ...paid, billingStatus: 'CANCELED' }, live],
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
      ...(['paused', 'incomplete', 'incomplete_expired', 'canceled'] as const).map((status) =>
        subscription({ id: status, status }),
      ),
    ];
    expect(paidSubscriptions(all, prices)).toBe(2);
  });
});
