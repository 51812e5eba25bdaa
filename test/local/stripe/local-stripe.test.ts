import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import Stripe from 'stripe';
import { parseForm } from '../../../local/stripe/form.ts';
import { type LocalStripeOptions, startLocalStripe } from '../../../local/stripe/server.ts';
import { open, press } from '../../dashboard/stripe-webhook/browser.ts';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const KEY = 'sk_test_1';
const SECRET = 'whsec_1';
const CLOCK = 'clock_local';

const local = async (options: Partial<LocalStripeOptions> = {}) => {
  const server = await startLocalStripe({ apiKey: KEY, ...options });
  undo.push(server.stop);
  const { hostname: host, port } = new URL(server.url);
  const as = (key: string) => new Stripe(key, { host, port, protocol: 'http', telemetry: false, maxNetworkRetries: 0 });
  return { server, api: as(KEY), as };
};

type Local = Awaited<ReturnType<typeof local>>;

const subscribed = async ({ api }: Local, price = 'price_local_pro') => {
  const customer = await api.customers.create({ email: 'ada@example.com' });
  const session = await api.checkout.sessions.create({
    mode: 'subscription',
    customer: customer.id,
    line_items: [{ price, quantity: 1 }],
    success_url: 'https://app.acme.dev/done',
  });
  await press(await open(session.url ?? ''), 'Pay and subscribe');
  const [subscription] = (await api.subscriptions.list({ customer: customer.id })).data;
  if (!subscription) throw new Error('There is no subscription.');
  return { customer, subscription };
};

