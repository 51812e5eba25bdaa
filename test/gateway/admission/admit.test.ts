import { describe, expect, it } from '@jest/globals';
import { ask } from '../../../fixtures/exchange.ts';
import { providers } from '../../../lambda/domain/providers.ts';
import { hostOf } from '../../../lambda/gateway/admission/admit.ts';
import { ACTIVE, fakeExchange } from '../gateway-fakes.ts';
import { gatewayForTests } from '../gateway-for-tests.ts';
import { KEYS, startGatewayHost } from '../gateway-host.ts';

const { origin, host } = gatewayForTests();
const good = { Host: 'openai.gateway.test', 'X-Service-Key': KEYS.active, Authorization: 'Bearer sk-test' };
const without = (...names: (keyof typeof good)[]) =>
  Object.fromEntries(Object.entries(good).filter(([name]) => !names.includes(name as keyof typeof good)));

const refused = async (headers: Record<string, string>, path = '/v1/models') => {
  const before = origin.received.length;
  const response = await ask({ port: host.port, path, headers });
  expect(origin.received).toHaveLength(before);
  const { error } = JSON.parse(response.body.toString()) as { error: Record<string, string> };
  expect(error).toEqual({
    code: expect.any(String),
    message: expect.any(String),
    type: 'gateway_error',
    requestId: response.headers['x-service-request-id'],
  });
  expect(response.headers['content-type']).toBe('application/json');
  expect(response.headers['x-service-route']).toBeUndefined();
  return { status: response.status, code: error['code'] };
};

