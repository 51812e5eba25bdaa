import { beforeEach, expect, it } from '@jest/globals';
import { uuidv7 } from 'uuidv7';
import { raceTable } from '../../fixtures/intercept-table.ts';
import { openAlertDeliveries } from '../../lambda/data/alerts/alert-deliveries.ts';
import { openAlerts } from '../../lambda/data/alerts/alerts.ts';
import { triggeredAlert } from '../../lambda/domain/alerts/alert.ts';
import type { ChannelName } from '../../lambda/domain/limits/rule.ts';
import { WebhookError } from '../../lambda/integrations/webhook.ts';
import { deliverAlert } from '../../lambda/rule-evaluator/deliver-alert.ts';
import { deliverPending } from '../../lambda/rule-evaluator/open-judge.ts';
import { newAccount } from '../data/new-account.ts';
import { sampleAlert } from '../domain/alerts/sample-alert.ts';
import { silentLogger } from '../http/invoke.ts';
import { tableForTests } from '../table-for-tests.ts';

const table = tableForTests();
let accountId: string;
let clock: number;
/** What each service got: the action of PagerDuty's events. */
let got: { readonly to: string; readonly action?: string; readonly key?: string }[];
/** Runs while a service has a post; what it throws is its response. */
let whilePosted: (action: string | undefined) => Promise<void>;

beforeEach(async () => {
  ({ accountId } = await newAccount(table));
  clock = Date.parse('2026-11-20T16:00:00.000Z');
  got = [];
  whilePosted = async () => {};
});

const now = () => new Date(clock);
const evaluate = async (): Promise<void> => {
  const deliveries = openAlertDeliveries(table);
  const deliver = deliverAlert({
    deliveries,
    rules: { find: async () => ({ targets: { pagerduty: 'k'.repeat(32), slack: 'https://slack' } }) as never },
    reports: { find: async () => ({}) as never },
    users: { recipients: async () => [] },
    sendMail: async () => undefined,
    postWebhook: async ({ url }, body) => {
      const { event_action: action, dedup_key: key } = JSON.parse(body);
      await whilePosted(action);
      got.push(action ? { to: 'pagerduty', action, key } : { to: url });
    },
    dashboardUrl: 'https://dashboard.example.com',
    now,
  });
  await deliverPending({ deliveries, deliver, now, logger: silentLogger() })(() => 300_000);
};
const fire = async (...channels: ChannelName[]): Promise<string> => {
  const alertId = uuidv7();
  const facts = { ...sampleAlert, alertId, accountId, triggeredAt: now().toISOString() };
  await openAlerts(table).notify(triggeredAlert(facts, channels), alertId);
  return alertId;
};
const acknowledge = (alertId: string) =>
  openAlerts(table).acknowledge(accountId, alertId, { userId: 'ada', at: now().toISOString() });
const deliveriesOf = async (alertId: string) => (await openAlerts(table).find(accountId, alertId)).deliveries;

it("resolves PagerDuty's incident once an alert is acknowledged, and tells nobody else", async () => {
  const alertId = await fire('pagerduty', 'slack');
  await evaluate();
  clock += 60_000;
  expect((await acknowledge(alertId)).deliveries).toMatchObject([
    { channel: 'pagerduty', status: 'pending', attempts: 0, sentAt: '2026-11-20T16:00:00.000Z' },
    { channel: 'slack', status: 'sent' },
  ]);
  await acknowledge(alertId);
  await evaluate();
  await evaluate();
  expect(got).toEqual([
    { to: 'pagerduty', action: 'trigger', key: alertId },
    { to: 'https://slack' },
    { to: 'pagerduty', action: 'resolve', key: alertId },
  ]);
  expect((await deliveriesOf(alertId))[0]).toMatchObject({ status: 'sent', sentAt: now().toISOString(), attempts: 1 });
});

it.each([
  ['as often as for an alert', ['pagerduty'], [10]],
  ['as long as another service', ['slack', 'pagerduty'], [10, 9]],
] as const)('tries %s, and shows the failure', async (_, channels, attempts) => {
  whilePosted = async (action) => {
    if (action !== 'trigger') throw new WebhookError('it responded with 503', { status: 503 });
  };
  const alertId = await fire(...channels);
  await evaluate();
  await acknowledge(alertId);
  for (let round = 1; round <= 12; round++) {
    clock += 6 * 3_600_000;
    await evaluate();
    if (round < 9) expect((await deliveriesOf(alertId)).at(-1)?.attempts).toBe(round);
  }
  const error = 'it responded with 503';
  expect(await deliveriesOf(alertId)).toMatchObject(
    attempts.map((tried) => ({ status: 'failed', attempts: tried, error })),
  );
});

it('resolves an incident that is opened while the alert is acknowledged', async () => {
  const alertId = await fire('pagerduty', 'slack');
  whilePosted = async (action) => {
    if (action === 'trigger') await acknowledge(alertId);
  };
  await evaluate();
  clock += 60_000;
  await evaluate();
  expect(got.map(({ action }) => action)).toEqual(expect.arrayContaining(['trigger', 'resolve']));
  expect(got).toHaveLength(3);
  expect((await deliveriesOf(alertId)).map(({ status }) => status)).toEqual(['sent', 'sent']);
});

it('claims a round once, and stays delivered where it is acknowledged at that moment', async () => {
  const alertId = await fire('slack');
  const alert = await openAlerts(table).find(accountId, alertId);
  const claim = () => openAlertDeliveries(table).claimRound(alert, 0, alert.triggeredAt);
  expect([await claim(), await claim()]).toEqual([true, false]);
  const raced = raceTable(table, evaluate, ({ operation }) => operation === 'UpdateItem');
  await openAlerts(raced).acknowledge(accountId, alertId, { userId: 'ada', at: now().toISOString() });
  expect(await deliveriesOf(alertId)).toMatchObject([{ status: 'sent' }]);
});

it('opens no incident for an alert that is acknowledged already, and brings no deleted one back', async () => {
  const alertId = await fire('pagerduty');
  await acknowledge(alertId);
  await evaluate();
  expect(got).toEqual([{ to: 'pagerduty', action: 'resolve', key: alertId }]);
  const gone = { ...(await openAlerts(table).find(accountId, alertId)), alertId: 'gone' };
  await openAlertDeliveries(table).recordDeliveries(gone, gone.deliveries, gone.triggeredAt);
  await expect(openAlerts(table).find(accountId, 'gone')).rejects.toThrow('no such alert');
});
