import { describe, expect, it } from '@jest/globals';
import { ask } from '../../../fixtures/exchange.ts';
import { gatewayForTests } from '../gateway-for-tests.ts';
import { KEYS } from '../gateway-host.ts';

const ORIGIN = 'https://app.example.com';
const { origin, host } = gatewayForTests({ parts: { allowedOrigins: new Set([ORIGIN]) } });

const send = (method: string, headers: Record<string, string>) =>
  ask({ port: host.port, method, path: '/v1/models', headers: { Host: 'openai.gateway.test', ...headers } });
const preflight = (from: string) =>
  send('OPTIONS', {
    Origin: from,
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'authorization,x-service-key',
  });

describe('a browser', () => {
  it('is allowed to send what it asks for, from an allowed origin', async () => {
    const response = await preflight(ORIGIN);
    expect(response.status).toBe(204);
    expect(response.headers).toMatchObject({
      'access-control-allow-origin': ORIGIN,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'authorization,x-service-key',
      'access-control-max-age': '86400',
      vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
    });
  });

  it.each(['https://evil.example.com', 'https://APP.example.com', 'null'])('is refused from %s', async (from) => {
    const before = origin.received.length;
    const response = await preflight(from);
    expect(response.status).toBe(403);
    expect(JSON.parse(response.body.toString())).toMatchObject({ error: { code: 'BROWSER_NOT_ALLOWED' } });
    expect(response.headers['access-control-allow-origin']).toBeUndefined();
    expect(origin.received).toHaveLength(before);
  });

  it('may read responses and errors from an allowed origin only', async () => {
    origin.script = (_request, response) =>
      response.writeHead(200, { Vary: 'Accept', 'Access-Control-Allow-Origin': '*', 'X-Other': 'a' }).end('body');
    const good = { 'X-Service-Key': KEYS.active, Authorization: 'Bearer sk' };
    const response = await send('GET', { ...good, Origin: ORIGIN });
    expect(response.body.toString()).toBe('body');
    expect(response.headers).toMatchObject({
      'access-control-allow-origin': ORIGIN,
      'access-control-expose-headers': '*',
      vary: 'Origin, Accept',
      'x-other': 'a',
      'x-service-route': 'governed',
    });
    const refused = await send('GET', { Origin: ORIGIN });
    expect(refused.status).toBe(400);
    expect(refused.headers['access-control-allow-origin']).toBe(ORIGIN);
    // What the provider sends to others stays as it is.
    const elsewhere = await send('GET', { ...good, Origin: 'https://evil.example.com' });
    expect(elsewhere.headers).toMatchObject({ 'access-control-allow-origin': '*', vary: 'Accept' });
    expect(elsewhere.headers['access-control-expose-headers']).toBeUndefined();
  });

  it('that sends OPTIONS without a preflight’s headers is any client', async () => {
    origin.script = (_request, response) => response.end('options');
    const response = await send('OPTIONS', {
      'X-Service-Key': KEYS.active,
      Authorization: 'Bearer sk',
      Origin: ORIGIN,
    });
    expect(response.body.toString()).toBe('options');
  });
});

describe('a WebSocket handshake', () => {
  it.each([{ Connection: 'Upgrade', Upgrade: 'WebSocket' }, { 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==' }])(
    'gets 426 at once, and is not recorded: %j',
    async (headers) => {
      const before = { received: origin.received.length, events: host.events.length };
      const response = await send('GET', {
        'X-Service-Key': KEYS.active,
        Authorization: 'Bearer sk',
        ...headers,
      } as never);
      expect(response.status).toBe(426);
      expect(JSON.parse(response.body.toString())).toMatchObject({
        error: { code: 'WEBSOCKET_NOT_SUPPORTED', requestId: response.headers['x-service-request-id'] },
      });
      expect({ received: origin.received.length, events: host.events.length }).toEqual(before);
    },
  );
});
