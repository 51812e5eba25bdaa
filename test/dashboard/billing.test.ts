import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import Stripe from 'stripe';
import { openUsers } from '../../lambda/data/accounts/users.ts';
import { openBillingAccounts } from '../../lambda/data/billing/billing-accounts.ts';
import type { PriceIds } from '../../lambda/domain/billing/price-list.ts';
import { UnavailableError } from '../../lambda/domain/errors.ts';
import { priceSchema } from '../../lambda/integrations/stripe-objects.ts';
import { newAccount } from '../data/new-account.ts';
import { invalidAt, refusedWith } from '../http/invoke.ts';
import { tableForTests } from '../table-for-tests.ts';
import { type BillingHost, billingHost } from './stripe-webhook/billing-host.ts';
import { open, press } from './stripe-webhook/browser.ts';

const table = tableForTests();
let host: BillingHost;
// No events are delivered: these endpoints do not need them.
beforeEach(async () => {
  host = await billingHost(table, { delivers: false });
});
afterEach(() => host.stop());

const member = async () => {
  const account = await newAccount(table);
  return { account, me: host.as(account) };
};

const buyer = async (plan = 'PRO') => {
  const { account, me } = await member();
  await press(await open((await me.checkout(plan)).body.url), 'Pay and subscribe');
  const customer = (await openBillingAccounts(table).find(account.accountId))?.stripeCustomerId ?? '';
  const pressInPortal = async (button: string) => press(await open((await me.portal()).body.url), button);
  return { account, me, customer, pressInPortal };
};

const customers = async (userId: string) => {
  const sessions = (await host.api.checkout.sessions.list({ limit: 100 })).data;
  return new Set(sessions.filter((session) => session.client_reference_id === userId).map(({ customer }) => customer));
};

const lastCheckout = async (customer: string) => (await host.api.checkout.sessions.list({ customer })).data[0]?.id;

describe('GET /billing/status', () => {
  it('works while Stripe is unavailable', async () => {
    const { me } = await member();
    await host.localStripe.stop();
    expect(await me.status()).toMatchObject({ plan: 'FREE', billingStatus: 'ACTIVE' });
    expect(await me.checkout('PRO')).toMatchObject(refusedWith(503, 'UNAVAILABLE'));
  });

  it('requires a token whose account exists', async () => {
    const gone = host.as({ accountId: 'gone', userId: 'u' });
    expect((await gone.status()).error.code).toBe('UNAUTHORIZED');
    expect((await gone.portal()).status).toBe(401);
    expect((await gone.checkout('PRO')).status).toBe(401);
  });
});

it('a customer whose response was lost does not keep somebody from buying who has another address by then', async () => {
  let isLost = true;
  const losing = await billingHost(table, {
    delivers: false,
    wrapCall: (call) => async (use) => {
      const result = await call(use);
      if (isLost) throw new UnavailableError('The payment processor does not respond.');
      return result;
    },
  });
  const account = await newAccount(table);
  const me = losing.as(account);
  expect((await me.checkout('PRO')).status).toBe(503);
  isLost = false;
  await openUsers(table).verifyEmail(account, `new.${account.email}`, '2026-11-20T16:30:00.000Z');
  expect((await me.checkout('PRO')).status).toBe(200);
  await losing.stop();
});

it('a failure that Stripe repeats to its key keeps nobody from buying for longer than an hour', async () => {
  let nowMs = Date.parse('2026-11-20T16:30:00Z');
  let isDown = true;
  const failed = new Set<string | undefined>();
  const repeating = await billingHost(table, {
    delivers: false,
    now: () => nowMs,
    wrapCall: (call) => (use) =>
      call(async (stripe) => {
        const create = stripe.customers.create.bind(stripe.customers);
        const repeated = async (params: Stripe.CustomerCreateParams, options: Stripe.RequestOptions) => {
          if (isDown) failed.add(options.idempotencyKey);
          if (!failed.has(options.idempotencyKey)) return create(params, options);
          throw new Stripe.errors.StripeAPIError({ type: 'api_error', message: 'Sorry.', statusCode: 500 });
        };
        return use(Object.create(stripe, { customers: { value: { ...stripe.customers, create: repeated } } }));
      }),
  });
  const me = repeating.as(await newAccount(table));
  expect((await me.checkout('PRO')).status).toBe(503);
  isDown = false;
  nowMs += 3_600_000;
  expect((await me.checkout('PRO')).status).toBe(200);
  await repeating.stop();
});

