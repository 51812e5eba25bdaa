import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type BillingAccount, openBillingAccounts } from '../../../lambda/data/billing/billing-accounts.ts';
import { update } from '../../../lambda/data/table/actions.ts';
import { chunk } from '../../../lambda/data/table/batch.ts';
import { accountKey, serviceKeyKey, stripeEventKey } from '../../../lambda/data/table/keys.ts';
import { findItem } from '../../../lambda/data/table/read.ts';
import { write } from '../../../lambda/data/table/write.ts';
import { secretHash } from '../../../lambda/domain/accounts/issued-secret.ts';
import { newAccount } from '../../data/new-account.ts';
import { tableForTests } from '../../table-for-tests.ts';
import { type BillingHost, billingHost } from './billing-host.ts';
import { moveClock, open, press } from './browser.ts';

const table = tableForTests();
let host: BillingHost;
beforeAll(async () => {
  host = await billingHost(table, { delivers: false });
});
afterAll(() => host.stop());

/** The steps of the story in Stripe. Each one produces events that are not delivered yet. */
const stepsOf = (account: { readonly accountId: string; readonly userId: string }) => {
  const me = host.as(account);
  const portal = async () => open((await me.portal()).body.url);
  const customer = async () => (await openBillingAccounts(table).find(account.accountId))?.stripeCustomerId ?? '';
  return {
    buys: async () => press(await open((await me.checkout('PRO')).body.url), 'Pay and subscribe'),
    changes: async () => press(await open((await me.checkout('SCALE')).body.url), 'Confirm'),
    failsToPay: async () => {
      await press(await portal(), 'Save card', { card: '4000000000000341' });
      await moveClock(host.localStripe, 32);
    },
    isGivenUp: () => moveClock(host.localStripe, 20),
    pays: async () => {
      await press(await portal(), 'Save card', { card: '4242424242424242' });
      await press(await portal(), 'Pay $999.00');
    },
    pauses: async () => press(await portal(), 'Pause'),
    resumes: async () => press(await portal(), 'Resume'),
    cancels: async () => press(await portal(), 'Cancel at once'),
    isDeleted: async () => host.api.customers.del(await customer()),
  };
};
type Step = keyof ReturnType<typeof stepsOf>;

type Account = Pick<Awaited<ReturnType<typeof newAccount>>, 'accountId' | 'accountKey'>;

/** The account item without its revision, and the key item that the gateway reads. */
const stateOf = async ({ accountId, accountKey: key }: Account) => {
  const { billingRevision: _, ...state } = (await openBillingAccounts(table).find(accountId)) as BillingAccount;
  const copy = await findItem(table, serviceKeyKey(secretHash(key)));
  return { ...state, copiedStatus: copy?.['accountStatus'] };
};

/** Resets the account to its state before any event. */
const forget = async ({ accountId, accountKey: key }: Account, customerId: string, events: readonly string[]) => {
  const reset =
    'SET #plan = :free, billingStatus = :active, #status = :accountActive, stripeCustomerId = :customer REMOVE subscription, billingRevision, formerStripeCustomerId';
  const values = { free: 'FREE', active: 'ACTIVE', accountActive: 'active', customer: customerId };
  await write(table, update(accountKey(accountId), reset, null, values));
  const active = { active: 'active' };
  await write(table, update(serviceKeyKey(secretHash(key)), 'SET accountStatus = :active', null, active));
  for (const event of events) {
    const { id } = JSON.parse(event) as { readonly id: string };
    await table.call('DeleteItem', { TableName: table.name, Key: stripeEventKey(id) });
  }
};

const emitted = () => host.localStripe.events().map(({ payload }) => payload);

/** A story that may end after any step. */
const story: readonly Step[] = [
  'buys',
  'changes',
  'failsToPay',
  'isGivenUp',
  'pays',
  'pauses',
  'resumes',
  'cancels',
  'isDeleted',
];

/** Indices of events in their order of delivery, each at least once. */
const deliveryOf = (events: number) =>
  fc
    .array(fc.nat({ max: events - 1 }), { maxLength: events })
    .chain((again) => fc.shuffledSubarray([...Array(events).keys(), ...again], { minLength: events + again.length }));

