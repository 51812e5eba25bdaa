import { describe, expect, it } from '@jest/globals';
import { ask } from '../../../fixtures/exchange.ts';
import { locateServiceKey } from '../../../lambda/gateway/admission/service-key.ts';
import type { GatewayRequest } from '../../../lambda/gateway/protocol/client.ts';
import { gatewayForTests } from '../gateway-for-tests.ts';
import { KEYS } from '../gateway-host.ts';

const KEY = KEYS.active;
const TYPO = `${KEY.slice(0, -1)}${KEY.endsWith('a') ? 'b' : 'a'}`;

const locate = (target: string, ...headers: string[]) => {
  const received: GatewayRequest = { method: 'GET', host: 'openai.gateway.test', target, headers, body: null };
  const { serviceKey, request } = locateServiceKey(received);
  return { serviceKey, target: request.target, headers: request.headers, isSame: request === received };
};

describe('where a service key is', () => {
  it('is the header; the request stays as it is', () => {
    const headers = ['X-SERVICE-KEY', ` ${KEY} `, 'Authorization', 'Bearer sk-a:b'];
    expect(locate('/v1/models', ...headers)).toEqual({ serviceKey: KEY, target: '/v1/models', headers, isSame: true });
  });

  it.each([
    [`/${KEY}/v1/models?a=1`, '/v1/models?a=1'],
    [`/${KEY}`, '/'],
    [`/${KEY}/`, '/'],
    [`/${KEY}?a=/b`, '/?a=/b'],
    [`/${KEY}//v1`, '//v1'],
    [`/${KEY}/${KEY}`, '/'],
    [`/${KEY}/${KEYS.absent}/${KEY}/v1`, '/v1'],
    [`/${KEY}/${TYPO}/v1`, `/${TYPO}/v1`],
    [`http://openai.gateway.test/${KEY}/v1`, '/v1'],
  ])('is the first segment of the path: %s', (target, rest) => {
    expect(locate(target, 'Authorization', 'Bearer sk-a')).toMatchObject({
      serviceKey: KEY,
      target: rest,
      headers: ['Authorization', 'Bearer sk-a'],
    });
  });

  it.each([
    ['Authorization', `Bearer ${KEY}:sk-a:b`, 'Bearer sk-a:b'],
    ['authorization', `bearer  ${KEY}:sk-a`, 'bearer  sk-a'],
    ['X-Api-Key', `${KEY}:sk-ant-a`, 'sk-ant-a'],
    ['x-goog-api-key', `${KEY}:AIza`, 'AIza'],
    ['x-api-key', `${KEY}:`, ''],
  ])('is in front of a credential: %s: %s', (name, value, rest) => {
    expect(locate('/v1', 'A', 'b', name, value)).toMatchObject({ serviceKey: KEY, headers: ['A', 'b', name, rest] });
  });

  it('is one where the header comes twice', () => {
    expect(locate('/v1', 'X-Service-Key', KEY, 'x-service-key', KEY)).toMatchObject({ serviceKey: KEY });
    expect(locate('/v1', 'X-Service-Key', KEY, 'x-service-key', KEYS.absent)).toMatchObject({
      serviceKey: `${KEY}, ${KEYS.absent}`,
    });
  });

  it('is removed from a credential that it was put in front of twice', () => {
    const twice = `Bearer ${KEY}:${KEY}:sk`;
    expect(locate('/v1', 'Authorization', twice)).toMatchObject({
      serviceKey: KEY,
      headers: ['Authorization', 'Bearer sk'],
    });
    expect(locate('/v1', 'X-Service-Key', KEY, 'Authorization', twice)).toMatchObject({
      headers: ['X-Service-Key', KEY, 'Authorization', 'Bearer sk'],
    });
    expect(locate('/v1', 'x-api-key', `${KEY}:${TYPO}:k`)).toMatchObject({ headers: ['x-api-key', `${TYPO}:k`] });
  });

  it('is removed from every place, and the header takes precedence, then the path', () => {
    const credentials = ['x-api-key', `${KEYS.absent}:k`, 'Authorization', `Bearer ${KEYS.inactive}:sk`];
    expect(locate(`/${KEY}/v1`, ...credentials)).toMatchObject({
      serviceKey: KEY,
      target: '/v1',
      headers: ['x-api-key', 'k', 'Authorization', 'Bearer sk'],
    });
    expect(locate('/v1', ...credentials)).toMatchObject({ serviceKey: KEYS.absent });
    expect(locate(`/${KEY}/v1`, 'X-Service-Key', KEYS.storeDown, ...credentials)).toMatchObject({
      serviceKey: KEYS.storeDown,
      target: '/v1',
      headers: ['X-Service-Key', KEYS.storeDown, 'x-api-key', 'k', 'Authorization', 'Bearer sk'],
    });
  });

  it('a malformed one counts only without the header, so that its client learns of the typing error', () => {
    expect(locate(`/${TYPO}/v1`)).toMatchObject({ serviceKey: TYPO });
    expect(locate('/v1', 'Authorization', `Bearer ${TYPO}:sk`)).toMatchObject({ serviceKey: TYPO });
    expect(locate(`/${TYPO}/v1`, 'X-Service-Key', KEY, 'x-api-key', 'svc_a:b')).toMatchObject({
      serviceKey: KEY,
      isSame: true,
    });
  });

  it('is nothing else', () => {
    for (const [target, ...headers] of [
      [`/v1/${KEY}/x`],
      [`/v1?key=${KEY}`],
      ['/v1', 'X-Other', `${KEY}:a`],
      ['/v1', 'Authorization', `Bearer ${KEY}`],
      ['/v1', 'Authorization', `Bearer sk-${KEY}:a`],
      ['*'],
    ] as [string, ...string[]][])
      expect(locate(target, ...headers)).toMatchObject({ serviceKey: undefined, isSame: true });
  });
});