describe('GET /billing/prices', () => {
  const monthly = (amountMinor: number, amount: string) => ({
    isSold: true,
    price: { amountMinor, amount, currency: 'USD', interval: 'month', intervalCount: 1 },
  });
  const unknown = { isSold: true, price: null };
  const MINUTE_MS = 60_000;

  /** A host whose calls to Stripe are counted and can fail. */
  const countingHost = async (sold?: PriceIds) => {
    const stripe = { calls: 0, isDown: false, nowMs: 0 };
    const counting = await billingHost(table, {
      delivers: false,
      wrapCall: (call) => async (use) => {
        stripe.calls += 1;
        if (stripe.isDown) throw new UnavailableError('The payment processor does not respond.');
        return call(use);
      },
      now: () => stripe.nowMs,
      ...(sold && { sold }),
    });
    return { stripe, counting, me: counting.as(await newAccount(table)) };
  };

  it('has what each plan costs at Stripe, and asks again after ten minutes', async () => {
    const { stripe, counting, me } = await countingHost();
    const expected = [
      { plan: 'STARTER', ...monthly(2_900, '29.00') },
      { plan: 'PRO', ...monthly(19_900, '199.00') },
      { plan: 'SCALE', ...monthly(99_900, '999.00') },
    ];
    expect(await Promise.all([me.prices(), me.prices()])).toEqual([expected, expected]);
    stripe.nowMs += 9 * MINUTE_MS;
    expect(await me.prices()).toEqual(expected);
    expect(stripe.calls).toBe(3);
    stripe.nowMs += 2 * MINUTE_MS;
    expect(await me.prices()).toEqual(expected);
    expect(stripe.calls).toBe(6);
    await counting.stop();
  });

  it('does not know a price that Stripe lacks, and says which plan is not sold', async () => {
    const { counting, me } = await countingHost({ STARTER: ['price_local_starter'], PRO: ['price_gone'] });
    expect(await me.prices()).toEqual([
      { plan: 'STARTER', ...monthly(2_900, '29.00') },
      { plan: 'PRO', ...unknown },
      { plan: 'SCALE', isSold: false, price: null },
    ]);
    expect(counting.logger.warn).toHaveBeenCalledWith(
      'price of a plan not read',
      expect.objectContaining({ priceId: 'price_gone' }),
    );
    await counting.stop();
  });

  it('works while Stripe is unavailable, asks again half a minute later, and shows no amount until then', async () => {
    const { stripe, counting, me } = await countingHost({ PRO: ['price_local_pro'] });
    const pro = async () => (await me.prices())[1];
    stripe.isDown = true;
    expect([await pro(), await pro()]).toEqual([
      { plan: 'PRO', ...unknown },
      { plan: 'PRO', ...unknown },
    ]);
    expect(stripe.calls).toBe(1);
    stripe.isDown = false;
    stripe.nowMs += MINUTE_MS;
    expect(await pro()).toEqual({ plan: 'PRO', ...monthly(19_900, '199.00') });
    await counting.stop();
  });
});

