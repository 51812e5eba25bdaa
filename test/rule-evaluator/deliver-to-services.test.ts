import type { IncomingMessage, ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Alert } from '../../lambda/domain/alerts/alert.ts';
import type { PostedChannel } from '../../lambda/domain/alerts/channels.ts';
import { postWebhook, type WebhookAccess } from '../../lambda/integrations/webhook.ts';
import { type DeliveryDependencies, deliverAlert } from '../../lambda/rule-evaluator/deliver-alert.ts';
import { sampleAlert } from '../domain/alerts/sample-alert.ts';
import { receiverForTests, testCertificate } from '../integrations/test-receiver.ts';

const receiver = receiverForTests();
const { respond } = receiver;
const recordDeliveries = jest.fn<DeliveryDependencies['deliveries']['recordDeliveries']>();
beforeEach(() => {
  recordDeliveries.mockReset();
});

const NOW = new Date('2026-11-20T16:30:00.000Z');
const KEY = 'R0123456789ABCDEFabcdef012345678';
const rule = {
  ...{ name: 'Daily spend', condition: { type: 'cost_threshold', config: { threshold: 10, period: 'daily' } } },
  webhook: { url: 'https://hooks.example.com/mine', secret: 'whsec_x' },
  targets: {
    slack: 'https://hooks.slack.com/services/T0/B0/slack-secret',
    teams: 'https://prod-1.westus.logic.azure.com/workflows/f/triggers/manual/paths/invoke?sig=teams-secret',
    pagerduty: KEY,
  },
};
const alertOn = (...channels: PostedChannel[]): Alert => ({
  ...sampleAlert,
  deliveries: channels.map((channel) => ({
    ...{ channel, status: 'pending', attempts: 0, lastAttemptAt: null, sentAt: null, error: null },
  })),
});

/** The test server takes the place of every service; names of hosts and certificates are not what is tested here. */
const access: WebhookAccess = {
  resolve: async () => ['127.0.0.1'],
  isAllowed: () => true,
  timeoutMs: 60_000,
  options: { ca: testCertificate.cert, checkServerIdentity: () => undefined },
};
const deliver = async (alert: Alert, change: Partial<WebhookAccess> = {}) => {
  await deliverAlert({
    deliveries: { claimRound: async () => true, noteMailed: async () => {}, recordDeliveries },
    rules: { find: async () => rule as never },
    reports: { find: async () => rule as never },
    users: { recipients: async () => [] },
    sendMail: async () => undefined,
    postWebhook: ({ url, secret }, body, now) => {
      const here = new URL(url);
      here.port = String(receiver.port);
      return postWebhook({ url: here.href, secret }, body, now, { ...access, ...change });
    },
    dashboardUrl: 'https://dashboard.example.com',
    now: () => NOW,
  })(alert, 0);
  const [, deliveries, nextAttemptAt] = recordDeliveries.mock.calls.at(-1)!;
  return { deliveries, nextAttemptAt };
};

const statusWith =
  (status: number, headers: Record<string, string> = {}) =>
  (_: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(status, headers).end('ok');

describe('delivery to services', () => {
  it('posts to each service what it takes, and signs only what a webhook of the account gets', async () => {
    const got = new Map<string, { path: string | undefined; signature: unknown; body: Record<string, unknown> }>();
    respond.mockImplementation((request, response, body) => {
      const host = String(request.headers.host).replace(/:\d+$/, '');
      const signature = request.headers['x-service-signature'];
      got.set(host, { path: request.url, signature, body: JSON.parse(body) });
      response.writeHead(host === 'hooks.slack.com' ? 200 : 202).end();
    });
    const { deliveries } = await deliver(alertOn('webhook', 'slack', 'teams', 'pagerduty'));
    expect(deliveries.map(({ channel, status }) => `${channel} ${status}`)).toEqual([
      ...['webhook sent', 'slack sent', 'teams sent', 'pagerduty sent'],
    ]);
    expect(got.get('hooks.example.com')).toMatchObject({
      ...{ path: '/mine', signature: expect.stringMatching(/^t=/), body: { metadata: expect.anything() } },
    });
    expect(got.get('hooks.slack.com')).toMatchObject({ path: '/services/T0/B0/slack-secret', signature: undefined });
    expect(Object.keys(got.get('hooks.slack.com')?.body ?? {})).toEqual(['text', 'blocks']);
    expect(got.get('prod-1.westus.logic.azure.com')).toMatchObject({
      ...{ path: expect.stringContaining('sig=teams-secret'), signature: undefined, body: { type: 'message' } },
    });
    expect(got.get('events.pagerduty.com')).toMatchObject({
      ...{ path: '/v2/enqueue', body: { routing_key: KEY, dedup_key: 'alert-1', event_action: 'trigger' } },
    });
  });

  it.each([
    ['seconds', '300', '2026-11-20T16:35:00.000Z'],
    ['a date', 'Fri, 20 Nov 2026 16:40:00 GMT', '2026-11-20T16:40:00.000Z'],
    ['a wait that is too long', '999999', '2026-11-20T22:30:00.000Z'],
    ['less than the usual pause', '5', '2026-11-20T16:31:00.000Z'],
    ['nonsense', 'soon', '2026-11-20T16:31:00.000Z'],
  ])('waits as 429 with Retry-After asks: %s', async (_, header, at) => {
    respond.mockImplementation(statusWith(429, { 'retry-after': header }));
    const { deliveries, nextAttemptAt } = await deliver(alertOn('slack'));
    expect(deliveries).toMatchObject([{ status: 'pending', attempts: 1, error: 'it responded with 429' }]);
    expect(nextAttemptAt).toBe(at);
  });

  it('does not let one channel delay another', async () => {
    respond.mockImplementation(statusWith(429, { 'retry-after': '300' }));
    respond.mockImplementationOnce(statusWith(500));
    const { nextAttemptAt } = await deliver(alertOn('slack', 'webhook'));
    expect(nextAttemptAt).toBe('2026-11-20T16:31:00.000Z');
  });

  it.each([
    ['slack', 500, 'pending'],
    ['slack', 404, 'failed'],
    ['slack', 410, 'failed'],
    ['teams', 404, 'pending'],
    ['teams', 401, 'failed'],
    ['pagerduty', 400, 'failed'],
    ['pagerduty', 503, 'pending'],
    ['webhook', 404, 'pending'],
    ['slack', 302, 'pending'],
  ] as const)('leaves %s after status %d %s', async (channel, status, result) => {
    respond.mockImplementation(statusWith(status));
    const { deliveries } = await deliver(alertOn(channel));
    expect(deliveries).toMatchObject([{ channel, status: result, error: `it responded with ${status}` }]);
  });

  it('tries again after a timeout', async () => {
    respond.mockImplementation(() => {});
    const { deliveries } = await deliver(alertOn('teams'), { timeoutMs: 50 });
    expect(deliveries).toMatchObject([
      { status: 'pending', error: 'it cannot be reached, or does not respond in time' },
    ]);
  });

  it('posts to public addresses only, whatever the name of the host, and shows nothing of a target', async () => {
    const { deliveries } = await deliver(alertOn('slack', 'teams', 'pagerduty'), { isAllowed: () => false });
    expect(respond).not.toHaveBeenCalled();
    expect(new Set(deliveries.map(({ error }) => error))).toEqual(
      new Set(['its host must have public addresses only']),
    );
    expect(JSON.stringify(deliveries)).not.toMatch(/secret|R0123/);
  });
});
