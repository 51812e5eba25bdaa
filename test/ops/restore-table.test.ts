import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { emulatedQueue } from '../../fixtures/emulated-queue.ts';
import { emulatedTable } from '../../fixtures/emulated-table.ts';
import { raceTable } from '../../fixtures/intercept-table.ts';
import { ruleOf } from '../../fixtures/rule-of.ts';
import { openAccountTerms } from '../../lambda/data/accounts/account-terms.ts';
import { openAccounts } from '../../lambda/data/accounts/accounts.ts';
import { auditEntry } from '../../lambda/data/accounts/audit-log.ts';
import { openOwnPrices } from '../../lambda/data/accounts/own-prices.ts';
import { openProjects } from '../../lambda/data/accounts/projects.ts';
import { openServiceKeys } from '../../lambda/data/accounts/service-keys.ts';
import { openRules } from '../../lambda/data/alerts/rules.ts';
import { openLimitValues } from '../../lambda/data/ledger/limit-values.ts';
import { update } from '../../lambda/data/table/actions.ts';
import * as keys from '../../lambda/data/table/keys.ts';
import { findItem } from '../../lambda/data/table/read.ts';
import { write } from '../../lambda/data/table/write.ts';
import { parseUsageEvent } from '../../lambda/usage-recorder/parse-event.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { carryOver } from '../../ops/restore/carry-over.ts';
import { kindOf } from '../../ops/restore/item-kinds.ts';
import { ofNoAccount, samples } from '../account-jobs/account-with-everything.ts';
import { newAccount, newKey } from '../data/new-account.ts';
import { forTests, tableForTests } from '../table-for-tests.ts';
import { closeEvent, openEvent, priceOfTokens } from '../usage-recorder/events.ts';
import { ledgerSums } from '../usage-recorder/ledger-sums.ts';
import { restorableDynamoDb } from './restorable-dynamodb.ts';
import { runOps } from './run-command.ts';

const DAMAGE = '2026-11-20T11:00:00.000Z';
const DAY = '2026-11-20';
const RESTORED = 'spend-restored';

const table = tableForTests();
const queues = forTests(emulatedQueue);
let restorable: Awaited<ReturnType<typeof restorableDynamoDb>>;
beforeAll(async () => {
  restorable = await restorableDynamoDb(table.endpoint);
});
afterAll(() => restorable.stop());

const run = (...args: string[]) =>
  runOps('restore-table', args, {
    env: {
      AWS_ENDPOINT_URL_DYNAMODB: restorable.endpoint,
      AWS_ENDPOINT_URL_SQS: queues.endpoint,
      TABLE_NAME: table.name,
      USAGE_QUEUE_URL: queues.queue,
    },
  });

it('says what the table of one machine lacks', async () => {
  const args = ['start', '--to', 'other-table', '--at', DAMAGE];
  const env = { AWS_ENDPOINT_URL_DYNAMODB: table.endpoint, TABLE_NAME: table.name };
  const { code, stderr } = await runOps('restore-table', args, { env });
  expect(code).toBe(1);
  expect(stderr).toContain('no point-in-time recovery');
});

const recorderAt = (name: string, now: string) =>
  openRecorder({ ...table, name }, { logger: { error: () => {} }, price: priceOfTokens, now: () => Date.parse(now) });

const sentBy = { session: { id: 'session-1', agentId: 'agent-1' }, client: 'claude-code' };

const addKey = (accountId: string, keyId: string) => newKey(table, accountId, { keyId, createdAt: DAMAGE });

