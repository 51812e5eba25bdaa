import { setImmediate } from 'node:timers/promises';
import { SESClient, SendEmailCommand } from '@aws-sdk/client-ses';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { evaluateRules } from '../../fixtures/evaluate-rules.ts';
import { interceptTable } from '../../fixtures/intercept-table.ts';
import { settingsOf } from '../../fixtures/open-dashboard.ts';
import { ruleOf } from '../../fixtures/rule-of.ts';
import { manageRules } from '../../lambda/dashboard/limits/manage-rules.ts';
import { openUsers } from '../../lambda/data/accounts/users.ts';
import { openAlerts } from '../../lambda/data/alerts/alerts.ts';
import { openEvaluationProgress } from '../../lambda/data/alerts/evaluation-progress.ts';
import { openRules, type Rule } from '../../lambda/data/alerts/rules.ts';
import { openSpend } from '../../lambda/data/spend/spend.ts';
import { ACTIVE_RULE_SHARDS, activeRulesIndexKey, alertKey, ruleKey } from '../../lambda/data/table/keys.ts';
import { findItem } from '../../lambda/data/table/read.ts';
import { shardOf } from '../../lambda/data/table/table.ts';
import type { Alert } from '../../lambda/domain/alerts/alert.ts';
import { MailError, openMail, type SendMail } from '../../lambda/integrations/mail.ts';
import { WebhookError } from '../../lambda/integrations/webhook.ts';
import type { DeliveryDependencies } from '../../lambda/rule-evaluator/deliver-alert.ts';
import { evaluateAccount } from '../../lambda/rule-evaluator/evaluate-account.ts';
import type { Job } from '../../lambda/rule-evaluator/job.ts';
import { judgeShards } from '../../lambda/rule-evaluator/judge-shards.ts';
import { evaluationDependencies, openJudge, openPending } from '../../lambda/rule-evaluator/open-judge.ts';
import { jobsFor } from '../../lambda/rule-evaluator/start-round.ts';
import { addSpend, costing } from '../data/add-spend.ts';
import { newAccount, newMember } from '../data/new-account.ts';
import { silentLogger } from '../http/invoke.ts';
import { tableForEachTest } from '../table-for-tests.ts';

const table = tableForEachTest();
beforeEach(() => {
  now = new Date('2026-11-20T16:30:00.000Z');
  jest.resetAllMocks();
});

let now: Date;
const later = (minutes: number) => {
  now = new Date(now.getTime() + minutes * 60_000);
};
const sendMail = jest.fn<SendMail>();
const postWebhook = jest.fn<DeliveryDependencies['postWebhook']>();
const logger = silentLogger();

const options = { sendMail, postWebhook, dashboardUrl: 'https://dashboard.example.com', now: () => now, logger };

/** One round, and all its jobs. */
const run = () => evaluateRules(table, options)(() => 5 * 60_000);

/** A round's one job, as the queue may deliver it several times. */
const startedJob = async (): Promise<Job> => {
  const progress = openEvaluationProgress(table);
  const shards = (await progress.read()).map((shard) => ({ ...shard, due: now.toISOString(), rules: 0 }));
  await progress.save(shards);
  return jobsFor(shards, now.toISOString())[0] as Job;
};
const judge = (job: Job) => openJudge(table, { ...options, send: async () => {} })(job, () => 5 * 60_000);

const createRule = async (accountId: string, change: Partial<Rule> = {}, condition: object = {}) => {
  const rule = ruleOf(accountId, { ...condition, ...change });
  await openRules(table).create(rule);
  return rule;
};
const alertsOf = async (accountId: string) => (await openAlerts(table).page(accountId, { limit: 50 })).items;

