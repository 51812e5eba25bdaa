import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { openBillingAccounts } from '../../../lambda/data/billing/billing-accounts.ts';
import { UnavailableError } from '../../../lambda/domain/errors.ts';
import type { StripeCall } from '../../../lambda/integrations/stripe-client.ts';
import { newAccount } from '../../data/new-account.ts';
import { tableForTests } from '../../table-for-tests.ts';
import { type BillingHost, billingHost } from './billing-host.ts';
import { open, press } from './browser.ts';

const table = tableForTests();
let host: BillingHost;
/** A fault that replaces a call of Stripe. */
let fault: (() => void) | undefined;
let calls = 0;
const wrapCall =
  (call: StripeCall): StripeCall =>
  async (use) => {
    calls += 1;
    fault?.();
    return call(use);
  };

beforeAll(async () => {
  host = await billingHost(table, { delivers: false, wrapCall });
});
afterEach(() => {
  fault = undefined;
});
afterAll(() => host.stop());

const eventsOf = (type: string) =>
  host.localStripe
    .events()
    .filter((event) => event.type === type)
    .map(({ payload }) => payload);

/** An account that has just paid for PRO, and the event of the payment. */
const buyer = async () => {
  const account = await newAccount(table);
  const me = host.as(account);
  const { url } = (await me.checkout('PRO')).body;
  await press(await open(url), 'Pay and subscribe');
  return { account, me, completed: eventsOf('checkout.session.completed').at(-1) as string };
};

const eventOf = (object: object, type: string, id = `evt_${Math.random()}`) =>
  JSON.stringify({ id, type, data: { object } });

describe('POST /billing/webhook', () => {
  it('processes an event once', async () => {
    const { me, completed } = await buyer();
    expect(await host.deliver(completed)).toBe(200);
    expect(await me.status()).toMatchObject({ plan: 'PRO' });
    const before = calls;
    expect(await host.deliver(completed)).toBe(200);
    expect(calls).toBe(before);
  });

  it('responds with 503 and changes nothing while Stripe is unavailable, and processes the event when it is sent again', async () => {
    const { me, completed } = await buyer();
    fault = () => {
      throw new UnavailableError('Stripe does not respond.');
    };
    expect(await host.deliver(completed)).toBe(503);
    fault = undefined;
    expect(await me.status()).toMatchObject({ plan: 'FREE' });
    expect(await host.deliver(completed)).toBe(200);
    expect(await me.status()).toMatchObject({ plan: 'PRO' });
  });

  it('responds with 500 to any other failure and logs it', async () => {
    const { account, me, completed } = await buyer();
    fault = () => {
      throw new Error('a bug');
    };
    expect(await host.deliver(completed)).toBe(500);
    expect(JSON.stringify(host.logger.error.mock.calls.at(-1))).toContain('INTERNAL');
    expect(JSON.stringify(host.logger.error.mock.calls)).not.toContain(account.accountKey);
    const { id: eventId } = JSON.parse(completed);
    expect(host.logger.info).toHaveBeenCalledWith('event received', expect.objectContaining({ eventId }));
    fault = undefined;
    expect(await me.status()).toMatchObject({ plan: 'FREE' });
  });

  it('accepts and ignores events that affect no account', async () => {
    const before = calls;
    const strangers = [
      eventOf({ object: 'invoice', customer: 'cus_stranger' }, 'invoice.paid'),
      eventOf({ object: 'balance' }, 'balance.available'),
      eventOf({ object: 'invoice', customer: 'cus_stranger' }, 'invoice.upcoming'),
      eventOf({ object: 'something new' }, 'v9.something.happened'),
    ];
    for (const payload of strangers) expect(await host.deliver(payload)).toBe(200);
    expect(calls).toBe(before);
  });

  it('does not trust the data of an event', async () => {
    const { me, completed } = await buyer();
    const { customer } = JSON.parse(completed).data.object;
    const lie = { object: 'subscription', id: 'sub_1', customer, status: 'canceled', items: { data: [] } };
    expect(await host.deliver(eventOf(lie, 'customer.subscription.deleted'))).toBe(200);
    expect(await me.status()).toMatchObject({ plan: 'PRO', billingStatus: 'ACTIVE' });
  });

  it('closes the other checkouts of a customer after a purchase', async () => {
    const account = await newAccount(table);
    const me = host.as(account);
    // Two checkouts that were opened at the same moment, so neither closed the other.
    const first = (await me.checkout('PRO')).body;
    const customer = (await openBillingAccounts(table).find(account.accountId))?.stripeCustomerId ?? '';
    const second = await host.api.checkout.sessions.create({
      mode: 'subscription',
      customer,
      line_items: [{ price: 'price_local_scale', quantity: 1 }],
      success_url: 'https://app.acme.dev',
    });
    await press(await open(first.url), 'Pay and subscribe');
    expect(await host.deliver(eventsOf('checkout.session.completed').at(-1) as string)).toBe(200);
    expect((await open(second.url ?? '')).status).toBe(410);
  });
});
