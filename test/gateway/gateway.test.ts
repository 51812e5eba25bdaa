import { describe, expect, it } from '@jest/globals';
import { ACTIVE, fakeExchange } from './gateway-fakes.ts';

/* What the gateway responds by itself, call by call: hosts send it as it is. */

const ID = '01900000-0000-7000-8000-000000000000';
const withId = { parts: { newRequestId: () => ID } };

describe('GET /health', () => {
  const headers = ['Content-Type', 'application/json', 'Content-Length', '15', 'Cache-Control', 'no-store'];

  it('responds by itself, without a key', () => {
    const { calls, sent } = fakeExchange({ target: '/health?a=1', headers: [] });
    expect(calls).toEqual([
      ['start', 200, 'OK', headers],
      ['write', '{"status":"ok"}'],
      ['end', [], undefined],
    ]);
    expect(sent).toEqual([]);
  });

  it('has no body for HEAD', () => {
    expect(fakeExchange({ method: 'HEAD', target: '/health', headers: [] }).calls).toEqual([
      ['start', 200, 'OK', headers],
      ['end', [], undefined],
    ]);
  });

  it.each(['POST', 'GETS', 'TARGET', 'HEADS', 'AHEAD'])('is not for %s', (method) => {
    expect(fakeExchange({ method, target: '/health', headers: [] }).errorCode()).toBe('MISSING_SERVICE_KEY');
  });

  it.each(['elsewhere.test', 'nobody.gateway.test', undefined])('is not for the host %s', (host) => {
    expect(fakeExchange({ host, target: '/health', headers: [] }).errorCode()).toBe('MISSING_SERVICE_KEY');
  });
});

describe('an error', () => {
  it('is whole, ends the response and names the request', () => {
    const { calls } = fakeExchange({ headers: [] }, withId);
    const body = String(calls[1]?.[1]);
    expect(calls).toEqual([
      [
        'start',
        400,
        '',
        [
          'Content-Type',
          'application/json',
          'Content-Length',
          String(Buffer.byteLength(body)),
          'X-Service-Request-Id',
          ID,
        ],
      ],
      ['write', body],
      ['end', [], undefined],
    ]);
    expect(JSON.parse(body).error).toMatchObject({ code: 'MISSING_SERVICE_KEY', type: 'gateway_error', requestId: ID });
  });

  it('says more where a client’s mistake is known', () => {
    const { calls } = fakeExchange({ host: 'localhost', headers: [] });
    const { message } = JSON.parse(String(calls[1]?.[1])).error;
    expect(message).toMatch(/^Add the header X-Service-Key .* \(No provider belongs to this host, either\. .*\)$/);
  });
});

it('a fault before admission becomes a rejection: a host has no other way to learn of it', async () => {
  const fault = () => {
    throw new TypeError('sk-in-the-message');
  };
  await expect(fakeExchange({}, { parts: { newRequestId: fault } }).finished).rejects.toThrow(TypeError);
});

it('a preflight that asks for no header is allowed none', () => {
  const ORIGIN = 'https://app.example.com';
  const { calls } = fakeExchange(
    { method: 'OPTIONS', headers: ['Origin', ORIGIN, 'Access-Control-Request-Method', 'POST'] },
    { parts: { allowedOrigins: new Set([ORIGIN]) } },
  );
  expect(calls).toEqual([
    [
      'start',
      204,
      'No Content',
      [
        ...['Access-Control-Allow-Origin', ORIGIN, 'Access-Control-Allow-Methods', 'POST'],
        ...['Access-Control-Max-Age', '86400'],
        ...['Vary', 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers'],
      ],
    ],
    ['end', [], undefined],
  ]);
});

describe('a request with a key', () => {
  it.each([
    ['unknown', 'no-such-key' as const, 401, 'INVALID_SERVICE_KEY'],
    ['inactive', { ...ACTIVE, active: false }, 403, 'ACCOUNT_INACTIVE'],
  ])('that is %s is refused, read now or cached', async (_case, lookup, status, code) => {
    for (const lookUpAccount of [() => lookup, async () => lookup]) {
      const refused = fakeExchange({}, { parts: { lookUpAccount } });
      await refused.finished;
      expect([refused.status(), refused.errorCode()]).toEqual([status, code]);
      expect(refused.sent).toEqual([]);
    }
  });

  it('is forwarded without the key', () => {
    expect(fakeExchange().sent).toMatchObject([
      {
        method: 'GET',
        origin: 'https://api.openai.com',
        target: '/v1/models',
        headers: ['Host', 'api.openai.com', 'Authorization', 'Bearer sk-test'],
        framing: 'none',
        body: null,
      },
    ]);
  });
});