const RUNS = 2;
/** Batches of events that Stripe sends concurrently. */
const SIDE_BY_SIDE = 5;

/** Concurrent events may be rejected; Stripe sends them again. */
const deliverUntilTaken = async (payload: string): Promise<void> => {
  for (;;) {
    const status = await host.deliver(payload);
    if (status === 200) return;
    expect(status).toBe(503);
  }
};

describe('webhooks in any order, late and twice', () => {
  // One account goes through the whole story. Each test takes one more step and replays all events so far.
  let account: Awaited<ReturnType<typeof newAccount>>;
  let make: ReturnType<typeof stepsOf>;
  let eventsBefore: number;
  let customerId = '';
  beforeAll(async () => {
    account = await newAccount(table);
    make = stepsOf(account);
    eventsBefore = emitted().length;
  });

  it.each(story)('end in the same state where the account %s last', async (step) => {
    const known = emitted().length;
    await make[step]();
    customerId ||= (await openBillingAccounts(table).find(account.accountId))?.stripeCustomerId ?? '';
    for (const payload of emitted().slice(known)) expect(await host.deliver(payload)).toBe(200);
    const expected = await stateOf(account);
    const events = emitted().slice(eventsBefore);
    expect(events.length).toBeGreaterThan(2);

    await fc.assert(
      fc.asyncProperty(deliveryOf(events.length), fc.boolean(), async (order, sideBySide) => {
        await forget(account, customerId, events);
        const payloads = order.map((index) => events[index] as string);
        for (const some of chunk(payloads, sideBySide ? SIDE_BY_SIDE : 1))
          await Promise.all(some.map(deliverUntilTaken));
        expect(await stateOf(account)).toEqual(expected);
      }),
      { numRuns: RUNS },
    );
  });

  it('end in the state of Stripe, even if events arrive while the story continues', async () => {
    const chosen = fc.array(fc.array(fc.nat({ max: 40 }), { maxLength: 6 }), {
      minLength: story.length,
      maxLength: story.length,
    });
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: story.length - 1 }), chosen, fc.boolean(), async (last, meanwhile, sideBySide) => {
        const account = await newAccount(table);
        const make = stepsOf(account);
        const before = emitted().length;
        for (const [index, step] of story.slice(0, last + 1).entries()) {
          const events = emitted().slice(before);
          const late =
            events.length === 0 ? [] : (meanwhile[index] ?? []).map((at) => events[at % events.length] as string);
          // Stripe changes while earlier events are processed.
          if (sideBySide) await Promise.all([make[step](), ...late.map(deliverUntilTaken)]);
          else {
            for (const payload of late) await deliverUntilTaken(payload);
            await make[step]();
          }
        }
        for (const some of chunk(emitted().slice(before).reverse(), SIDE_BY_SIDE))
          await Promise.all(some.map(deliverUntilTaken));
        const { plan, billingStatus, status, copiedStatus, ...rest } = await stateOf(account);
        expect({ plan, billingStatus, status, copiedStatus }).toEqual(endOf[story[last] as Step]);
        expect(rest.subscription === null).toBe(plan === 'FREE');
      }),
      { numRuns: 5 },
    );
  });
});

const state = (plan: string, billingStatus: string, status = 'active') => ({
  plan,
  billingStatus,
  status,
  copiedStatus: status,
});

/** The account's state after each step if it is the last. */
const endOf: Record<Step, ReturnType<typeof state>> = {
  buys: state('PRO', 'ACTIVE'),
  changes: state('SCALE', 'ACTIVE'),
  failsToPay: state('SCALE', 'PAST_DUE'),
  isGivenUp: state('SCALE', 'UNPAID', 'suspended'),
  pays: state('SCALE', 'ACTIVE'),
  pauses: state('FREE', 'PAUSED'),
  resumes: state('SCALE', 'ACTIVE'),
  cancels: state('FREE', 'CANCELED'),
  isDeleted: state('FREE', 'CANCELED'),
};
