import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import Stripe from 'stripe';
import { listen, stopServer, urlOf } from '../../../fixtures/listen.ts';
import { type LocalStripeOptions, startLocalStripe } from '../../../local/stripe/server.ts';
import { moveClock, open, press } from '../../dashboard/stripe-webhook/browser.ts';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const KEY = 'sk_test_1';
const SECRET = 'whsec_1';

const local = async (options: Partial<LocalStripeOptions> = {}) => {
  const server = await startLocalStripe({ apiKey: KEY, ...options });
  undo.push(server.stop);
  const { hostname: host, port } = new URL(server.url);
  const as = (key: string) => new Stripe(key, { host, port, protocol: 'http', telemetry: false, maxNetworkRetries: 0 });
  return { server, api: as(KEY), as };
};

type Local = Awaited<ReturnType<typeof local>>;

const subscribed = async ({ api }: Local) => {
  const { id: customer } = await api.customers.create({ email: 'ada@example.com' });
  const session = await api.checkout.sessions.create({
    mode: 'subscription',
    customer,
    line_items: [{ price: 'price_local_pro', quantity: 1 }],
    success_url: 'https://app.acme.dev/done',
  });
  await press(await open(session.url ?? ''), 'Pay and subscribe');
  const portal = await api.billingPortal.sessions.create({ customer, return_url: 'https://app.acme.dev' });
  const subscription = async () => {
    const { data } = await api.subscriptions.list({ customer });
    return { id: data[0]?.id, status: data[0]?.status, ends: data[0]?.items.data[0]?.current_period_end ?? 0 };
  };
  return { portal, subscription };
};

const SECONDS_A_DAY = 86_400;

/** A webhook that responds with a given status, and keeps what it gets. */
const webhook = async (statusOf: (payload: string) => number) => {
  const got: { readonly payload: string; readonly signature: string; readonly status: number }[] = [];
  const server = createServer(async (request, response) => {
    const payload = await text(request);
    const status = statusOf(payload);
    got.push({ payload, status, signature: String(request.headers['stripe-signature']) });
    response.writeHead(status).end();
  });
  await listen(server);
  undo.push(() => stopServer(server));
  return { url: `${urlOf(server)}/hook`, got };
};

const until = async (isSo: () => boolean) => {
  for (const deadline = Date.now() + 120_000; !isSo() && Date.now() < deadline; )
    await new Promise((resolve) => setTimeout(resolve, 10));
};

