import { describe, expect, it } from '@jest/globals';
import { parseGatewayEnvironment } from '../../lambda/gateway/environment.ts';

const complete = {
  TABLE_NAME: 'table',
  USAGE_QUEUE_URL: 'https://sqs.test/queue',
  GATEWAY_DOMAIN: 'Gateway.Example.com',
  ALLOWED_ORIGINS: '["https://app.example.com"]',
  FINGERPRINT_SECRET_ID: 'secret',
  OPEN_EVENT_DELAY_SECONDS: '900',
  CONNECT_TIMEOUT_MS: '0',
  HEADERS_TIMEOUT_MS: '600000',
  IDLE_TIMEOUT_MS: String(2 ** 31 - 1),
  UPSTREAM_ORIGINS: '{"openai":"http://127.0.0.1:8080","xai":"https://x.test"}',
};
const parse = (changes: Record<string, string | undefined>) => () =>
  parseGatewayEnvironment({ ...complete, ...changes });

describe('the gateway’s environment', () => {
  it('becomes its settings', () => {
    expect(parse({})()).toEqual({
      tableName: 'table',
      usageQueueUrl: 'https://sqs.test/queue',
      gatewayDomain: 'gateway.example.com',
      allowedOrigins: new Set(['https://app.example.com']),
      fingerprintSecretId: 'secret',
      openEventDelaySeconds: 900,
      connectTimeoutMs: 0,
      headersTimeoutMs: 600_000,
      idleTimeoutMs: 2 ** 31 - 1,
      upstreamOrigins: new Map([
        ['openai', 'http://127.0.0.1:8080'],
        ['xai', 'https://x.test'],
      ]),
    });
  });

  it.each(Object.keys(complete).filter((name) => name !== 'ALLOWED_ORIGINS'))('needs %s, and says so', (name) => {
    for (const value of [undefined, '']) expect(parse({ [name]: value })).toThrow(name);
  });

  it.each([
    ['OPEN_EVENT_DELAY_SECONDS', '901'],
    ['OPEN_EVENT_DELAY_SECONDS', '-1'],
    ['CONNECT_TIMEOUT_MS', '1.5'],
    ['HEADERS_TIMEOUT_MS', 'ten'],
    ['CONNECT_TIMEOUT_MS', String(2 ** 31)],
    ['HEADERS_TIMEOUT_MS', String(2 ** 31)],
    ['IDLE_TIMEOUT_MS', String(2 ** 31)],
  ])('refuses %s=%s', (name, value) => {
    expect(parse({ [name]: value })).toThrow(`Set ${name} to a whole number from 0 to`);
  });

  it('allows no origin of a browser by default, and only origins', () => {
    for (const none of [undefined, '', '[]'])
      expect(parse({ ALLOWED_ORIGINS: none })()).toMatchObject({ allowedOrigins: new Set() });
    for (const wrong of ['["app.example.com"]', '["https://app.example.com/"]', '"https://a.test"', '[1]', '["*"]'])
      expect(parse({ ALLOWED_ORIGINS: wrong })).toThrow('ALLOWED_ORIGINS must be');
  });

  it('refuses what is not an origin', () => {
    const origins = (origin: string) => parse({ UPSTREAM_ORIGINS: JSON.stringify({ openai: origin }) });
    for (const wrong of [
      ...['x.test', 'ftp://x.test', ' https://x.test', 'https://user@x.test', 'https://'],
      ...['https://x.test/', 'https://x.test?a', 'https://x.test#a'],
    ])
      expect(origins(wrong)).toThrow('UPSTREAM_ORIGINS.openai must be an origin');
  });

  it('refuses an origin for an unknown provider', () => {
    expect(parse({ UPSTREAM_ORIGINS: '{"nobody":"https://x.test"}' })).toThrow('names "nobody"');
  });
});