describe('the rule evaluator', () => {
  it('fires once the threshold is reached, mails what happened, and not again in the period', async () => {
    const account = await newAccount(table);
    const rule = await createRule(account.accountId);
    await addSpend(table, account.accountId, '2026-11-20T10:00:00Z', costing(9), {
      tag: 'batch',
      keyId: account.keyId,
    });
    expect(await run()).toEqual({ shards: 32, accounts: 1, rules: 1, alerts: 0, failures: 0 });
    expect(sendMail).not.toHaveBeenCalled();

    await addSpend(table, account.accountId, '2026-11-20T11:00:00Z', costing(3), { model: 'o3', keyId: account.keyId });
    expect(await run()).toMatchObject({ alerts: 1 });
    expect(await run()).toMatchObject({ alerts: 0 });
    later(60);
    expect(await run()).toMatchObject({ alerts: 0 });

    const [alert, ...others] = await alertsOf(account.accountId);
    expect(others).toEqual([]);
    expect(alert).toMatchObject({
      ruleId: rule.ruleId,
      type: 'cost_threshold',
      status: 'triggered',
      triggeredAt: '2026-11-20T16:30:00.000Z',
      period: { name: 'daily', start: '2026-11-20T00:00:00.000Z' },
      figure: 12e9,
      limit: 10e9,
      deliveries: [{ channel: 'email', status: 'sent', attempts: 1, sentAt: '2026-11-20T16:30:00.000Z', error: null }],
    });
    expect(alert?.contributors).toEqual(
      expect.arrayContaining([
        { dimension: 'model', value: 'gpt-4o', label: null, share: 0.75 },
        { dimension: 'tag', value: 'batch', label: null, share: 0.75 },
        { dimension: 'key', value: account.keyId, label: 'default', share: 1 },
      ]),
    );
    expect(sendMail).toHaveBeenCalledTimes(1);
    expect(sendMail.mock.calls[0]?.[0]).toEqual({
      accountId: account.accountId,
      to: [account.email],
      subject: 'AI spend alert: a cost threshold is reached, 2026-11-20 (daily, UTC)',
      text: expect.stringContaining(`https://dashboard.example.com/alerts/${alert?.alertId}`),
      html: expect.stringContaining('gpt-4o 75%'),
    });
  });

  it('judges the other rules and accounts of a shard where a later version wrote a rule', async () => {
    const accounts = [await newAccount(table), await newAccount(table)];
    for (const { accountId } of accounts) {
      await createRule(accountId);
      const Item = { ...ruleKey(accountId, 'later'), ...activeRulesIndexKey(3, accountId, 'later') };
      const config = { threshold: 1, period: 'daily', scale: 2 };
      const facts = { accountId, ruleId: 'later', isActive: true, type: 'cost_threshold', config };
      await table.call('PutItem', { TableName: table.name, Item: { ...Item, ...facts } });
      await addSpend(table, accountId, '2026-11-20T10:00:00Z', costing(11));
    }
    expect(await run()).toMatchObject({ alerts: 2, failures: 2 });
    expect(logger.error).toHaveBeenCalledWith('rule not read', { ruleId: 'later', error: expect.anything() });
    expect(await openRules(table).active(accounts[0]!.accountId)).toHaveLength(2);
  });

  it('sends no mail to an address that bounced, and says so', async () => {
    const account = await newAccount(table);
    const users = openUsers(table);
    const [user] = await users.recipients(account.accountId);
    const block = { reason: 'bounce', until: '2026-11-21T00:00:00.000Z' } as const;
    await users.blockMail(account.accountId, user?.userId ?? '', block);
    await createRule(account.accountId);
    await addSpend(table, account.accountId, '2026-11-20T10:00:00Z', costing(11));
    await run();
    expect(sendMail).not.toHaveBeenCalled();
    expect((await alertsOf(account.accountId))[0]?.deliveries).toMatchObject([
      { channel: 'email', status: 'failed', error: `not sent to ${account.email} (bounce)` },
    ]);
    now = new Date('2026-11-21T16:30:00.000Z');
    await addSpend(table, account.accountId, '2026-11-21T10:00:00Z', costing(11));
    await run();
    expect(sendMail).toHaveBeenCalledTimes(1);
  });

  it('makes exactly one alert and one mail when evaluators run in parallel', async () => {
    const account = await newAccount(table);
    await createRule(account.accountId);
    await addSpend(table, account.accountId, '2026-11-20T10:00:00Z', costing(11));
    const job = await startedJob();
    await Promise.all(Array.from({ length: 6 }, () => judge(job)));
    await run();
    expect(await alertsOf(account.accountId)).toHaveLength(1);
    expect(sendMail).toHaveBeenCalledTimes(1);
  });

  it('fires once and sends once, wherever a worker dies before its job comes again', async () => {
    let [calls, dyingCall, sentUnnoted] = [0, 0, 0];
    let death = Promise.withResolvers<true>();
    const dying = interceptTable(table, (_, send) => {
      if (++calls < dyingCall) return send();
      death.resolve(true);
      // What a dead worker calls never returns.
      return new Promise(() => {});
    });
    for (let isDead = true; isDead; ) {
      const { accountId } = await newAccount(table);
      const { ruleId } = await createRule(accountId);
      await addSpend(table, accountId, now.toISOString(), costing(11));
      const { due, shards } = await startedJob();
      const job = { due, shards: shards.filter(({ shard }) => shard === shardOf(accountId, ACTIVE_RULE_SHARDS)) };
      [calls, dyingCall, death] = [0, dyingCall + 1, Promise.withResolvers<true>()];
      sendMail.mockClear();
      const work = openJudge(dying, { ...options, send: async () => {} })(job, () => 5 * 60_000);
      isDead = await Promise.race([work.then(() => false), death.promise]);
      const isNoted = (await alertsOf(accountId))[0]?.deliveries[0]?.status === 'sent';
      const unnoted = isNoted ? 0 : sendMail.mock.calls.length;

      later(3);
      await judge(job);
      later(3);
      await openPending(table, options)(() => 5 * 60_000);
      expect(await alertsOf(accountId)).toMatchObject([{ deliveries: [{ status: 'sent' }] }]);
      // Nobody can know that a mail went out if its sender died before noting it: docs/dashboard-api.md says so.
      sentUnnoted += unnoted;
      expect(sendMail).toHaveBeenCalledTimes(1 + unnoted);
      // The next account may be in the same shard, where this one would add calls.
      await openRules(table).remove(accountId, ruleId);
    }
    expect(dyingCall).toBeGreaterThan(8);
    expect(sentUnnoted).toBe(1);
  });

  it('judges the keys of a project, and those of a project each on its own, with contributors', async () => {
    const { accountId, keyId } = await newAccount(table);
    const filter = { project: 'default' };
    await createRule(accountId, {}, { config: { threshold: 10, period: 'daily', filter } });
    await createRule(accountId, { ruleId: 'each' }, { type: 'burn_rate', config: { each: 'project', limit: 8 } });
    await addSpend(table, accountId, '2026-11-20T16:10:00Z', costing(9), { keyId, tag: 'batch' });
    await addSpend(table, accountId, '2026-11-20T16:10:00Z', costing(50), { keyId: 'not in it' });
    await addSpend(table, accountId, '2026-11-20T16:10:00Z', costing(50));
    expect(await run()).toMatchObject({ rules: 2, alerts: 1, failures: 0 });
    await addSpend(table, accountId, '2026-11-20T16:10:00Z', costing(2), { keyId });
    later(1);
    expect(await run()).toMatchObject({ alerts: 1, failures: 0 });
    const [ofFilter, ofEach] = await alertsOf(accountId);
    expect(ofFilter).toMatchObject({ type: 'cost_threshold', figure: 11e9 });
    expect(ofEach).toMatchObject({ of: { dimension: 'project', value: 'default', label: 'Default' }, figure: 9e9 });
    expect(ofEach?.contributors).toContainEqual({ dimension: 'key', value: keyId, label: 'default', share: 1 });
  });

  describe('after a change of the rule', () => {
    /** An account whose rule has fired today at $11, and whose spend is then $25. */
    const firedAt11 = async (rewrite?: string) => {
      const { accountId } = await newAccount(table);
      const rule = await createRule(accountId);
      if (rewrite !== undefined) {
        const Key = ruleKey(accountId, rule.ruleId);
        await table.call('UpdateItem', { TableName: table.name, Key, UpdateExpression: rewrite });
      }
      await addSpend(table, accountId, '2026-11-20T10:00:00Z', costing(11));
      expect(await run()).toMatchObject({ alerts: 1 });
      later(1);
      await addSpend(table, accountId, '2026-11-20T16:30:00Z', costing(14));
      const { updateRule: update } = manageRules({
        ...settingsOf(table, () => now),
        webhookUrlProblem: async () => undefined,
      });
      const caller = { accountId, role: 'owner' };
      const change = (body: object) => update({ caller, params: { id: rule.ruleId }, body } as never);
      const limits = async () => (await alertsOf(accountId)).map(({ limit }) => limit / 1e9);
      return { accountId, change, limits };
    };

    it('fires again in the period with another threshold, once', async () => {
      const { change, limits } = await firedAt11();
      await change({ config: { threshold: 20 } });
      expect(await run()).toMatchObject({ alerts: 1 });
      expect(await limits()).toEqual([20, 10]);
      later(1);
      await Promise.all([run(), run(), run()]);
      expect(await limits()).toEqual([20, 10]);
      await change({ config: { threshold: 30 } });
      expect(await run()).toMatchObject({ alerts: 0 });
    });

    it('does not fire again where what it fires for stays the same', async () => {
      const { change, limits } = await firedAt11();
      const changes = [
        { name: 'Renamed' },
        { channels: ['webhook'], webhookUrl: 'https://hooks.example.com' },
        { config: { threshold: 10 } },
        { isActive: false },
        { isActive: true },
      ];
      for (const each of changes) {
        await change(each);
        await run();
      }
      expect(await limits()).toEqual([10]);
    });

    it('treats a rule of version 0.1 in the same way', async () => {
      const { change, limits } = await firedAt11('REMOVE conditionRevision');
      await change({ name: 'Renamed' });
      await run();
      expect(await limits()).toEqual([10]);
      await change({ config: { threshold: 20 } });
      await run();
      expect(await limits()).toEqual([20, 10]);
    });
  });

  it('fires for the forecast of a budget, and again when it is used up, with evaluators in parallel', async () => {
    const account = await newAccount(table);
    await createRule(account.accountId, {}, { type: 'budget_forecast', config: { budget: 300 } });
    for (let day = 10; day < 20; day++)
      await addSpend(table, account.accountId, `2026-11-${day}T10:00:00Z`, costing(15));
    const events = async () => (await alertsOf(account.accountId)).map(({ event }) => event);
    await Promise.all([run(), run(), run()]);
    expect(await events()).toEqual(['forecast']);
    later(60);
    await addSpend(table, account.accountId, '2026-11-20T17:00:00Z', costing(150));
    await Promise.all([run(), run(), run()]);
    expect(await events()).toEqual(['used_up', 'forecast']);
    later(60);
    await run();
    expect(await events()).toEqual(['used_up', 'forecast']);
    expect(sendMail).toHaveBeenCalledTimes(2);
  });

  it('ignores inactive and deleted rules', async () => {
    const account = await newAccount(table);
    await createRule(account.accountId, { isActive: false });
    const rule = await createRule(account.accountId);
    await openRules(table).remove(account.accountId, rule.ruleId);
    await addSpend(table, account.accountId, '2026-11-20T10:00:00Z', costing(11));
    expect(await run()).toEqual({ shards: 32, accounts: 0, rules: 0, alerts: 0, failures: 0 });
  });

  it('does not fire a rule that was changed after it was read', async () => {
    const account = await newAccount(table);
    const rule = await createRule(account.accountId);
    await addSpend(table, account.accountId, '2026-11-20T10:00:00Z', costing(11));
    await openRules(table).replace({ ...rule, revision: 2, name: 'New' }, 1);
    const evaluate = evaluateAccount(evaluationDependencies(table));
    expect(await evaluate(account.accountId, [rule], now)).toEqual({ fired: [], failures: [] });
    expect(await run()).toMatchObject({ alerts: 1 });
    expect(await alertsOf(account.accountId)).toMatchObject([{ ruleName: 'New' }]);
  });

  it('reads the spend of an account once for all its rules, by the hour and by the day', async () => {
    const account = await newAccount(table);
    await createRule(account.accountId, { name: 'hour' }, { config: { threshold: 1, period: 'hourly' } });
    await createRule(
      account.accountId,
      { name: 'month' },
      { config: { threshold: 1, period: 'monthly', filter: { tag: 'a' } } },
    );
    await createRule(account.accountId, { name: 'day' });
    await addSpend(table, account.accountId, '2026-11-20T16:10:00Z', costing(2), { tag: 'a' });
    const readCounters = jest.fn(openSpend(table).read);
    const evaluate = evaluateAccount({
      ...evaluationDependencies(table),
      readCounters,
      alerts: { ...openAlerts(table), fire: async () => false },
    });
    await evaluate(account.accountId, await openRules(table).list(account.accountId), now);
    const ranges = readCounters.mock.calls.map(([{ range, groupBy }]) => [range.granularity, range.from, groupBy]);
    // The rest are the contributors of the two that would have fired.
    expect(ranges.slice(0, 2)).toEqual([
      ['hour', '2026-11-20T13:00:00.000Z', []],
      ['day', '2026-11-01T00:00:00.000Z', ['tag']],
    ]);
    expect(ranges).toHaveLength(4);
  });

  it('sends a mail once that takes minutes, as many members and a limit of SES make it', async () => {
    const { accountId } = await newAccount(table);
    await createRule(accountId);
    await addSpend(table, accountId, now.toISOString(), costing(11));
    sendMail.mockImplementation(async () => {
      // Every minute another run looks for what is due.
      for (let minute = 0; minute < 4 && sendMail.mock.calls.length === 1; minute++) {
        later(1);
        await openPending(table, options)(() => 5 * 60_000);
      }
    });
    await run();
    expect(sendMail).toHaveBeenCalledTimes(1);
    expect(await alertsOf(accountId)).toMatchObject([{ deliveries: [{ status: 'sent', attempts: 1 }] }]);
  });

  describe('with 35 members', () => {
    const ses = mockClient(SESClient);
    const environment = { MAIL_FROM: 'alerts@example.com', MAIL_CONFIGURATION_SET: 'ai-spend', DASHBOARD_URL: '' };
    /** Those that SES took the mail for. */
    const got: string[] = [];
    let accountId: string;
    beforeEach(async () => {
      sendMail.mockImplementation(openMail(environment, { pause: async () => {} }));
      got.length = 0;
      ({ accountId } = await newAccount(table));
      for (let i = 1; i < 35; i++) await newMember(table, accountId, `member-${i}`, 'viewer');
      await createRule(accountId);
      await addSpend(table, accountId, now.toISOString(), costing(11));
    });
    const sending = (take: (address: string) => Promise<object>) =>
      ses
        .reset()
        .on(SendEmailCommand)
        .callsFake(async ({ Destination }) => {
          const [address] = Destination.ToAddresses;
          await take(address);
          got.push(address);
        });
    const delivery = async () => (await alertsOf(accountId))[0]?.deliveries[0];

    it('mails those again whom SES took no mail for, and nobody else', async () => {
      let isThrottled = true;
      sending(async (address) => {
        if (isThrottled && /member-(4|20|34)@/.test(address))
          throw Object.assign(new Error('Maximum sending rate exceeded.'), { name: 'Throttling' });
        if (address === 'member-7@example.com') throw Object.assign(new Error(), { name: 'MessageRejected' });
        return {};
      });
      await run();
      expect(got).toHaveLength(31);
      expect(await delivery()).toMatchObject({ status: 'pending', attempts: 1, sentAt: null });
      expect((await delivery())?.error).toContain(
        'not sent to member-34@example.com (mail was not accepted (Throttling))',
      );
      isThrottled = false;
      later(1);
      await run();
      expect([got.length, new Set(got).size]).toEqual([34, 34]);
      const error = 'not sent to member-7@example.com (mail was not accepted (MessageRejected))';
      expect(await delivery()).toMatchObject({ status: 'sent', attempts: 2, error });
    });

    it('mails nobody again, but the last ten, after its worker was killed', async () => {
      const killed = Promise.withResolvers<true>();
      let mails = 0;
      sending(async () => {
        mails += 1;
        if (mails <= 25) return {};
        killed.resolve(true);
        // What a dead worker waits for never comes.
        return new Promise(() => {});
      });
      await Promise.race([run(), killed.promise]);
      await setImmediate();
      const before = [...got];
      sending(async () => ({}));
      later(5);
      await run();
      expect(new Set(got).size).toBe(35);
      expect(got.slice(before.length).filter((address) => before.includes(address))).toHaveLength(5);
      expect(await delivery()).toMatchObject({ status: 'sent', error: null });
    });
  });

  it('retries failed deliveries with growing pauses, and gives up in the end', async () => {
    const account = await newAccount(table);
    await createRule(account.accountId, {
      channels: ['email', 'webhook'],
      webhook: { url: 'https://hooks.example.com', secret: 'whsec_x' },
    });
    await addSpend(table, account.accountId, '2026-11-20T10:00:00Z', costing(11));
    postWebhook.mockRejectedValue(new WebhookError('it responded with 500'));
    sendMail.mockRejectedValueOnce(new MailError('mail was not accepted (Throttling)'));
    await run();
    expect((await alertsOf(account.accountId))[0]?.deliveries).toMatchObject([
      { channel: 'email', status: 'pending', attempts: 1, error: 'mail was not accepted (Throttling)' },
      { channel: 'webhook', status: 'pending', attempts: 1, error: 'it responded with 500' },
    ]);
    await run();
    expect(postWebhook).toHaveBeenCalledTimes(1);
    later(1);
    await run();
    expect(sendMail).toHaveBeenCalledTimes(2);
    expect((await alertsOf(account.accountId))[0]?.deliveries).toMatchObject([
      { channel: 'email', status: 'sent', attempts: 2, error: null },
      { channel: 'webhook', status: 'pending', attempts: 2 },
    ]);
    for (let i = 0; i < 20; i++) {
      later(6 * 60);
      await run();
    }
    expect(postWebhook).toHaveBeenCalledTimes(10);
    expect(sendMail).toHaveBeenCalledTimes(2);
    expect((await alertsOf(account.accountId))[0]?.deliveries[1]).toMatchObject({ status: 'failed', attempts: 10 });
    const [webhook, body] = postWebhook.mock.calls[0]!;
    expect(webhook).toEqual({ url: 'https://hooks.example.com', secret: 'whsec_x' });
    expect(body).not.toContain(account.accountId);
  });

  it('delivers the others of a shard where a later version wrote an alert', async () => {
    const { accountId } = await newAccount(table);
    await createRule(accountId);
    await addSpend(table, accountId, '2026-11-20T10:00:00Z', costing(11));
    sendMail.mockRejectedValueOnce(new MailError('Throttling'));
    await run();
    const [alert] = await alertsOf(accountId);
    const item = await findItem(table, alertKey(accountId, alert?.alertId ?? ''));
    const unknown = { ...item, ...alertKey('another', 'later'), type: 'of a later version', gsi1sk: '2026#later' };
    await table.call('PutItem', { TableName: table.name, Item: unknown });
    logger.error.mockClear();
    later(1);
    await run();
    expect(logger.error).toHaveBeenCalledWith('not delivered', { item: 'ALERT#later', error: expect.anything() });
    expect((await alertsOf(accountId))[0]?.deliveries[0]).toMatchObject({ status: 'sent', attempts: 2 });
  });

  it("sends several of an account's alerts at a time, but not all", async () => {
    const fired = Array.from({ length: 30 }, (_, index) => ({ alertId: `alert-${index}` }) as Alert);
    let [underWay, most, sent] = [0, 0, 0];
    const report = await judgeShards({
      rules: {
        async *activeInShard(shard) {
          if (shard === 0) yield { accountId: 'svc_a', ruleId: 'rule' } as Rule;
        },
      },
      progress: openEvaluationProgress(table),
      evaluate: async () => ({ fired, failures: [] }),
      deliver: async () => {
        most = Math.max(most, ++underWay);
        await setImmediate();
        underWay -= 1;
        sent += 1;
      },
      send: async () => {},
      now: () => now,
      logger,
    })(await startedJob(), () => 5 * 60_000);
    expect([report.alerts, sent, most]).toEqual([30, 30, 10]);
  });
});
