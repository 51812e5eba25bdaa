import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Alert } from '../../lambda/domain/alerts/alert.ts';
import { NotFoundError } from '../../lambda/domain/errors.ts';
import { type DeliveryDependencies, deliverAlert } from '../../lambda/rule-evaluator/deliver-alert.ts';
import { sampleAlert } from '../domain/alerts/sample-alert.ts';

const NOW = '2026-11-20T16:30:00.000Z';
const pending = { status: 'pending', attempts: 0, lastAttemptAt: null, sentAt: null, error: null } as const;
const alert: Alert = { ...sampleAlert, deliveries: [{ channel: 'email', ...pending }] };

const fakes = {
  claimRound: jest.fn<DeliveryDependencies['deliveries']['claimRound']>(),
  noteMailed: jest.fn<DeliveryDependencies['deliveries']['noteMailed']>(),
  recordDeliveries: jest.fn<DeliveryDependencies['deliveries']['recordDeliveries']>(),
  find: jest.fn<DeliveryDependencies['rules']['find']>(),
  recipients: jest.fn<DeliveryDependencies['users']['recipients']>(),
  sendMail: jest.fn<DeliveryDependencies['sendMail']>(),
  postWebhook: jest.fn<DeliveryDependencies['postWebhook']>(),
};

beforeEach(() => {
  jest.resetAllMocks();
  fakes.claimRound.mockResolvedValue(true);
  fakes.recipients.mockResolvedValue([{ email: 'ada@example.com', role: 'owner' }] as never);
});

const deliver = (round: number, facts: Partial<Alert> = {}) =>
  deliverAlert({
    deliveries: fakes,
    rules: fakes,
    reports: fakes as never,
    users: fakes,
    sendMail: fakes.sendMail,
    postWebhook: fakes.postWebhook,
    dashboardUrl: 'https://dashboard.example.com',
    now: () => new Date(NOW),
  })({ ...alert, ...facts }, round);

const recorded = () => fakes.recordDeliveries.mock.calls.at(-1)?.[1];

describe('deliverAlert', () => {
  it('sends and records nothing when somebody else has the claim', async () => {
    fakes.claimRound.mockResolvedValue(false);
    await deliver(0);
    expect(fakes.sendMail).not.toHaveBeenCalled();
    expect(fakes.recordDeliveries).not.toHaveBeenCalled();
  });

  it('claims the round before it sends', async () => {
    fakes.sendMail.mockImplementation(async () => expect(fakes.claimRound).toHaveBeenCalledTimes(1));
    await deliver(3);
    expect(fakes.claimRound).toHaveBeenCalledWith(
      expect.objectContaining({ alertId: 'alert-1' }),
      3,
      expect.anything(),
    );
    expect(recorded()).toMatchObject([{ status: 'sent', attempts: 1, lastAttemptAt: NOW, sentAt: NOW, error: null }]);
  });

  it.each([
    [0, '2026-11-20T16:31:00.000Z', '2026-11-20T16:35:00.000Z'],
    [1, '2026-11-20T16:32:00.000Z', '2026-11-20T16:35:00.000Z'],
    [8, '2026-11-20T20:46:00.000Z', '2026-11-20T20:46:00.000Z'],
    [9, '2026-11-20T22:30:00.000Z', '2026-11-20T22:30:00.000Z'],
  ])('has the next attempt after round %d due at %s, or at %s if it dies', async (round, nextAttemptAt, ifDead) => {
    await deliver(round);
    expect(fakes.claimRound.mock.calls[0]?.[2]).toBe(ifDead);
    expect(fakes.recordDeliveries.mock.calls[0]?.[2]).toBe(nextAttemptAt);
  });

  it('sends only on channels that are pending', async () => {
    const sent = { channel: 'email', ...pending, status: 'sent', attempts: 2, sentAt: NOW } as const;
    await deliver(0, { deliveries: [sent] });
    expect(fakes.sendMail).not.toHaveBeenCalled();
    expect(recorded()).toEqual([sent]);
  });

  it('mails an alert to who sees a part of the account only if it is about that part', async () => {
    const email = (name: string) => `${name}@example.com`;
    fakes.recipients.mockResolvedValue([
      { userId: 'ada', email: email('ada'), role: 'owner' },
      { userId: 'dev', email: email('dev'), role: 'developer' },
      { userId: 'bob', email: email('bob'), role: 'member', projects: ['search'] },
    ] as never);
    const mailedFor = async (filter: object) => {
      fakes.find.mockResolvedValue({
        condition: { type: 'cost_threshold', config: { threshold: 1, period: 'daily', filter } },
      } as never);
      await deliver(0);
      return fakes.sendMail.mock.calls.at(-1)?.[0].to;
    };
    expect(await mailedFor({ model: 'gpt-4o' })).toEqual([email('ada')]);
    expect(await mailedFor({ project: 'search' })).toEqual([email('ada'), email('bob')]);
    expect(await mailedFor({ member: 'dev' })).toEqual([email('ada'), email('dev')]);
    await deliver(0, { ruleId: null });
    expect(fakes.sendMail.mock.calls.at(-1)?.[0].to).toEqual([email('ada')]);
  });

  describe('an unverified address gets no alert', () => {
    const role = 'owner';
    const unverified = { email: 'stranger@example.com', role, emailVerifiedAt: null };
    const error = 'not sent to stranger@example.com (the address is not verified)';

    it.each([
      [0, 'pending'],
      [9, 'failed'],
    ])('and the alert waits: round %d leaves it %s', async (round, status) => {
      fakes.recipients.mockResolvedValue([unverified] as never);
      await deliver(round);
      expect(fakes.sendMail).not.toHaveBeenCalled();
      expect(recorded()).toMatchObject([{ status, sentAt: null, error }]);
    });

    it('while others of the account do, those of version 0.1 among them', async () => {
      const verified = { email: 'ada@example.com', role, emailVerifiedAt: NOW };
      const older = { email: 'bob@example.com', role };
      fakes.recipients.mockResolvedValue([unverified, verified, older] as never);
      await deliver(0);
      expect(fakes.sendMail.mock.calls[0]?.[0].to).toEqual(['ada@example.com', 'bob@example.com']);
      expect(recorded()).toMatchObject([{ status: 'sent', error }]);
    });
  });

  it('records only the kind of an unexpected error', async () => {
    fakes.sendMail.mockRejectedValue(new TypeError('at https://hooks.example.com/secret'));
    await deliver(0);
    expect(recorded()).toMatchObject([{ status: 'pending', error: 'failed (TypeError)' }]);
  });

  it.each([
    ['an account without users', { recipients: [] }, 'no member is left to get it'],
    ['a rule without a webhook', { rule: { webhook: null } }, 'there is no target for webhook any more'],
    [
      'a deleted rule',
      { rule: new NotFoundError('There is no such alert rule.') },
      'the alert has no rule with a target',
    ],
    ['an alert without a rule', { ruleId: null }, 'the alert has no rule with a target'],
  ])('does not retry for %s', async (_, { recipients, rule, ruleId }: Record<string, unknown>, error) => {
    if (recipients) fakes.recipients.mockResolvedValue(recipients as never);
    fakes.find.mockImplementation(async () => {
      if (rule instanceof Error) throw rule;
      return rule as never;
    });
    const channel = recipients ? 'email' : 'webhook';
    await deliver(0, { deliveries: [{ channel, ...pending }], ...(ruleId === null && { ruleId }) });
    expect(recorded()).toMatchObject([{ status: 'failed', error }]);
    expect(fakes.postWebhook).not.toHaveBeenCalled();
  });
});
