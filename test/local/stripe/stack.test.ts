import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LocalStack, startStack } from '../../../local/host/stack.ts';
import { openStripe } from '../../../local/stripe/for-stack.ts';
import { currentStacks as assembly, STACK_TIMEOUT_MS } from '../../dashboard/over-http/stack.ts';
import { open, press } from '../../dashboard/stripe-webhook/browser.ts';

let stack: LocalStack;

const start = () => startStack({ assembly, dataDir: tmpdir(), port: 0 });
beforeAll(async () => {
  stack = await start();
}, STACK_TIMEOUT_MS);
afterAll(() => stack?.stop());

/** Of whatever was asked: what the tests read of it. */
interface ResponseBody {
  readonly token: string;
  readonly url: string;
  readonly plan: string;
  readonly error: { readonly code: string };
}

const call = async (method: string, path: string, token?: string, body?: object) => {
  const response = await fetch(`${stack.url}/api${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as ResponseBody };
};

const statusOnce = async (token: string, plan: string) => {
  for (const deadline = Date.now() + 120_000; ; ) {
    const { body } = await call('GET', '/billing/status', token);
    if (body.plan === plan || Date.now() > deadline) return body;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};

const ada = {
  email: 'ada@example.com',
  password: 'Correct-Horse-7-Battery',
  firstName: 'Ada',
  lastName: 'Lovelace',
};

describe('billing on the local stack', () => {
  it('sells a plan through the hosted page, and has it after a restart', async () => {
    const { token } = (await call('POST', '/auth/register', undefined, ada)).body;
    expect((await call('GET', '/billing/status', token)).body).toMatchObject({
      plan: 'FREE',
      billingStatus: 'ACTIVE',
      usage: { trackedRequests: 0, limit: 10_000, keys: 1, keyLimit: 2 },
    });
    const checkout = await call('POST', '/billing/checkout', token, { plan: 'PRO' });
    expect(checkout.status).toBe(200);
    const page = await open(checkout.body.url);
    expect(page.text).toContain('ada@example.com');
    expect((await press(page, 'Pay and subscribe')).sentTo).toBe(`${stack.url}/billing?checkout=completed&plan=PRO`);
    expect(await statusOnce(token, 'PRO')).toMatchObject({ plan: 'PRO', usage: { keyLimit: 20 } });
    expect((await open(stack.stripeUrl ?? '')).text).toContain('ada@example.com');

    await stack.stop();
    stack = await start();
    const login = await call('POST', '/auth/login', undefined, { email: ada.email, password: ada.password });
    const portal = await call('POST', '/billing/portal', login.body.token);
    await press(await open(portal.body.url), 'Cancel at once');
    expect(await statusOnce(login.body.token, 'FREE')).toMatchObject({ plan: 'FREE', billingStatus: 'CANCELED' });
  });

  it('refuses events that Stripe has not signed', async () => {
    const { status, body } = await call('POST', '/billing/webhook', undefined, { id: 'evt_1', type: 'invoice.paid' });
    expect([status, body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  });
});

describe('with a key of the real Stripe', () => {
  const secrets = () => {
    const kept = new Map<string, string>();
    return {
      kept,
      ensure: ({ id, value = '' }: { readonly id: string; readonly value?: string | undefined }) => {
        if (!kept.has(id)) kept.set(id, value);
        return kept.get(id) as string;
      },
    };
  };
  const opened = (variables: Record<string, string>, of = secrets()) =>
    openStripe({ dataDir: tmpdir(), secrets: of, stackUrl: 'http://localhost:8787', variables });

  it('sends the functions there', async () => {
    const of = secrets();
    const { environment, url } = await opened(
      { STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_WEBHOOK_SECRET: 'whsec_1', STRIPE_PRICES: '{"PRO":["price_1"]}' },
      of,
    );
    expect(url).toBeUndefined();
    expect(environment).not.toHaveProperty('STRIPE_API_ORIGIN');
    expect(environment['STRIPE_PRICES']).toBe('{"PRO":["price_1"]}');
    expect(of.kept.get(environment['STRIPE_API_KEY_SECRET_ID'] ?? '')).toBe('sk_test_1');
    expect(of.kept.get(environment['STRIPE_WEBHOOK_SECRETS_ID'] ?? '')).toBe('whsec_1');
  });

  it('takes another key for what it is', async () => {
    const of = secrets();
    await opened({ STRIPE_SECRET_KEY: 'sk_test_1' }, of);
    const { environment } = await opened({ STRIPE_SECRET_KEY: 'sk_test_2' }, of);
    expect(of.kept.get(environment['STRIPE_API_KEY_SECRET_ID'] ?? '')).toBe('sk_test_2');
  });

  it('refuses one that moves money', async () => {
    await expect(opened({ STRIPE_SECRET_KEY: 'sk_live_1' })).rejects.toThrow('STRIPE_SECRET_KEY must be a test key');
  });
});
