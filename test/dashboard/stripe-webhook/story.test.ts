import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { serviceKeyKey } from '../../../lambda/data/table/keys.ts';
import { findItem } from '../../../lambda/data/table/read.ts';
import { secretHash } from '../../../lambda/domain/accounts/issued-secret.ts';
import { cachedAccountLookup } from '../../../lambda/gateway/admission/account-lookup.ts';
import { newAccount } from '../../data/new-account.ts';
import { refusedWith } from '../../http/invoke.ts';
import { tableForTests } from '../../table-for-tests.ts';
import { type BillingHost, billingHost } from './billing-host.ts';
import { moveClock, open, press } from './browser.ts';

const table = tableForTests();
let host: BillingHost;
beforeAll(async () => {
  host = await billingHost(table);
});
afterAll(() => host.stop());

/** Webhooks arrive asynchronously, so this polls. */
const until = async <T>(read: () => Promise<T>, isSo: (value: T) => boolean): Promise<T> => {
  for (const deadline = Date.now() + 120_000; ; ) {
    const value = await read();
    if (isSo(value) || Date.now() > deadline) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

describe('the life of a paid plan', () => {
  it('is bought, used, not paid, suspended, paid, changed, cancelled', async () => {
    const account = await newAccount(table);
    const me = host.as(account);
    const becomes = (plan: string, billingStatus: string) =>
      until(me.status, (status) => status.plan === plan && status.billingStatus === billingStatus);
    const openPortal = async () => open((await me.portal()).body.url);
    const copyOf = (key: string) => findItem(table, serviceKeyKey(secretHash(key)));
    const copies = async (serviceKeys: readonly string[]) =>
      Promise.all(serviceKeys.map(async (key) => (await copyOf(key))?.['accountStatus']));
    let gatewayNow = 0;
    const gatewayLookup = cachedAccountLookup(
      async (key) => {
        const { accountId, keyId, accountStatus } = (await copyOf(key)) ?? {};
        return { accountId: accountId as string, keyId: keyId as string, active: accountStatus === 'active' };
      },
      () => gatewayNow,
    );

    // FREE uses the calendar month.
    const endOfMonth = (): string => {
      const now = new Date();
      return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString();
    };
    const ends = [endOfMonth()];
    const atFirst = await me.status();
    // The month may end during the test.
    ends.push(endOfMonth());
    expect(ends).toContain(atFirst.currentPeriodEnd);
    expect(atFirst).toMatchObject({
      plan: 'FREE',
      billingStatus: 'ACTIVE',
      usage: { trackedRequests: 0, limit: 10_000, keys: 1, keyLimit: 2 },
    });
    expect((await me.portal()).body.error.code).toBe('CONFLICT');
    expect((await me.createKey('second')).status).toBe(201);
    expect((await me.createKey('third')).body.error.code).toBe('LIMIT_REACHED');

    // The purchase on the hosted page succeeds on the second attempt.
    const { status, body } = await me.checkout('PRO');
    expect(status).toBe(200);
    expect(body.sessionId).toMatch(/^cs_test_/);
    const page = await open(body.url);
    expect(page.text).toContain('Subscribe to PRO');
    const declined = await press(page, 'Pay and subscribe', { card: '4000 0000 0000 0002' });
    expect([declined.status, declined.text]).toEqual([402, expect.stringContaining('Your card was declined.')]);
    const { sentTo } = await press(declined, 'Pay and subscribe', { card: '4242 4242 4242 4242' });
    expect(sentTo).toBe(`https://app.acme.dev/paid?session=${body.sessionId}&plan=PRO`);
    const bought = await becomes('PRO', 'ACTIVE');
    expect(bought).toMatchObject({ plan: 'PRO', usage: { limit: 1_000_000, keys: 2, keyLimit: 20 } });
    const [subscription] = (await host.api.subscriptions.list()).data;
    expect(bought.currentPeriodEnd).toBe(
      new Date((subscription?.items.data[0]?.current_period_end ?? 0) * 1_000).toISOString(),
    );
    const third = await me.createKey('third');
    expect(third.status).toBe(201);
    const serviceKeys = [account.accountKey, third.body.key];
    expect(await copies(serviceKeys)).toEqual(['active', 'active']);
    expect(await gatewayLookup(account.accountKey)).toMatchObject({ active: true });

    // There is no second purchase: the same plan is rejected, another plan changes the first.
    expect(await me.checkout('PRO')).toMatchObject(refusedWith(409, 'CONFLICT', 'already has the plan PRO'));
    expect((await open(body.url)).status).toBe(410);
    const change = await me.checkout('SCALE');
    const confirmed = await press(await open(change.body.url), 'Confirm');
    expect(confirmed.sentTo).toBe('https://app.acme.dev/billing?checkout=completed&plan=SCALE');
    expect(await becomes('SCALE', 'ACTIVE')).toMatchObject({ usage: { limit: 10_000_000, keyLimit: 100 } });

    // The card is declined. Traffic continues while Stripe retries.
    await press(await openPortal(), 'Save card', { card: '4000000000000341' });
    await moveClock(host.localStripe, 32);
    expect(await becomes('SCALE', 'PAST_DUE')).toMatchObject({ plan: 'SCALE', billingStatus: 'PAST_DUE' });
    expect(await copies(serviceKeys)).toEqual(['active', 'active']);
    expect(await me.checkout('PRO')).toMatchObject(refusedWith(409, 'CONFLICT', 'due'));

    // Stripe gives up: the account is suspended, and the gateway rejects traffic within its cache time.
    await moveClock(host.localStripe, 20);
    expect(await becomes('SCALE', 'UNPAID')).toMatchObject({ billingStatus: 'UNPAID' });
    expect(await copies(serviceKeys)).toEqual(['suspended', 'suspended']);
    expect(await gatewayLookup(account.accountKey)).toMatchObject({ active: true });
    gatewayNow += 60_000;
    expect(await gatewayLookup(account.accountKey)).toMatchObject({ active: false });
    // A new key does not circumvent the suspension.
    const fourth = await me.createKey('fourth');
    expect(await copies([fourth.body.key])).toEqual(['suspended']);

    // The payment restores the account.
    const portal = await openPortal();
    expect(portal.text).toContain('unpaid');
    const withCard = await press(portal, 'Save card', { card: '4242424242424242' });
    await press(withCard, 'Pay $999.00');
    expect(await becomes('SCALE', 'ACTIVE')).toMatchObject({ billingStatus: 'ACTIVE' });
    expect(await copies([...serviceKeys, fourth.body.key])).toEqual(['active', 'active', 'active']);
    gatewayNow += 60_000;
    expect(await gatewayLookup(account.accountKey)).toMatchObject({ active: true });

    // Cancelled at the period's end: until then nothing changes, and nothing else is sold.
    await press(await openPortal(), 'Cancel at period end');
    expect((await me.checkout('PRO')).body.error.message).toContain('Renew');
    expect(await me.status()).toMatchObject({ plan: 'SCALE', billingStatus: 'ACTIVE' });
    await moveClock(host.localStripe, 32);
    const free = await becomes('FREE', 'CANCELED');
    expect(free).toMatchObject({
      plan: 'FREE',
      billingStatus: 'CANCELED',
      usage: { trackedRequests: 0, limit: 10_000, keys: 4, keyLimit: 2 },
    });
    // Keys above the limit keep working; new ones are rejected.
    expect(await copies(serviceKeys)).toEqual(['active', 'active']);
    expect((await me.createKey('fifth')).body.error.code).toBe('LIMIT_REACHED');

    // The same customer may buy again.
    const again = await me.checkout('STARTER');
    await press(await open(again.body.url), 'Pay and subscribe');
    expect(await becomes('STARTER', 'ACTIVE')).toMatchObject({ plan: 'STARTER', billingStatus: 'ACTIVE' });
    const customers = new Set(
      (await host.api.subscriptions.list({ status: 'all' })).data.map(({ customer }) => customer),
    );
    expect(customers.size).toBe(1);

    const delivered = await until(
      async () => host.localStripe.events().filter(({ delivery }) => delivery !== 'delivered'),
      (rest) => rest.length === 0,
    );
    expect(delivered).toEqual([]);
    expect(JSON.stringify(host.logger.info.mock.calls)).not.toContain(account.accountKey);
  });
});