describe('the error table of the specification', () => {
  it.each([
    ['no service key', without('X-Service-Key'), 400, 'MISSING_SERVICE_KEY'],
    ['an empty service key', { ...good, 'X-Service-Key': '  ' }, 400, 'MISSING_SERVICE_KEY'],
    ['no provider credential', without('Authorization'), 400, 'MISSING_AUTH'],
    ['an empty provider credential', { ...good, Authorization: '' }, 400, 'MISSING_AUTH'],
    ['an unknown label', { ...good, Host: 'nobody.gateway.test' }, 400, 'UNKNOWN_PROVIDER'],
    ['a host that is no gateway host', { ...good, Host: 'openai.elsewhere.test' }, 400, 'UNKNOWN_PROVIDER'],
    ['the bare gateway domain', { ...good, Host: 'gateway.test' }, 400, 'UNKNOWN_PROVIDER'],
    ['a label below a label', { ...good, Host: 'a.openai.gateway.test' }, 400, 'UNKNOWN_PROVIDER'],
    ['a malformed key', { ...good, 'X-Service-Key': 'svc_nonsense' }, 401, 'INVALID_SERVICE_KEY'],
    [
      'a key with a wrong checksum',
      { ...good, 'X-Service-Key': `${KEYS.active.slice(0, -1)}~` },
      401,
      'INVALID_SERVICE_KEY',
    ],
    ['a key of no account', { ...good, 'X-Service-Key': KEYS.absent }, 401, 'INVALID_SERVICE_KEY'],
    ['an inactive account', { ...good, 'X-Service-Key': KEYS.inactive }, 403, 'ACCOUNT_INACTIVE'],
  ])('%s', async (_case, headers, status, code) => {
    expect(await refused(headers)).toEqual({ status, code });
  });

  it('checks in the order of the table', async () => {
    expect(await refused({ Host: 'nobody.test' })).toMatchObject({ code: 'MISSING_SERVICE_KEY' });
    expect(await refused({ Host: 'nobody.test', 'X-Service-Key': 'bad' })).toMatchObject({ code: 'MISSING_AUTH' });
    expect(await refused({ ...good, Host: 'nobody.test', 'X-Service-Key': 'bad' })).toMatchObject({
      code: 'UNKNOWN_PROVIDER',
    });
  });

  it('502 PROVIDER_ERROR when nothing listens at the provider', async () => {
    const dead = await startGatewayHost({ origin: 'http://127.0.0.1:1' });
    const response = await ask({ port: dead.port, headers: good });
    expect(response.status).toBe(502);
    expect(JSON.parse(response.body.toString())).toMatchObject({
      error: { code: 'PROVIDER_ERROR', type: 'gateway_error' },
    });
    expect(response.headers['x-service-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    const close = await dead.closeOf(String(response.headers['x-service-request-id']));
    expect(close).toMatchObject({ outcome: 'unreachable', status: null });
    await dead.close();
  });
});

describe('every provider', () => {
  it.each([...providers])('$label forwards, credential and all', async ({ label, prefix = '' }) => {
    origin.script = (_request, response) => response.end('answer');
    const before = origin.received.length;
    const response = await ask({
      port: host.port,
      path: '/v1/anything?a=1',
      headers: { Host: `${label.toUpperCase()}.gateway.test`, 'X-Service-Key': KEYS.active, 'x-api-key': 'k-1' },
    });
    expect(response.body.toString()).toBe('answer');
    expect(response.headers['x-service-route']).toBe('governed');
    expect(origin.received[before]).toMatchObject({ method: 'GET', url: `${prefix}/v1/anything?a=1` });
    expect(origin.received[before]?.rawHeaders).toEqual(expect.arrayContaining(['x-api-key', 'k-1']));
  });

  it('does not put a prefix in front of a path that has it', async () => {
    origin.script = (_request, response) => response.end();
    for (const path of ['/api/v1/models', '/api?x=1', '/api', '/apix', '/']) {
      await ask({ port: host.port, path, headers: { ...good, Host: 'openrouter.gateway.test' } });
    }
    expect(origin.received.slice(-5).map((request) => request.url)).toEqual([
      '/api/v1/models',
      '/api?x=1',
      '/api',
      '/api/apix',
      '/api/',
    ]);
  });

  it.each([
    ['/../../x', '/api/../../x'],
    ['/..', '/api/..'],
    ['/%2e%2e/x', '/api/%2e%2e/x'],
    ['//evil.test/../x', '/api//evil.test/../x'],
    // The prefix is there already: nothing to add, and nothing to resolve.
    ['/api/../x', '/api/../x'],
    // Absolute form: scheme and authority go, the path stays as it is.
    ['http://evil.test/../x?a=../b', '/api/../x?a=../b'],
  ])('%s goes to the provider’s own host behind its prefix, dots and all', async (path, url) => {
    origin.script = (_request, response) => response.end('answer');
    const before = origin.received.length;
    const response = await ask({ port: host.port, path, headers: { ...good, Host: 'openrouter.gateway.test' } });
    expect(response.body.toString()).toBe('answer');
    expect(origin.received.slice(before)).toMatchObject([{ url }]);
    expect(origin.received.at(-1)?.rawHeaders).toEqual(expect.arrayContaining([new URL(origin.origin).host]));
  });
});

describe('the label of a host', () => {
  it.each([
    ['openai.gateway.test', 'openai'],
    ['OpenAI.Gateway.Test:443', 'openai'],
    ['openai.gateway.test:', 'openai'],
    ['openai.gateway.test.', 'openai'],
    ['openai.gateway.test.:8080', 'openai'],
    ['.gateway.test', ''],
    // Each as long as a host of the gateway.
    ['openai.gateway.evil', undefined],
    ['openai-gateway.test', undefined],
    ['openai:1.gateway.test', 'openai:1'],
    ['openai.gateway.test:1:2', undefined],
    ['gateway.test', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%s: %s', (host, label) => {
    const hosts = { get: (asked: string) => asked } as unknown as Parameters<typeof hostOf>[0]['hosts'];
    const request = { method: 'GET', host, target: '/', headers: [], body: null };
    expect(hostOf({ hosts, gatewayDomain: 'gateway.test' }, request)).toBe(label);
  });
});

describe('what admission reads', () => {
  /** The credentials whose fingerprints a request needs. */
  const credentialsOf = (...headers: string[]): string[] => {
    const found = new Set<string>();
    const fingerprint = (credential: string) => {
      found.add(credential);
      return 'f00d';
    };
    const { provider, sent } = fakeExchange(
      { headers: ['X-Service-Key', KEYS.active, ...headers] },
      { parts: { fingerprint } },
    );
    if (sent.length > 0) provider().onHeaders({ status: 200, statusMessage: '', headers: [] });
    return [...found];
  };

  it.each([
    ['Bearer sk-1', 'sk-1'],
    ['bearer \t sk-1  ', 'sk-1'],
    ['  Bearer sk-1', 'sk-1'],
    ['sk-1', 'sk-1'],
    ['Bearersk-1', 'Bearersk-1'],
    ['Token Bearer sk-1', 'Token Bearer sk-1'],
  ])('is the credential without its scheme: %j', (value, credential) => {
    expect(credentialsOf('Authorization', value)).toEqual([credential]);
  });

  it('is the first header with a credential', () => {
    expect(credentialsOf('x-goog-api-key', 'g', 'X-Api-Key', ' k ', 'Authorization', 'Bearer ')).toEqual(['k']);
    expect(credentialsOf('Authorization', 'Bearer')).toEqual([]);
  });

  it('is the account store only for a key that can exist', () => {
    const read: string[] = [];
    const lookUpAccount = (serviceKey: string) => {
      read.push(serviceKey);
      return ACTIVE;
    };
    const tryKey = (serviceKey: string) =>
      fakeExchange(
        { headers: ['X-Service-Key', serviceKey, 'Authorization', 'Bearer sk'] },
        { parts: { lookUpAccount } },
      ).status();
    expect(tryKey('svc_nonsense')).toBe(401);
    expect(read).toEqual([]);
    tryKey(` ${KEYS.active} `);
    expect(read).toEqual([KEYS.active]);
  });
});
