import { describe, expect, it, jest } from '@jest/globals';
import { uuidv7 } from 'uuidv7';
import { openLastUse } from '../../lambda/data/accounts/key-usage.ts';
import { openServiceKeys } from '../../lambda/data/accounts/service-keys.ts';
import { openAlerts } from '../../lambda/data/alerts/alerts.ts';
import { openBillingAccounts } from '../../lambda/data/billing/billing-accounts.ts';
import { openPeriodUsage } from '../../lambda/data/billing/billing-usage.ts';
import { openRollupMarks } from '../../lambda/data/ledger/rollup-marks.ts';
import { update } from '../../lambda/data/table/actions.ts';
import { accountKey, accountServiceKeyKey, monthKey } from '../../lambda/data/table/keys.ts';
import { write } from '../../lambda/data/table/write.ts';
import { keyUse, planUse, withObservers } from '../../lambda/usage-recorder/observers.ts';
import { checkPlans, openPlanAlerts } from '../../lambda/usage-recorder/plan-alerts.ts';
import type { Recorder } from '../../lambda/usage-recorder/recorder.ts';
import { addSpend } from '../data/add-spend.ts';
import { newAccount } from '../data/new-account.ts';
import { tableForTests } from '../table-for-tests.ts';

const table = tableForTests();

describe('openPlanAlerts', () => {
  let now = new Date('2026-11-20T16:30:00.000Z');
  const check = () =>
    openPlanAlerts({
      findAccount: openBillingAccounts(table).find,
      usage: openPeriodUsage(table),
      notify: openAlerts(table).notify,
      newAlertId: uuidv7,
      now: () => now,
    });
  const use = (accountId: string, requests: number) =>
    write(
      table,
      update(monthKey(accountId, now.toISOString().slice(0, 7)), 'ADD trackedRequests :requests', null, {
        requests: requests,
      }),
    );
  const notices = async (accountId: string) =>
    (await openAlerts(table).page(accountId, { limit: 50 })).items.map(({ ruleName, figure }) => [ruleName, figure]);

  it('notifies at 80 % and at 100 %, once each in a month, with several checkers', async () => {
    const { accountId } = await newAccount(table);
    const [one, other] = [check(), check()];
    const look = async () => {
      await Promise.all([one(accountId, now.toISOString()), other(accountId, now.toISOString())]);
      now = new Date(now.getTime() + 61_000);
    };
    await use(accountId, 7_999);
    await look();
    expect(await notices(accountId)).toEqual([]);
    await use(accountId, 1);
    await look();
    await look();
    expect(await notices(accountId)).toEqual([["80% of the plan's tracked requests", 8_000]]);
    await use(accountId, 2_500);
    await look();
    await look();
    expect(await notices(accountId)).toEqual([
      ["100% of the plan's tracked requests", 10_500],
      ["80% of the plan's tracked requests", 8_000],
    ]);
    now = new Date('2026-12-01T10:00:00.000Z');
    await use(accountId, 9_000);
    await look();
    expect(await notices(accountId)).toHaveLength(3);
  });

  it('uses the limit of the plan', async () => {
    const { accountId } = await newAccount(table, 'PRO');
    await use(accountId, 1_200_000);
    await check()(accountId, now.toISOString());
    expect(await notices(accountId)).toEqual([["100% of the plan's tracked requests", 1_200_000]]);
  });

  it('counts the requests of a paid plan by the period of its subscription, not by calendar month', async () => {
    const { accountId } = await newAccount(table, 'STARTER');
    const subscribe = (periodStart: string, periodEnd: string) =>
      write(
        table,
        update(accountKey(accountId), 'SET subscription = :subscription', null, {
          subscription: { id: 'sub_1', periodStart, periodEnd },
        }),
      );
    const lookAt = async (at: string, recordedFor = at) => {
      now = new Date(at);
      await check()(accountId, recordedFor);
    };
    await subscribe('2026-11-17T14:23:00.000Z', '2026-12-17T14:23:00.000Z');
    await addSpend(table, accountId, '2026-11-16T12:00:00.000Z', { requests: 70_000 });
    await addSpend(table, accountId, '2026-11-20T12:00:00.000Z', { requests: 60_000 });
    await lookAt('2026-11-20T16:30:00.000Z');
    expect(await notices(accountId)).toEqual([]);

    await addSpend(table, accountId, '2026-12-02T12:00:00.000Z', { requests: 30_000 });
    await lookAt('2026-12-02T13:00:00.000Z', '2026-11-17T14:00:00.000Z');
    expect(await notices(accountId)).toEqual([]);
    await lookAt('2026-12-02T13:00:00.000Z');
    expect(await openAlerts(table).page(accountId, { limit: 50 })).toMatchObject({
      items: [
        {
          figure: 90_000,
          limit: 100_000,
          period: { name: 'monthly', start: '2026-11-17T14:23:00.000Z', end: '2026-12-17T14:23:00.000Z' },
          summary: expect.stringContaining('the billing period that ends on 2026-12-17'),
        },
      ],
    });

    // The period is over, and Stripe has not reported the next one yet.
    await addSpend(table, accountId, '2026-12-17T13:00:00.000Z', { requests: 30_000 });
    await lookAt('2026-12-17T14:23:00.000Z');
    expect(await notices(accountId)).toHaveLength(1);
    await subscribe('2026-12-17T14:23:00.000Z', '2027-01-17T14:23:00.000Z');
    await addSpend(table, accountId, '2026-12-18T12:00:00.000Z', { requests: 90_000 });
    await lookAt('2026-12-18T13:00:00.000Z');
    expect(await notices(accountId)).toHaveLength(2);
  });

  it('notifies in a later run after a burst that is followed by silence', async () => {
    now = new Date('2027-01-20T23:59:30.000Z');
    const { accountId } = await newAccount(table);
    const record = check();
    const marks = openRollupMarks(table);
    const errors = jest.fn();
    let fails = false;
    const later = async () => {
      now = new Date(now.getTime() + 3_600_000);
      const checkPlan = fails ? () => Promise.reject(new TypeError(accountId)) : check();
      await checkPlans({ marks, checkPlan, logger: { error: errors } })(() => false);
    };
    // Far from the limit, so the recorder looks again in a minute at the earliest.
    await record(accountId, now.toISOString());
    await addSpend(table, accountId, now.toISOString(), {});
    await use(accountId, 8_500);
    await record(accountId, now.toISOString());
    expect(await notices(accountId)).toEqual([]);
    // A failure is for the next run, and names no account.
    fails = true;
    await later();
    expect(errors).toHaveBeenCalledWith('Plan usage not checked', { errorName: 'TypeError' });
    fails = false;
    await later();
    expect(await notices(accountId)).toEqual([["80% of the plan's tracked requests", 8_500]]);
    await later();
    expect(await notices(accountId)).toHaveLength(1);
  });

  it('does not check every batch of an account that is far from its limit', async () => {
    const usage = jest.fn(async () => 10);
    const look = openPlanAlerts({
      findAccount: async () => ({ plan: 'FREE', subscription: null }),
      usage,
      notify: async () => true,
      newAlertId: uuidv7,
      now: () => now,
    });
    for (let i = 0; i < 10; i++) await look('svc_x', now.toISOString());
    expect(usage).toHaveBeenCalledTimes(1);
  });
});