describe('a price of Stripe', () => {
  const price = {
    active: true,
    currency: 'eur',
    unit_amount: 2_905,
    recurring: { interval: 'month', interval_count: 3, usage_type: 'licensed' },
  };

  it.each([
    ['eur', 2_905, '29.05'],
    ['usd', 5, '0.05'],
    ['usd', 0, '0.00'],
    ['jpy', 2_900, '2900'],
    ['kwd', 5_120, '5.120'],
    ['isk', 50_000, '500.00'],
  ])('has its amount in %s with the digits of the currency', (currency, amountMinor, amount) => {
    expect(priceSchema.parse({ ...price, currency, unit_amount: amountMinor })).toEqual({
      amountMinor,
      amount,
      currency: currency.toUpperCase(),
      interval: 'month',
      intervalCount: 3,
    });
  });

  it.each([
    ['not for sale any more', { active: false }],
    ['in tiers', { unit_amount: null }],
    ['paid once', { recurring: null }],
    ['by usage', { recurring: { ...price.recurring, usage_type: 'metered' } }],
    ['in a currency whose minor unit is not clear', { currency: 'ugx' }],
  ])('is unknown where it is %s', (_, change) => {
    expect(priceSchema.parse({ ...price, ...change })).toBeNull();
  });
});

describe('POST /billing/checkout', () => {
  it('rejects unknown plans and FREE, and says why', async () => {
    const { me } = await member();
    expect(await me.checkout('FREE')).toMatchObject(invalidAt('plan', '/billing/portal'));
    for (const plan of ['GOLD', 'pro', ''])
      expect(await me.checkout(plan)).toMatchObject(invalidAt('plan', /^must be one of STARTER, PRO, SCALE$/));
  });

  it('creates one customer per account, also concurrently', async () => {
    const { account, me } = await member();
    const responses = await Promise.all(['PRO', 'PRO', 'SCALE', 'STARTER'].map((plan) => me.checkout(plan)));
    expect(responses.map(({ status }) => status).filter((status) => ![200, 409, 503].includes(status))).toEqual([]);
    await me.checkout('PRO');
    expect((await customers(account.userId)).size).toBe(1);
  });

  it('sends Stripe the owner, and neither the account key nor the account id', async () => {
    const { account, me, customer } = await buyer();
    await me.portal();
    const events = host.localStripe
      .events()
      .map(({ payload }) => payload)
      .join();
    const stripeCustomer = JSON.stringify(await host.api.customers.retrieve(customer));
    expect(stripeCustomer).toContain(account.email);
    expect(stripeCustomer + events).toContain(account.userId);
    expect(stripeCustomer + events).not.toContain(account.accountKey);
    expect(stripeCustomer + events).not.toContain(account.accountId);
  });

  it('keeps only the last checkout open', async () => {
    const { me } = await member();
    const first = (await me.checkout('PRO')).body;
    const second = (await me.checkout('STARTER')).body;
    expect((await open(first.url)).status).toBe(410);
    expect((await open(second.url)).text).toContain('Subscribe to STARTER');
  });

  it('does not sell a second subscription, even before the event of the first has arrived', async () => {
    const { me, customer } = await buyer('PRO');
    expect(await me.status()).toMatchObject({ plan: 'FREE' });
    expect(await me.checkout('PRO')).toMatchObject(
      refusedWith(409, 'CONFLICT', 'The account already has the plan PRO.'),
    );
    const { status, body } = await me.checkout('STARTER');
    expect(status).toBe(200);
    expect(body.sessionId).toMatch(/^bps_/);
    expect((await open(body.url)).text).toContain('Change to STARTER');
    expect((await host.api.subscriptions.list({ customer, status: 'all' })).data).toHaveLength(1);
  });

  it('does not change a subscription that is paused or will end, and says what to do first', async () => {
    const { me, pressInPortal } = await buyer();
    await pressInPortal('Cancel at period end');
    expect(await me.checkout('SCALE')).toMatchObject(refusedWith(409, 'CONFLICT', 'Renew it in the portal'));
    await pressInPortal('Renew');
    await pressInPortal('Pause');
    expect(await me.checkout('SCALE')).toMatchObject(refusedWith(409, 'CONFLICT', 'Resume it in the portal'));
    await pressInPortal('Resume');
    expect((await me.checkout('SCALE')).status).toBe(200);
  });

  it('changes the subscription that pays for the plan, whatever else the customer has', async () => {
    const subscriptions = { wrap: (data: Stripe.Subscription[]) => data };
    const changed = await billingHost(table, {
      delivers: false,
      wrapCall: (call) => async (use) => {
        const result = (await call(use)) as { readonly data?: Stripe.Subscription[] };
        if (result.data?.[0]?.object === 'subscription')
          return { ...result, data: subscriptions.wrap(result.data) } as never;
        return result as never;
      },
    });
    const me = changed.as(await newAccount(table));
    await press(await open((await me.checkout('PRO')).body.url), 'Pay and subscribe');
    const message = async (plan: string, other: (own: Stripe.Subscription) => object) => {
      subscriptions.wrap = ([own]) => [{ ...own, id: 'sub_other', ...other(own as never) }, own] as never;
      return (await me.checkout(plan)).body.error?.message;
    };
    const priceOf = ({ items }: Stripe.Subscription, id: string) => ({
      items: { data: [{ ...items.data[0], price: { id } }] },
    });
    expect(await message('PRO', (own) => priceOf(own, 'price_of_another_product'))).toContain(
      'already has the plan PRO',
    );
    expect(await message('SCALE', () => ({ status: 'incomplete' }))).toBeUndefined();
    const another = 'price_of_another_product';
    subscriptions.wrap = ([own]) => {
      const { items } = own as Stripe.Subscription;
      return [{ ...own, items: { data: [...priceOf(own as never, another).items.data, ...items.data] } }] as never;
    };
    expect((await me.checkout('PRO')).body.error?.message).toContain('already has the plan PRO');
    subscriptions.wrap = ([own]) => [{ ...own, ...priceOf(own as never, another) }] as never;
    expect((await me.checkout('PRO')).body.sessionId).toMatch(/^bps_/);
    subscriptions.wrap = (data) => data.map((own) => ({ ...own, schedule: 'sub_sched_1' }));
    expect((await me.checkout('SCALE')).body.error?.message).toContain('A change is planned already');
    subscriptions.wrap = (data) => data.map((own) => ({ ...own, cancel_at: own.created }));
    expect((await me.checkout('SCALE')).body.error?.message).toContain('Renew it in the portal');
    await changed.stop();
  });

  it('starts over after the subscription has ended or the customer was deleted', async () => {
    const { account, me, customer, pressInPortal } = await buyer();
    await pressInPortal('Cancel at once');
    const again = (await me.checkout('PRO')).body;
    expect(await lastCheckout(customer)).toBe(again.sessionId);
    await host.api.customers.del(customer);
    const anew = (await me.checkout('PRO')).body;
    const linked = await openBillingAccounts(table).find(account.accountId);
    const replaced = linked?.stripeCustomerId ?? '';
    expect(replaced).not.toBe(customer);
    expect(linked?.formerStripeCustomerId).toBe(customer);
    expect(await lastCheckout(replaced)).toBe(anew.sessionId);
    // Events of the former customer belong to the account.
    const deleted = host.localStripe.events().find(({ type }) => type === 'customer.deleted');
    expect(await host.deliver(deleted?.payload ?? '')).toBe(200);
    expect(await openBillingAccounts(table).find(account.accountId)).toMatchObject({ stripeCustomerId: replaced });
  });

  it('rejects a plan without a price', async () => {
    const unsold = await billingHost(table, { delivers: false, sold: { PRO: ['price_local_pro'] } });
    const refused = await unsold.as(await newAccount(table)).checkout('SCALE');
    await unsold.stop();
    expect(refused).toMatchObject(refusedWith(409, 'CONFLICT', 'The plan SCALE is not sold here. It has no price.'));
  });
});

describe('POST /billing/portal', () => {
  it('opens the subscription of a customer, and rejects an account that has never bought', async () => {
    const { me } = await buyer();
    const { status, body } = await me.portal();
    expect([status, Object.keys(body)]).toEqual([200, ['url']]);
    const page = await open(body.url);
    expect(page.text).toContain('PRO');
    expect(page.text).toContain('href="https://app.acme.dev/billing"');
    const other = await member();
    expect(await other.me.portal()).toMatchObject(refusedWith(409, 'CONFLICT', 'Buy one first'));
  });
});