describe('the local Stripe', () => {
  it('lets in who has the key', async () => {
    const { as } = await local();
    await expect(as('sk_test_2').customers.retrieve('cus_x')).rejects.toMatchObject({
      type: 'StripeAuthenticationError',
    });
  });

  it('responds as Stripe does to what it does not have', async () => {
    const { api } = await local();
    await expect(api.customers.retrieve('cus_x')).rejects.toMatchObject({ type: 'StripeInvalidRequestError' });
    await expect(api.balance.retrieve()).rejects.toMatchObject({ statusCode: 404 });
  });

  it('makes one customer of calls with the same idempotency key', async () => {
    const { api } = await local();
    const make = () => api.customers.create({ email: 'ada@example.com' }, { idempotencyKey: 'once' });
    const [first, second] = await Promise.all([make(), make()]);
    expect(second.id).toBe(first.id);
    expect((await api.customers.create({ email: 'ada@example.com' })).id).not.toBe(first.id);
  });

  it('has pages, newest first', async () => {
    const here = await local();
    const made: (string | undefined)[] = [];
    for (let n = 0; n < 5; n++) made.unshift((await (await subscribed(here)).subscription()).id);
    const read: string[] = [];
    for await (const { id } of here.api.subscriptions.list({ limit: 2 })) read.push(id);
    expect(read).toEqual(made);
  });

  it('renews on the same day of the next month, or its last', async () => {
    const here = await local();
    const now = Date.now();
    const lastOfJanuary = Date.UTC(new Date(now).getUTCFullYear() + 1, 0, 31, 23, 59);
    await moveClock(here.server, Math.floor((lastOfJanuary - now) / 1_000 / SECONDS_A_DAY));
    const { subscription } = await subscribed(here);
    const { ends } = await subscription();
    expect(new Date((ends + SECONDS_A_DAY) * 1_000).toISOString()).toMatch(/^\d{4}-03-01/);
    await moveClock(here.server, 30);
    const renewed = await subscription();
    expect(renewed.status).toBe('active');
    expect(new Date(renewed.ends * 1_000).toISOString()).toMatch(/^\d{4}-03-2[89]/);
  });

  it('tries a failed payment again, and then gives up', async () => {
    const here = await local();
    const { portal, subscription } = await subscribed(here);
    await press(await open(portal.url), 'Save card', { card: '4000 0000 0000 0341' });
    const { ends } = await subscription();
    await moveClock(here.server, Math.ceil((ends - Date.now() / 1_000) / SECONDS_A_DAY));
    const states: (string | undefined)[] = [];
    for (let day = 0; day < 6; day++) {
      states.push((await subscription()).status);
      await moveClock(here.server, 1);
    }
    expect(states).toEqual([...Array(5).fill('past_due'), 'unpaid']);
    const failures = here.server.events().filter(({ type }) => type === 'invoice.payment_failed');
    expect(failures).toHaveLength(6);
  });

  it('sends each event until it is taken, with a new signature each time', async () => {
    const seen = new Map<string, number>();
    const hook = await webhook((payload) => {
      const times = (seen.get(payload) ?? 0) + 1;
      seen.set(payload, times);
      return times < 3 ? 500 : 200;
    });
    const here = await local({ endpoint: { url: hook.url, signingSecret: SECRET, retryDelayMs: () => 20 } });
    await subscribed(here);
    await until(() => here.server.events().every(({ delivery }) => delivery === 'delivered'));
    expect(here.server.events().map(({ delivery }) => delivery)).toEqual(here.server.events().map(() => 'delivered'));
    expect(new Set(seen.values())).toEqual(new Set([3]));
    for (const { payload, signature } of hook.got)
      expect(Stripe.webhooks.constructEvent(payload, signature, SECRET).id).toMatch(/^evt_/);
  });

  it('gives an event up in the end', async () => {
    const hook = await webhook(() => 400);
    const retryDelayMs = (attempt: number) => (attempt < 2 ? 5 : undefined);
    const here = await local({ endpoint: { url: hook.url, signingSecret: SECRET, retryDelayMs } });
    await subscribed(here);
    await until(() => here.server.events().every(({ delivery }) => delivery === 'given up'));
    expect(hook.got).toHaveLength(2 * here.server.events().length);
  });

  it('has everything after a restart, and sends what was not taken before', async () => {
    const file = join(tmpdir(), 'stripe.json');
    const first = await local({
      file,
      endpoint: { url: 'http://127.0.0.1:9/', signingSecret: SECRET, retryDelayMs: () => 60_000 },
    });
    const { subscription } = await subscribed(first);
    await moveClock(first.server, 31);
    const before = await subscription();
    const { events } = first.server;
    await first.server.stop();

    const hook = await webhook(() => 200);
    const second = await local({
      file,
      endpoint: { url: hook.url, signingSecret: SECRET, retryDelayMs: () => 60_000 },
    });
    const [after] = (await second.api.subscriptions.list()).data;
    expect(after).toMatchObject({ id: before.id, status: 'active' });
    expect(after?.items.data[0]?.current_period_end).toBe(before.ends);
    await until(() => second.server.events().every(({ delivery }) => delivery === 'delivered'));
    expect(hook.got).toHaveLength(events().length);
  });

  it('refuses the file of another version, and says what to do', async () => {
    const file = join(tmpdir(), 'other-version.json');
    await writeFile(file, JSON.stringify({ aheadSeconds: 0, customers: [], subscriptions: [] }));
    await expect(local({ file })).rejects.toThrow(
      `${file} is of another version: delete it. Accounts keep their plan and cannot change it.`,
    );
  });

  it('shows what there is, moves its clock, and escapes what it is given', async () => {
    const here = await local();
    await subscribed(here);
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
    expect((overview.text.match(/invoice\.paid/g) ?? []).length).toBe(1);
    const moved = await moveClock(here.server, 31);
    expect((moved.text.match(/invoice\.paid/g) ?? []).length).toBe(2);
    expect((await open(`${here.server.url}/portal/bps_x`)).status).toBe(404);
  });
});