describe('openLastUse', () => {
  const lastUsed = async (accountId: string) => (await openServiceKeys(table).listWhole(accountId))[0]?.lastUsedAt;

  it('notes the latest use, some minutes coarse', async () => {
    const { accountId, keyId } = await newAccount(table);
    const [key, note] = [accountServiceKeyKey(accountId, keyId), openLastUse(table)];
    await note(key, '2026-11-20T10:00:00.000Z');
    await note(key, '2026-11-20T10:04:00.000Z');
    expect(await lastUsed(accountId)).toBe('2026-11-20T10:00:00.000Z');
    await note(key, '2026-11-20T10:05:00.000Z');
    expect(await lastUsed(accountId)).toBe('2026-11-20T10:05:00.000Z');
    await openLastUse(table)(key, '2026-11-20T09:00:00.000Z');
    expect(await lastUsed(accountId)).toBe('2026-11-20T10:05:00.000Z');
  });

  it('does not create a key that does not exist', async () => {
    const { accountId } = await newAccount(table);
    await openLastUse(table)(accountServiceKeyKey(accountId, 'gone'), '2026-11-20T10:00:00.000Z');
    expect(await openServiceKeys(table).list(accountId)).toHaveLength(1);
  });
});

describe('withObservers', () => {
  it('returns the results unchanged when everything fails', async () => {
    const results = [
      { kind: 'recorded', record: { accountId: 'a', keyId: 'k', startedAt: '2026-11-20T10:00:00Z' } },
      { kind: 'recorded', record: { accountId: 'a', keyId: null, startedAt: '2026-11-20T11:00:00Z' } },
      { kind: 'known' },
    ] as unknown as Awaited<ReturnType<Recorder>>;
    const noteKey = jest.fn(async (..._: unknown[]) => Promise.reject(new Error('table is gone')));
    const checkPlan = jest.fn(async (..._: unknown[]) => Promise.reject(new Error('table is gone')));
    const broken = { name: 'broken', observe: () => Promise.reject(new Error('no price book')) };
    const logger = { error: jest.fn() };
    const record = withObservers(async () => results, [broken, keyUse(noteKey), planUse(checkPlan)], logger);
    expect(await record([])).toBe(results);
    expect(noteKey.mock.calls).toEqual([[accountServiceKeyKey('a', 'k'), '2026-11-20T10:00:00Z']]);
    expect(checkPlan.mock.calls).toEqual([['a', '2026-11-20T11:00:00Z']]);
    expect(logger.error.mock.calls).toEqual(
      ['broken', 'key use', 'plan use'].map((observer) => ['Observer failed', { observer, errorName: 'Error' }]),
    );
  });
});
