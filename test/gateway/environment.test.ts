import { describe, expect, it } from '@jest/globals';
import { hostsByLabel, NO_HOSTS } from '../../lambda/domain/hosts.ts';
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
      hosts: hostsByLabel(NO_HOSTS),
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

  it('adds hosts to the twelve: clouds, and own servers with an address that their row allows', () => {
    const own = (label: string, row: object) => parse({ HOSTS: JSON.stringify({ own: { [label]: row } }) });
    const internal = { origin: 'http://127.0.0.1:11434', compatible: 'openai', internal: true };
    const { hosts } = parse({ HOSTS: JSON.stringify({ clouds: ['azure'], own: { 'own-ollama': internal } }) })();
    expect([...hosts.keys()].slice(12)).toEqual(['azure', 'own-ollama']);
    expect(parse({ HOSTS: '{"clouds":["gcp"]}' })).toThrow('HOSTS.clouds names "gcp"');
    for (const label of ['openai', 'ollama', 'own-', 'own-A', 'own-x-', 'own-x.y', `own-${'x'.repeat(29)}`])
      expect(own(label, internal)).toThrow(`HOSTS.own.${label} must have a label`);
    for (const origin of ['x.test', 'https://x.test/v1', 'https://user@x.test', 'ftp://x.test', 'https://X.test'])
      expect(own('own-x', { ...internal, origin })).toThrow('HOSTS.own.own-x must be an origin');
    for (const origin of [
      ...['http://vllm.example.com', 'https://localhost', 'https://a.localhost', 'https://vllm', 'https://10.0.0.1'],
      ...['https://127.1', 'https://0x7f000001', 'https://2130706433', 'https://[::1]', 'https://[::ffff:7f00:1]'],
      ...[
        'https://metadata.google.internal',
        'https://printer.local',
        'https://localhost.',
        'https://1.168.192.in-addr.arpa',
      ],
    ]) {
      const url = new URL(origin).origin;
      expect(own('own-x', { origin: url, compatible: 'openai' })).toThrow(
        'must begin with https:// and have a public name',
      );
      expect(own('own-x', { ...internal, origin: url })()).toBeDefined();
    }
    expect(own('own-x', { origin: 'https://vllm.example.com:8443', compatible: 'openai' })()).toBeDefined();
  });

  it('refuses an origin for an unknown provider', () => {
    expect(parse({ UPSTREAM_ORIGINS: '{"nobody":"https://x.test"}' })).toThrow('names "nobody"');
  });
});