/** A webhook that responds with a given status, and keeps what it gets. */
const webhook = async (statusOf: (payload: string) => number) => {
  const got: { readonly payload: string; readonly signature: string; readonly status: number }[] = [];
  const server = createServer(async (request, response) => {
    const payload = await text(request);
    const status = statusOf(payload);
    got.push({ payload, status, signature: String(request.headers['stripe-signature']) });
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  undo.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, got };
};

const until = async (isSo: () => boolean) => {
  for (const deadline = Date.now() + 120_000; !isSo() && Date.now() < deadline; )
    await new Promise((resolve) => setTimeout(resolve, 10));
};

describe("Stripe's parameters", () => {
  it.each([
    ['a=1&b[c]=2', { a: '1', b: { c: '2' } }],
    ['items[0][id]=x&items[0][price]=p&items[1][id]=y', { items: [{ id: 'x', price: 'p' }, { id: 'y' }] }],
    ['metadata[user%5Bid]=1', { metadata: { user: { id: '1' } } }],
    ['', {}],
  ])('%s', (form, expected) => {
    expect(parseForm(new URLSearchParams(form))).toEqual(expected);
  });
});

describe('the local Stripe', () => {
  it('lets in who has the key', async () => {
    const { as } = await local();
    await expect(as('sk_test_2').customers.list()).rejects.toMatchObject({ type: 'StripeAuthenticationError' });
  });

  it('responds as Stripe does to what it does not have', async () => {
    const { api } = await local();
    await expect(api.customers.retrieve('cus_x')).rejects.toMatchObject({ statusCode: 404, code: 'resource_missing' });
    await expect(api.balance.retrieve()).rejects.toMatchObject({ statusCode: 404 });
    await expect(api.checkout.sessions.create({ mode: 'payment', success_url: 'https://x.dev' })).rejects.toMatchObject(
      { statusCode: 400, type: 'StripeInvalidRequestError' },
    );
  });

  it('makes one thing of calls with the same idempotency key, and refuses another call with it', async () => {
    const { api } = await local();
    const make = (email: string) => api.customers.create({ email }, { idempotencyKey: 'once' });
    const [first, second] = await Promise.all([make('ada@example.com'), make('ada@example.com')]);
    expect(second.id).toBe(first.id);
    await expect(make('grace@example.com')).rejects.toMatchObject({ type: 'StripeIdempotencyError' });
  });

  it('has pages, newest first', async () => {
    const here = await local();
    const made: string[] = [];
    for (let n = 0; n < 5; n++) made.unshift((await subscribed(here)).subscription.id);
    const read: string[] = [];
    for await (const { id } of here.api.subscriptions.list({ limit: 2 })) read.push(id);
    expect(read).toEqual(made);
  });

  it('renews on the same day of each month, or its last', async () => {
    const here = await local();
    const { frozen_time: now } = await here.api.testHelpers.testClocks.retrieve(CLOCK);
    const year = new Date(now * 1_000).getUTCFullYear() + 1;
    const start = Date.UTC(year, 0, 31, 12) / 1_000;
    await here.api.testHelpers.testClocks.advance(CLOCK, { frozen_time: start });
    const { subscription } = await subscribed(here);
    const ends: string[] = [];
    for (let n = 0; n < 3; n++) {
      const [item] = (await here.api.subscriptions.retrieve(subscription.id)).items.data;
      ends.push(new Date((item?.current_period_end ?? 0) * 1_000).toISOString().slice(5, 10));
      await here.api.testHelpers.testClocks.advance(CLOCK, { frozen_time: item?.current_period_end ?? 0 });
    }
    expect(ends).toEqual([new Date(Date.UTC(year, 2, 0)).toISOString().slice(5, 10), '03-31', '04-30']);
  });

  it('tries a failed payment again, and then gives up', async () => {
    const here = await local();
    const { customer, subscription } = await subscribed(here);
    const portal = await here.api.billingPortal.sessions.create({
      customer: customer.id,
      return_url: 'https://app.acme.dev',
    });
    await press(await open(portal.url), 'Save card', { card: '4000 0000 0000 0341' });
    const end = subscription.items.data[0]?.current_period_end ?? 0;
    const states: string[] = [];
    for (const days of [0, 1, 4, 9]) {
      await here.api.testHelpers.testClocks.advance(CLOCK, { frozen_time: end + days * 86_400 });
      states.push((await here.api.subscriptions.retrieve(subscription.id)).status);
    }
    expect(states).toEqual(['past_due', 'past_due', 'past_due', 'unpaid']);
    const failures = here.server.events().filter(({ type }) => type === 'invoice.payment_failed');
    expect(failures).toHaveLength(4);
  });

  it('sends each event until it is taken, with a new signature each time', async () => {
    const seen = new Map<string, number>();
    const hook = await webhook((payload) => {
      const times = (seen.get(payload) ?? 0) + 1;
      seen.set(payload, times);
      return times < 3 ? 500 : 200;
    });
    const here = await local({ endpoint: { url: hook.url, secrets: [SECRET, 'whsec_2'], retryDelayMs: () => 20 } });
    await subscribed(here);
    await until(() => here.server.events().every(({ delivery }) => delivery === 'delivered'));
    expect(here.server.events().map(({ delivery }) => delivery)).toEqual(here.server.events().map(() => 'delivered'));
    expect(new Set(seen.values())).toEqual(new Set([3]));
    for (const { payload, signature } of hook.got)
      for (const secret of [SECRET, 'whsec_2'])
        expect(Stripe.webhooks.constructEvent(payload, signature, secret).id).toMatch(/^evt_/);
  });

  it('gives an event up in the end', async () => {
    const hook = await webhook(() => 400);
    const retryDelayMs = (attempt: number) => (attempt < 2 ? 5 : undefined);
    const here = await local({ endpoint: { url: hook.url, secrets: [SECRET], retryDelayMs } });
    await subscribed(here);
    await until(() => here.server.events().every(({ delivery }) => delivery === 'undelivered'));
    expect(hook.got).toHaveLength(2 * here.server.events().length);
  });

  it('has everything after a restart, and sends what was not taken before', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'local-stripe-'));
    undo.push(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, 'stripe.json');
    const first = await local({
      file,
      endpoint: { url: 'http://127.0.0.1:9/', secrets: [SECRET], retryDelayMs: () => 60_000 },
    });
    const { subscription } = await subscribed(first);
    await first.api.testHelpers.testClocks.advance(CLOCK, {
      frozen_time: subscription.items.data[0]?.current_period_end ?? 0,
    });
    const { frozen_time: before } = await first.api.testHelpers.testClocks.retrieve(CLOCK);
    await first.server.stop();

    const hook = await webhook(() => 200);
    const second = await local({ file, endpoint: { url: hook.url, secrets: [SECRET], retryDelayMs: () => 60_000 } });
    expect((await second.api.subscriptions.retrieve(subscription.id)).status).toBe('active');
    const { frozen_time: after } = await second.api.testHelpers.testClocks.retrieve(CLOCK);
    expect(after - before).toBeLessThan(60);
    expect(after).toBeGreaterThanOrEqual(before);
    await until(() => second.server.events().every(({ delivery }) => delivery === 'delivered'));
    expect(hook.got).toHaveLength(second.server.events().length);
  });

  it('shows what there is, moves its clock, and escapes what it is given', async () => {
    const here = await local();
    await here.api.customers.create({ email: '<script>@example.com' });
    const { customer } = await subscribed(here);
    const session = await here.api.checkout.sessions.create({
      mode: 'subscription',
      customer: (await here.api.customers.create({ email: '"><script>alert(1)</script>' })).id,
      line_items: [{ price: 'price_local_starter', quantity: 1 }],
      success_url: 'https://app.acme.dev',
    });
    expect((await open(session.url ?? '')).text).not.toContain('<script>');
    const overview = await open(`${here.server.url}/`);
    expect(overview.text).toContain('ada@example.com');
    expect(overview.text).toContain('customer.subscription.created');
    const moved = await press(overview, '31 days on');
    expect(moved.text).toContain('invoice.created');
    expect((await here.api.invoices.list()).data.filter((invoice) => invoice.customer === customer.id)).toHaveLength(2);
    // The checkout has run out meanwhile.
    expect((await open(session.url ?? '')).status).toBe(410);
    expect((await open(`${here.server.url}/portal/bps_x`)).status).toBe(404);
  });
});
