import { createHmac } from 'node:crypto';
import { createServer as createTcpServer } from 'node:net';
import { describe, expect, it, jest } from '@jest/globals';
import { listen, portOf } from '../../fixtures/listen.ts';
import {
  postWebhook,
  type WebhookAccess,
  webhookAccess,
  webhookUrlProblem,
} from '../../lambda/integrations/webhook.ts';
import { receiverForTests, testCertificate } from './test-receiver.ts';

const receiver = receiverForTests();
const { respond } = receiver;

const now = new Date('2026-11-20T16:30:00.500Z');
const secret = 'whsec_test';
/** Treats the test server as public: its address is allowed and its certificate trusted. */
const access: WebhookAccess = {
  resolve: async () => ['127.0.0.1'],
  isAllowed: (address) => address === '127.0.0.1',
  options: { ca: testCertificate.cert },
};
const url = (path = '/hook?x=1') => `https://hooks.example.com:${receiver.port}${path}`;
const post = (path?: string, change: Partial<WebhookAccess> = {}) =>
  postWebhook({ url: url(path), secret }, '{"text":"ü"}', now, { ...access, ...change });

describe('postWebhook', () => {
  it('posts the signed body to the checked address under the host of the URL', async () => {
    respond.mockImplementation((_, response) => void response.writeHead(204).end());
    await post();
    const [request, , body] = respond.mock.calls[0]!;
    expect(body).toBe('{"text":"ü"}');
    expect(request).toMatchObject({
      method: 'POST',
      url: '/hook?x=1',
      headers: { host: `hooks.example.com:${receiver.port}`, 'content-type': 'application/json' },
    });
    const t = Math.floor(now.getTime() / 1000);
    const v1 = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex');
    expect(request.headers['x-service-signature']).toBe(`t=${t},v1=${v1}`);
  });

  it('does not follow redirects or repeat the response of the receiver', async () => {
    respond.mockImplementation(
      (_, response) => void response.writeHead(302, { location: url('/other') }).end('secret words'),
    );
    await expect(post()).rejects.toThrow(/^it responded with 302$/);
    expect(respond).toHaveBeenCalledTimes(1);
  });

  it('fails if the receiver fails', async () => {
    respond.mockImplementation((_, response) => void response.writeHead(500).end());
    await expect(post()).rejects.toThrow('it responded with 500');
    respond.mockImplementation((request) => void request.socket.destroy());
    await expect(post()).rejects.toThrow(/cannot be reached/);
    const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
    respond.mockImplementation(({ socket }) => void socket.write(switching));
    await expect(post()).rejects.toThrow(/cannot be reached/);
  });

  it('does not tell a closed port from one that speaks something else, or never responds', async () => {
    const silent = createTcpServer((socket) => void socket.resume());
    const plain = createTcpServer((socket) => void socket.resume().end('220 mail.example.com\r\n'));
    const closed = createTcpServer();
    const messages: string[] = [];
    for (const target of [silent, plain, closed]) {
      await listen(target);
      const targetPort = portOf(target);
      if (target === closed) closed.close();
      const call = postWebhook({ url: `https://hooks.example.com:${targetPort}/` }, '{}', now, {
        ...access,
        timeoutMs: 200,
      });
      messages.push(await call.then(String, (error: Error) => error.message));
      if (target !== closed) target.close();
    }
    expect(new Set(messages)).toEqual(new Set(['it cannot be reached, or does not respond in time']));
  });

  it('does not send to a server whose certificate is not for the host', async () => {
    await expect(post(undefined, { options: {} })).rejects.toThrow(/certificate is not accepted \(/);
    await expect(
      postWebhook({ url: `https://other.example.com:${receiver.port}/`, secret }, '{}', now, access),
    ).rejects.toThrow(/certificate is not accepted \(/);
    expect(respond).not.toHaveBeenCalled();
  });

  it('checks the address when it sends, and rejects a name that now resolves to a private address', async () => {
    await expect(post(undefined, { isAllowed: () => false })).rejects.toThrow(
      'its host must have public addresses only',
    );
    await expect(post(undefined, { resolve: async () => ['127.0.0.1', '10.0.0.1'] })).rejects.toThrow(
      'public addresses only',
    );
    expect(respond).not.toHaveBeenCalled();
  });

  it('gives up on a name server that never responds, and on a receiver that never does', async () => {
    const timeoutMs = 50;
    await expect(post(undefined, { timeoutMs, resolve: () => new Promise(() => {}) })).rejects.toThrow(
      'cannot be found',
    );
    respond.mockImplementation(() => {});
    await expect(post(undefined, { timeoutMs })).rejects.toThrow('does not respond in time');
  });

  it('resolves the address once and connects to it', async () => {
    respond.mockImplementation((_, response) => void response.writeHead(200).end());
    const resolve = jest
      .fn<WebhookAccess['resolve']>()
      .mockResolvedValueOnce(['127.0.0.1'])
      .mockResolvedValue(['10.0.0.1']);
    await post(undefined, { resolve });
    expect(resolve).toHaveBeenCalledTimes(1);
  });
});

describe('webhookUrlProblem', () => {
  it.each([
    ['http://hooks.example.com/', 'must begin with https://'],
    ['ftp://hooks.example.com/', 'must begin with https://'],
    ['not a url', 'must be a URL'],
    ['https://user:pass@hooks.example.com/', 'must not contain a user name or password'],
    ['https://127.0.0.1/', 'its host must have public addresses only'],
    ['https://2130706433/', 'its host must have public addresses only'],
    ['https://0x7f.1/', 'its host must have public addresses only'],
    ['https://[::1]/', 'its host must have public addresses only'],
    ['https://[::ffff:169.254.169.254]/', 'its host must have public addresses only'],
    ['https://169.254.169.254/latest/meta-data', 'its host must have public addresses only'],
    ['https://localhost/', 'its host must have public addresses only'],
  ])('refuses %s', async (given, problem) => {
    expect(await webhookUrlProblem(given)).toBe(problem);
  });

  it('rejects a name without an address, and accepts a public one', async () => {
    expect(await webhookUrlProblem('https://hooks.example.com', { ...access, resolve: async () => [] })).toBe(
      'its host cannot be found',
    );
    expect(await webhookUrlProblem('https://8.8.8.8/hook')).toBeUndefined();
  });

  it('allows port 443 of public addresses, and what the operator adds', async () => {
    const problemOf = (url: string, targets: { ports?: number[]; internalHosts?: string[] } = {}) =>
      webhookUrlProblem(url, {
        ...webhookAccess({ ports: [], internalHosts: [], ...targets }),
        resolve: async () => ['10.1.2.3'],
      });
    expect(await problemOf('https://8.8.8.8:443/hook')).toBeUndefined();
    expect(await problemOf('https://8.8.8.8:8443/hook')).toBe('must have one of the ports 443');
    expect(await problemOf('https://8.8.8.8:8443/hook', { ports: [8443] })).toBeUndefined();
    expect(await problemOf('https://8.8.8.8:22/hook', { ports: [8443] })).toBe('must have one of the ports 443, 8443');
    const internalHosts = ['alerts.corp.example'];
    expect(await problemOf('https://alerts.corp.example/')).toBe('its host must have public addresses only');
    expect(await problemOf('https://alerts.corp.example/', { internalHosts })).toBeUndefined();
    expect(await problemOf('https://other.corp.example/', { internalHosts })).toBe(
      'its host must have public addresses only',
    );
    expect(await problemOf('https://alerts.corp.example:22/', { internalHosts })).toBe(
      'must have one of the ports 443',
    );
  });
});
