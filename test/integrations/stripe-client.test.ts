import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { listen, stopServer, urlOf } from '../../fixtures/listen.ts';
import { UnavailableError } from '../../lambda/domain/errors.ts';
import { stripeBilling } from '../../lambda/integrations/stripe-billing.ts';
import { type CachedSecret, StripeCallError, stripeCaller } from '../../lambda/integrations/stripe-client.ts';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** A fake Stripe server. */
const api = async (respond: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> => {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => respond(request, response));
  });
  await listen(server);
  stops.push(() => stopServer(server));
  return urlOf(server);
};

const json = (response: ServerResponse, status: number, body: object) =>
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_1' }).end(JSON.stringify(body));

const rotating = (...values: string[]): CachedSecret & { rereads: number } => {
  let at = 0;
  return {
    rereads: 0,
    read: async () => values[at] as string,
    async reread() {
      this.rereads += 1;
      at = Math.min(at + 1, values.length - 1);
      return values[at] as string;
    },
  };
};

const customer = { id: 'cus_1', object: 'customer' };

describe('calls of Stripe', () => {
  it('send the pinned API version and the key, and no telemetry, and wait twice for 8 s at most', async () => {
    const seen: IncomingMessage['headers'][] = [];
    const origin = await api((request, response) => {
      seen.push(request.headers);
      json(response, 200, customer);
    });
    const call = stripeCaller(origin, rotating('sk_test_1\n'));
    const stripe = stripeBilling(call);
    expect(await stripe.isDeleted('cus_1')).toBe(false);
    await stripe.isDeleted('cus_1');
    const waits = await call(async (client) => [client.getApiField('timeout'), client.getMaxNetworkRetries()]);
    expect(waits).toEqual([8_000, 1]);
    expect(seen[0]).toMatchObject({ 'stripe-version': '2026-10-28.endive', authorization: 'Bearer sk_test_1' });
    expect(seen[1]).not.toHaveProperty('x-stripe-client-telemetry');
  });

  it('are repeated with a new key if the old one is rejected, and not without a new key', async () => {
    const keys: unknown[] = [];
    const origin = await api(({ headers }, response) => {
      keys.push(headers.authorization);
      if (headers.authorization === 'Bearer sk_test_2') json(response, 200, customer);
      else
        json(response, 401, {
          error: { type: 'invalid_request_error', message: 'Invalid API Key provided: sk_test_***' },
        });
    });
    const key = rotating('sk_test_1', 'sk_test_2');
    expect(await stripeBilling(stripeCaller(origin, key)).isDeleted('cus_1')).toBe(false);
    expect(keys).toEqual(['Bearer sk_test_1', 'Bearer sk_test_2']);

    keys.length = 0;
    const stale = stripeBilling(stripeCaller(origin, rotating('sk_test_1')));
    const refused = await stale.isDeleted('cus_1').catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StripeCallError);
    expect(String(refused)).toBe(
      'StripeCallError: Stripe responded with 401: StripeAuthenticationError, request req_1',
    );
    expect(keys).toHaveLength(1);
  });

  it.each([
    [500, 'api_error'],
    [429, 'rate_limit_error'],
  ])('that meet %i are worth another try', async (status, type) => {
    const origin = await api((_, response) => json(response, status, { error: { type, message: 'no' } }));
    await expect(stripeBilling(stripeCaller(origin, rotating('sk_test_1'))).isDeleted('cus_1')).rejects.toBeInstanceOf(
      UnavailableError,
    );
  });

  it('without a response are temporary errors', async () => {
    const origin = await api((request) => request.socket.destroy());
    await expect(stripeBilling(stripeCaller(origin, rotating('sk_test_1'))).isDeleted('cus_1')).rejects.toBeInstanceOf(
      UnavailableError,
    );
  });

  it('that are rejected have errors without the request', async () => {
    const origin = await api((_, response) =>
      json(response, 400, {
        error: { type: 'invalid_request_error', code: 'email_invalid', message: 'Invalid: ada@' },
      }),
    );
    const stripe = stripeBilling(stripeCaller(origin, rotating('sk_test_1')));
    const error = await stripe
      .createCustomer({ email: 'ada@', name: 'Ada', userId: 'u', idempotencyKey: 'k' })
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ status: 400, code: 'email_invalid' });
    expect(JSON.stringify(error) + String(error)).not.toContain('ada@');
  });

  it('reject a subscription with a status unknown to the pinned version', async () => {
    const origin = await api((_, response) =>
      json(response, 200, { object: 'list', has_more: false, url: '/', data: [{ id: 'sub_1', status: 'dormant' }] }),
    );
    await expect(stripeBilling(stripeCaller(origin, rotating('k'))).subscriptionsOf('cus_1')).rejects.toThrow('status');
  });
});