describe('a request without the header X-Service-Key', () => {
  const { origin, host } = gatewayForTests();

  it.each([
    ['the path', `/${KEY}/v1/models?a=1`, 'Bearer sk-test'],
    ['the credential', '/v1/models?a=1', `Bearer ${KEY}:sk-test`],
    ['the local path form', `/gateway/openai/${KEY}/v1/models?a=1`, 'Bearer sk-test'],
  ])('with the key in %s is forwarded and recorded without it', async (_case, path, authorization) => {
    origin.script = (_request, response) => response.end('ok');
    const Host = path.startsWith('/gateway') ? '127.0.0.1' : 'openai.gateway.test';
    const response = await ask({ port: host.port, path, headers: { Host, Authorization: authorization } });
    expect(response.body.toString()).toBe('ok');
    expect(origin.received.at(-1)).toMatchObject({ url: '/v1/models?a=1' });
    expect(origin.received.at(-1)?.rawHeaders).toEqual(expect.arrayContaining(['Authorization', 'Bearer sk-test']));
    const requestId = String(response.headers['x-service-request-id']);
    await host.closeOf(requestId);
    const events = host.events.filter((event) => event.requestId === requestId);
    expect(events).toMatchObject([{ path: '/v1/models' }, { path: '/v1/models' }]);
    // The fixture's account id is the key.
    const recorded = JSON.stringify(events.map(({ accountId, ...event }) => ({ ...event, known: accountId === KEY })));
    expect(recorded).toContain('"known":true');
    expect(recorded).not.toContain('svc_');
  });

  it.each([
    ['a key of no account in the path', `/${KEYS.absent}/v1`, {}, 401, 'INVALID_SERVICE_KEY'],
    ['nothing behind the key', '/v1', { Authorization: `Bearer ${KEY}:` }, 400, 'MISSING_AUTH'],
  ])('is refused with %s', async (_case, path, changes, status, code) => {
    const before = origin.received.length;
    const headers = { Host: 'openai.gateway.test', Authorization: 'Bearer sk', ...changes };
    const response = await ask({ port: host.port, path, headers });
    expect([response.status, JSON.parse(response.body.toString()).error.code]).toEqual([status, code]);
    expect(response.body.toString()).not.toContain(KEY);
    expect(origin.received).toHaveLength(before);
  });
});