describe('npm run restore-table', () => {
  it('restores a table, and carries over what happened since', async () => {
    const before = await newAccount(table, 'PRO');
    const { accountId } = before;
    await addKey(accountId, 'old-key');
    await recorderAt(
      table.name,
      '2026-11-20T10:00:00.000Z',
    )([
      closeEvent({ accountId, n: 1, startedAt: '2026-11-20T09:59:00.000Z' }),
      openEvent({ accountId, n: 2, startedAt: '2026-11-20T09:59:00.000Z' }),
    ]);
    await restorable.remember(table.name);

    // The damage: an account is gone, another's name is overwritten, a counter is wrong.
    await table.call('DeleteItem', { TableName: table.name, Key: keys.accountKey(accountId) });
    await write(
      table,
      update(keys.monthKey(accountId, '2026-11'), 'SET trackedRequests = :wrong', null, { wrong: 77 }),
    );
    // And life goes on.
    const after = await newAccount(table);
    await openProjects(table).create(
      { projectId: 'app', name: 'App', createdAt: DAMAGE },
      auditEntry(after.accountId, {}, { action: 'project.created' }, new Date(DAMAGE)),
    );
    await newKey(table, after.accountId, { keyId: 'of-app', projectId: 'app', createdAt: DAMAGE });
    await recorderAt(
      table.name,
      '2026-11-20T11:30:00.000Z',
    )([
      closeEvent({ accountId, n: 2, startedAt: '2026-11-20T09:59:00.000Z' }),
      closeEvent({ accountId, n: 3, startedAt: '2026-11-20T11:29:00.000Z', requestBytes: 0, ...sentBy }),
      closeEvent({ accountId: after.accountId, n: 4, startedAt: '2026-11-20T11:29:00.000Z', reading: { usage: null } }),
      openEvent({ accountId: after.accountId, n: 5, startedAt: '2026-11-20T11:14:00.000Z' }),
    ]);
    await table.call('PutItem', {
      TableName: table.name,
      Item: { ...keys.outboxKey(3, 'x', 'close'), event: '{}', parkedAt: DAMAGE },
    });

    restorable.recovery.status = 'DISABLED';
    expect(await run('start', '--to', RESTORED, '--at', DAMAGE)).toMatchObject({
      ...{ code: 1, stderr: `${table.name} has no point-in-time recovery.\n` },
    });
    restorable.recovery.status = 'ENABLED';
    for (const at of ['2026-10-01T00:00:00Z', '2026-11-20T12:00:01Z'])
      expect(await run('start', '--to', RESTORED, '--at', at)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('2026-11-01T00:00:00.000Z to 2026-11-20T12:00:00.000Z'),
      });
    expect(await run('start', '--to', RESTORED, '--at', DAMAGE, '--dry-run')).toMatchObject({ code: 0 });
    expect(restorable.calls).not.toContain('RestoreTableToPointInTime');
    const started = await run('start', '--to', RESTORED, '--at', DAMAGE);
    expect(started).toMatchObject({ code: 0, stdout: expect.stringContaining('"restoredTable": "spend-restored"') });
    expect(restorable.calls).toEqual(
      expect.arrayContaining([
        'RestoreTableToPointInTime',
        'UpdateTimeToLive',
        'UpdateContinuousBackups',
        'UpdateTable',
      ]),
    );
    expect((await run('start', '--to', RESTORED, '--at', DAMAGE)).stdout).toContain('is there already: taking up');
    expect(await run('start', '--to', RESTORED, '--at', '2026-11-20T10:30:00Z')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${RESTORED} is there already, and is not ${table.name} as of 2026-11-20T10:30`),
    });

    const preview = await run('carry', '--to', RESTORED, '--since', DAMAGE, '--dry-run');
    expect(preview).toMatchObject({ code: 0, stdout: expect.stringContaining('4 requests were recorded since') });
    expect(await queues.count(queues.queue)).toBe(0);
    const restored = { ...table, name: RESTORED };
    expect(await openAccounts(restored).find(after.accountId)).toBeUndefined();

    expect(await run('carry', '--to', RESTORED, '--since', DAMAGE)).toMatchObject({ code: 0 });
    const events = (await queues.bodies(queues.queue)).map(parseUsageEvent);
    expect(events).toHaveLength(4);
    expect(events).toContainEqual(expect.objectContaining(sentBy));
    await recorderAt(RESTORED, '2026-11-20T13:00:00.000Z')(events);

    expect(await openAccounts(restored).find(accountId)).toMatchObject({ plan: 'PRO', activeKeys: 2 });
    expect(await findItem(restored, keys.projectKey(after.accountId, 'app'))).toMatchObject({ keyCount: 1 });
    expect(await openAccounts(restored).find(after.accountId)).toMatchObject({ activeKeys: 2 });
    const { Item: outboxEntry } = await table.call('GetItem', {
      TableName: RESTORED,
      Key: keys.outboxKey(3, 'x', 'close'),
    });
    expect(outboxEntry).toMatchObject({ event: '{}' });
    const months = ['2026-11'];
    const sums = await ledgerSums(restored, accountId, months);
    expect(sums.months).toEqual({ '2026-11': 3 });
    expect(Object.values(sums.days)).toEqual([expect.objectContaining({ requests: 3, inputTokens: 300 })]);
    const others = await ledgerSums(restored, after.accountId, months);
    expect(others).toEqual(await ledgerSums(table, after.accountId, months));
    expect(others.months).toEqual({ '2026-11': 2 });

    // They were recorded at that very moment.
    expect(await run('carry', '--to', RESTORED, '--since', '2026-11-20T11:30:00Z')).toMatchObject({ code: 0 });
    const again = (await queues.bodies(queues.queue)).map(parseUsageEvent);
    expect(again).toHaveLength(4);
    await recorderAt(RESTORED, '2026-11-20T13:00:00.000Z')(again);
    expect(await ledgerSums(restored, accountId, months)).toEqual(sums);
  });

  it('leaves what was made in the new table while it reads', async () => {
    const { accountId } = await newAccount(table);
    const fresh = await emulatedTable();
    try {
      const newer = { ...keys.accountKey(accountId), status: 'newer' };
      const raced = raceTable(
        fresh,
        () => fresh.call('PutItem', { TableName: fresh.name, Item: newer }),
        ({ operation, input }) =>
          operation === 'PutItem' && input.Item?.['pk'] === newer.pk && input.Item['sk'] === newer.sk,
      );
      await carryOver(table, raced, { since: DAMAGE, take: [], dryRun: false, send: async () => {} });
      expect(await findItem(fresh, keys.accountKey(accountId))).toMatchObject({ status: 'newer' });
    } finally {
      await fresh.stop();
    }
  });

  it('lets the operator decide where both tables have an item and they differ', async () => {
    const { accountId } = await newAccount(table, 'PRO');
    await addKey(accountId, 'leaked');
    await restorable.remember(table.name);
    await openServiceKeys(table).revoke(accountId, 'leaked', { force: false, revokedAt: DAMAGE });
    await run('start', '--to', 'spend-again', '--at', DAMAGE);
    const again = { ...table, name: 'spend-again' };
    const statuses = async () => (await openServiceKeys(again).list(accountId)).map(({ status }) => status);

    await run('carry', '--to', 'spend-again', '--since', DAMAGE);
    expect((await statuses()).sort()).toEqual(['active', 'active']);
    await run('carry', '--to', 'spend-again', '--since', DAMAGE, '--take', 'key');
    expect((await statuses()).sort()).toEqual(['active', 'revoked']);
    expect(await openAccounts(again).find(accountId)).toMatchObject({ activeKeys: 1 });
  });

  it('lets the recorder know the first prices and the first limit of each that were made since', async () => {
    const { accountId } = await newAccount(table, 'PRO');
    await restorable.remember(table.name);
    const audit = auditEntry(accountId, {}, { action: 'price.created' }, new Date(DAMAGE));
    await openOwnPrices(table).change(accountId, (own) => ({ own, audit }));
    const config = { amount: 1, period: 'monthly', each: 'member' };
    const limit = ruleOf(accountId, { type: 'budget', config, createdAt: DAMAGE });
    await openRules(table).create(limit);
    await run('start', '--to', 'spend-with-prices', '--at', DAMAGE);
    expect(await run('carry', '--to', 'spend-with-prices', '--since', DAMAGE)).toMatchObject({ code: 0 });
    const restored = { ...table, name: 'spend-with-prices' };
    expect(await openAccountTerms(restored).find(accountId)).toMatchObject({ hasOwnPrices: true, countsValues: true });
    expect(await openLimitValues(restored).uncounted.find(accountId, limit.ruleId)).not.toHaveProperty('finishedAt');
    expect(await Array.fromAsync(openOwnPrices(restored).accounts())).toEqual([accountId]);
  });

  it('knows the item of every function of keys.ts: a new one needs a row in ops/restore/item-kinds.ts', () => {
    const ids = { accountId: 'a', mark: 'm', day: DAY };
    const made = Object.entries(keys).flatMap(([name, make]) => {
      const ofNone = name in ofNoAccount ? [(make as (...parts: string[]) => keys.Key)('a', 'b', 'c')] : [];
      return (samples[name]?.(ids) ?? ofNone).map((key) => ({ name, key }));
    });
    expect(made.length).toBeGreaterThan(60);
    expect(made.filter(({ key }) => kindOf(key) === undefined)).toEqual([]);
  });

  it.each([
    ['blocks', keys.blocksKey('a'), 'derived'],
    ['the time of the last judgement', keys.judgedAccountKey('a'), 'derived'],
    ['the sums of a session', keys.sessionCounterKey('a', DAY, 's', 0), 'derived'],
    ['a shard of a month', keys.monthKey('a', '2026-11', 3), 'derived'],
    ['a count for a rate limit', keys.requestCountKey('login#x', DAMAGE), 'derived'],
    ['a request in a shard', keys.requestKey('a', DAY, 'r', 3), 'request'],
    ['a project', keys.projectKey('a', 'p'), 'project'],
    ['a view', keys.savedViewKey('a', 'v'), 'view'],
    ['a raise that somebody asks for', keys.raiseKey('a', 'b', 'u'), 'rule'],
    ['a decision about savings', keys.savingKey('a', 'f'), 'saving'],
    ['a token', keys.apiTokenKey('hash'), 'token'],
    ['a token of an account', keys.accountApiTokenKey('a', 't'), 'token'],
    ['an invitation', keys.invitationKey('a', 'i'), 'invitation'],
    ['the mails of invitations', keys.invitationMailsKey('a', DAY), 'invitation'],
    ['a sign-on', keys.signOnKey('p'), 'sign-on'],
    ['a report', keys.reportKey('a', 'r'), 'report'],
    ['what a report said', keys.reportRunKey('a', 'r', '2026-11-16#weekly'), 'report'],
    ['own prices', keys.ownPricesKey('a'), 'price'],
    ['that an account has own prices', keys.pricedAccountKey('a'), 'price'],
    ['a bill', keys.billKey('a', 'openai', DAY), 'bill'],
    ['that a bill is read', keys.billConnectionKey('a', 'openai'), 'bill'],
    ['a version of the published prices', keys.priceVersionKey(3), 'derived'],
    ['an entry of the audit log', keys.auditKey('a', DAMAGE, 'e'), 'audit'],
    ['the code of an address', keys.addressCodeKey('u'), 'user'],
  ])('knows %s', (_, key, kind) => {
    expect(kindOf(key)).toBe(kind);
  });

  it('says how it is used', async () => {
    expect(await run('start', '--to', RESTORED)).toMatchObject({ code: 2, stderr: expect.stringContaining('at: ') });
    // As after the deployment, where TABLE_NAME is the restored one.
    expect(await run('carry', '--to', table.name, '--since', DAMAGE)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--to: is the table that --table names'),
    });
    expect(await run('finish')).toMatchObject({ code: 2, stderr: expect.stringContaining('start or carry') });
  });
});
