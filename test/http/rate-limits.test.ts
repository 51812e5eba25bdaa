import { describe, expect, it } from '@jest/globals';
import * as z from 'zod/mini';
import { httpStack } from '../../lambda/http/http-stack.ts';
import { inGroup, route } from '../../lambda/http/operation.ts';
import { clientNetwork, rateLimitText } from '../../lambda/http/rate-limits.ts';
import { invoke, membershipOf, silentLogger } from './invoke.ts';

const operation = inGroup('Things');

describe('the network of a client', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8:12:34:aaaa:bbbb:cccc:dddd', '2001:db8:12:34::/64'],
    ['2001:0DB8:12:34::1', '2001:db8:12:34::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
  ])('of %s is %s', (address, network) => {
    expect(clientNetwork(address)).toBe(network);
  });
});

const login = operation('login', 'POST /login', {
  audits: 'A test.',
  summary: 'Log in',
  access: 'public',
  rateLimits: { perClient: { requests: 3, minutes: 5 }, perEmail: { requests: 2, minutes: 15 } },
  body: z.strictObject({ email: z.string() }),
  success: { status: 204, description: 'in' },
  errors: [],
});
const invite = operation('invite', 'POST /invite', {
  audits: 'A test.',
  summary: 'Invite',
  access: 'authorizer',
  permission: 'members:write',
  rateLimits: { perAccount: { requests: 1, minutes: 60 } },
  success: { status: 204, description: 'mailed' },
  errors: [],
});

/** Counts in memory, in one window that ends in 100 s. */
const counting = () => {
  const counts = new Map<string, number>();
  return async (name: string, subject: string) => {
    const requests = (counts.get(`${name} ${subject}`) ?? 0) + 1;
    counts.set(`${name} ${subject}`, requests);
    return { requests, endsInSeconds: 100 };
  };
};

const handlerOf = () =>
  httpStack([route(login, async () => undefined), route(invite, async () => undefined)], {
    logger: silentLogger(),
    corsOrigins: [],
    membershipOf,
    countRequest: counting(),
  });

const logIn = (handler: unknown, email: string) =>
  invoke(handler, { method: 'POST', path: '/api/login', body: { email } });

describe('rate limits', () => {
  it('hold for an e-mail address, with the time of the next attempt', async () => {
    const handler = handlerOf();
    for (let i = 0; i < 2; i++) expect((await logIn(handler, 'a')).status).toBe(204);
    const { status, headers, body } = await logIn(handler, 'a');
    expect([status, headers['Retry-After'], body.error.code]).toEqual([429, '100', 'RATE_LIMITED']);
    expect(body.error.message).toBe(
      'Too many requests of this kind for this e-mail address: at most 2 in 15 minutes. Try again in 2 minutes.',
    );
  });

  it('hold for a client, which then does not use up the limit of an address', async () => {
    const handler = handlerOf();
    for (const email of ['a', 'b', 'c']) expect((await logIn(handler, email)).status).toBe(204);
    expect((await logIn(handler, 'd')).body.error.message).toContain('from your network');
  });

  it('hold for an account', async () => {
    const handler = handlerOf();
    const send = (accountId: string) =>
      invoke(handler, { method: 'POST', path: '/api/invite', caller: { accountId, userId: accountId } });
    expect([await send('a'), await send('b'), await send('a')].map(({ status }) => status)).toEqual([204, 204, 429]);
  });

  it('do not count invalid requests', async () => {
    const handler = handlerOf();
    for (let i = 0; i < 5; i++)
      expect((await invoke(handler, { method: 'POST', path: '/api/login', body: {} })).status).toBe(400);
    expect((await logIn(handler, 'a')).status).toBe(204);
  });

  it('are in the description of an operation', () => {
    expect(rateLimitText(login)).toBe(
      'At most 3 requests in 5 minutes from your network, 2 requests in 15 minutes for this e-mail address.',
    );
    expect(rateLimitText({ ...login, rateLimits: {} })).toBeUndefined();
  });
});
