import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { interceptTable, raceTable } from '../../fixtures/intercept-table.ts';
import { deleteAccount } from '../../lambda/account-jobs/delete-account.ts';
import { runJobs } from '../../lambda/account-jobs/run-jobs.ts';
import { openAccountDeletions } from '../../lambda/data/accounts/account-deletions.ts';
import { openAccountHolds } from '../../lambda/data/accounts/account-holds.ts';
import { auditEntry } from '../../lambda/data/accounts/audit-log.ts';
import { markDeleted, openAccountItems } from '../../lambda/data/accounts/delete-items.ts';
import { accountKey, accountUserKey, deletedAccountKey, requestKey } from '../../lambda/data/table/keys.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import { MINUTE_MS } from '../../lambda/domain/calendar/units.ts';
import { archiveObjectKey, exportKey } from '../../lambda/domain/object-keys.ts';
import type { UsageEvent } from '../../lambda/domain/usage/usage-event.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { silentLogger } from '../http/invoke.ts';
import { tableForTests } from '../table-for-tests.ts';
import { closeEvent, requestIdAt } from '../usage-recorder/events.ts';
import { fillAccount, type Ids, keyFunctions, ofNoAccount, samples } from './account-with-everything.ts';

const DAY = '2026-11-20';
// No hash has such a mark by chance.
const a: Ids = { accountId: '019a0000-0000-7000-8000-00000000000a', mark: '~a~', day: DAY };
const b: Ids = { accountId: '019a0000-0000-7000-8000-00000000000b', mark: '~b~', day: DAY };
const REQUESTED = new Date(`${DAY}T12:00:00.000Z`);
const DELETES_AT = '2026-11-27T12:00:00.000Z';
const PAUSE_MS = 20 * MINUTE_MS;

const table = tableForTests();
let now: Date;
let users: string[];
let customers: string[];
let aborted: string[];
let billCredentials: string[];
let objects: Set<string>;

const all = async () => {
  const { Items = [] } = await table.call('Scan', { TableName: table.name, ConsistentRead: true });
  return Items.sort((x, y) => `${x['pk']} ${x['sk']}`.localeCompare(`${y['pk']} ${y['sk']}`));
};
/** Items that name anything of an account. */
const itemsOf = async ({ accountId, mark }: Ids) =>
  (await all()).filter((item) => [accountId, mark].some((text) => JSON.stringify(item).includes(text)));

const objectsOf = ({ accountId, day }: Ids) => [
  archiveObjectKey(accountId, 'ar1', 'x.tar.gz'),
  exportKey(accountId, 'requests', 'csv', day),
];

const jobOver = (over: Table, pauseMs = PAUSE_MS) => {
  const deletions = openAccountDeletions(over);
  const remove = deleteAccount({
    deletions,
    holds: openAccountHolds(over),
    items: openAccountItems(over, {
      deleteUser: async (userId) => void users.push(userId),
      deleteCustomer: async (customerId) => void customers.push(customerId),
      deleteBillCredential: async (accountId, provider) => void billCredentials.push(`${accountId}/${provider}`),
      abortArchive: async (item) => void aborted.push(String((item['checkpoint'] as { uploadId: string }).uploadId)),
    }),
    markDeleted: (accountId, at) => markDeleted(over, accountId, at),
    objects: {
      deleteAll: async (prefix) => {
        for (const key of objects) if (key.startsWith(prefix)) objects.delete(key);
      },
    },
    pauseMs,
    now: () => now,
    logger: silentLogger(),
  });
  return runJobs(
    table,
    {
      deletion: {
        run: (accountId, _, isLate) => remove(accountId, isLate),
        putOff: async (accountId, _, dueAt) => {
          await openAccountDeletions(table).write(accountId, { failures: 1 }, dueAt(1).toISOString());
          return 1;
        },
      },
    },
    silentLogger(),
    () => now,
  );
};
/**
 * The table, which responds itself where a query is for a partition without items. Each pass of a deletion asks for more than a thousand
 * of these, a day each.
 */
const withoutEmptyPartitions = async (): Promise<Table> => {
  const partitions = new Set((await all()).map(({ pk }) => pk));
  return interceptTable(table, async (command, send) => {
    if (command.operation !== 'Query') return send();
    const { IndexName, ExpressionAttributeValues: values } = command.input;
    const pk = values?.[':pk'];
    return !IndexName && pk !== undefined && !partitions.has(pk) ? { Items: [], Count: 0 } : send();
  });
};
const run = async () => jobOver(await withoutEmptyPartitions())(() => 50_000);
const later = (minutes: number) => {
  now = new Date(now.getTime() + minutes * MINUTE_MS);
};

const request = () =>
  openAccountDeletions(table).request(
    {
      accountId: a.accountId,
      requestedAt: REQUESTED.toISOString(),
      requestedBy: 'ada@example.com',
      deletesAt: DELETES_AT,
    },
    `owner${a.mark}`,
    auditEntry(a.accountId, {}, { action: 'account.deletion_requested' }, REQUESTED),
  );

beforeEach(async () => {
  const items = await all();
  for (let at = 0; at < items.length; at += 25)
    await table.call('BatchWriteItem', {
      RequestItems: {
        [table.name]: items
          .slice(at, at + 25)
          .map((item) => ({ DeleteRequest: { Key: { pk: item['pk'], sk: item['sk'] } } })),
      },
    });
  now = REQUESTED;
  users = [];
  customers = [];
  aborted = [];
  billCredentials = [];
  objects = new Set([a, b].flatMap(objectsOf));
  await fillAccount(table, a);
  await fillAccount(table, b);
});

it('knows every kind of item: a new one needs a row in account-with-everything.ts', () => {
  expect([...Object.keys(samples), ...Object.keys(ofNoAccount)].sort()).toEqual(keyFunctions().sort());
});

describe('the deletion of an account', () => {
  it('waits for the end of the grace', async () => {
    await request();
    const before = await all();
    now = new Date(Date.parse(DELETES_AT) - 1);
    await run();
    expect(await all()).toEqual(before);
  });

  it('refuses keys first, then deletes everything, and nothing of another account', async () => {
    await request();
    const other = await itemsOf(b);
    // Somebody who is of another account by now.
    const moved = { ...accountUserKey(a.accountId, 'owner~b~'), userId: 'owner~b~' };
    await table.call('PutItem', { TableName: table.name, Item: moved });
    now = new Date(DELETES_AT);
    await run();
    const statuses = (await itemsOf(a)).flatMap(({ accountStatus, status }) => accountStatus ?? status ?? []);
    expect(statuses).toEqual(expect.arrayContaining(['cancelled']));
    expect((await itemsOf(a)).filter(({ pk }) => String(pk).startsWith('KEY#'))).toEqual(
      [1, 2].map(() => expect.objectContaining({ accountStatus: 'cancelled' })),
    );
    expect(users).toEqual([]);

    later(20);
    await run();
    // A record that was in flight.
    const late = { ...requestKey(a.accountId, '2026-11-27', 'late') };
    await table.call('PutItem', { TableName: table.name, Item: late });
    for (const _ of [1, 2, 3]) {
      later(20);
      await run();
    }
    const left = await itemsOf(a);
    expect(left.map(({ pk, sk, expiresAt }) => ({ pk, sk, expires: typeof expiresAt }))).toEqual([
      { ...deletedAccountKey(a.accountId), expires: 'number' },
    ]);
    expect(Object.keys(left[0] ?? {}).sort()).toEqual(['expiresAt', 'pk', 'sk']);
    expect(await itemsOf(b)).toEqual(other);
    expect([...new Set(users)].sort()).toEqual([`member~a~`, `owner~a~`, `program~a~`]);
    expect([...new Set(customers)].sort()).toEqual(['cus_former~a~', 'cus_~a~']);
    expect([...new Set(aborted)]).toEqual(['upload~a~']);
    expect([...new Set(billCredentials)]).toEqual([`${a.accountId}/openai`]);
    expect([...objects]).toEqual(objectsOf(b));
    // There is nothing more to do.
    await run();
  });

  it('does not begin where the owner cancels it in its last moment', async () => {
    await request();
    now = new Date(DELETES_AT);
    const audit = auditEntry(a.accountId, {}, { action: 'account.deletion_cancelled' }, now);
    const raced = raceTable(
      await withoutEmptyPartitions(),
      () => openAccountDeletions(table).cancel(a.accountId, '2026-11-27T11:59:59.999Z', audit),
      ({ operation }) => /^(Put|Update|Transact)/.test(operation),
    );
    await jobOver(raced)(() => 50_000);
    const left = await itemsOf(a);
    expect(await openAccountDeletions(table).find(a.accountId)).toBeUndefined();
    expect(left.filter(({ accountStatus, status }) => [accountStatus, status].includes('cancelled'))).toEqual([]);
    expect(left.filter(({ pk }) => pk === deletedAccountKey(a.accountId).pk)).toEqual([]);
  });

  it('drops usage events that come later, and reports of untracked requests', async () => {
    const untracked = {
      version: 1,
      kind: 'untracked',
      from: `${DAY}T12:00:00.000Z`,
      to: `${DAY}T12:20:00.000Z`,
    } as const;
    const events: UsageEvent[] = [a, b].flatMap(({ accountId }) => [
      closeEvent({ n: 1, accountId }),
      { ...untracked, requestId: requestIdAt(untracked.to, 2), requests: 40, accountId },
    ]);
    const record = () => openRecorder(table, { logger: silentLogger(), now: () => now.getTime() })(events);
    await request();
    now = new Date(DELETES_AT);
    await run();
    const closing = await itemsOf(a);
    expect((await record()).map(({ kind }) => kind)).toEqual(['unowned', 'unowned', 'recorded', 'noted']);
    expect(await itemsOf(a)).toEqual(closing);
    for (const _ of [1, 2, 3]) {
      later(20);
      await run();
    }
    expect((await record()).map(({ kind }) => kind)).toEqual(['unowned', 'unowned', 'known', 'noted']);
    expect(await itemsOf(a)).toHaveLength(1);
  });

  it('comes to the same end wherever a run dies, and says that it failed', async () => {
    await request();
    const other = await itemsOf(b);
    now = new Date(DELETES_AT);
    await run();
    let deaths = 0;
    for (let calls = 1; (await openAccountDeletions(table).find(a.accountId)) !== undefined; calls += 3) {
      later(61);
      let left = calls;
      const dying = interceptTable(await withoutEmptyPartitions(), async ({ operation }, send) => {
        if (operation === 'BatchWriteItem' && left-- === 0) throw new Error('The process died.');
        return send();
      });
      await jobOver(dying)(() => 50_000).catch((error: Error) => {
        expect(error.message).toBe('1 jobs failed.');
        deaths += 1;
      });
      expect(calls).toBeLessThan(100);
    }
    expect(deaths).toBeGreaterThan(2);
    expect((await itemsOf(a)).map(({ pk }) => pk)).toEqual([deletedAccountKey(a.accountId).pk]);
    expect(await itemsOf(b)).toEqual(other);
    expect([...new Set(users)].sort()).toEqual([`member~a~`, `owner~a~`, `program~a~`]);
  });

  it('keeps the list of sharded months until their requests are deleted, however long that takes', async () => {
    await request();
    now = new Date(DELETES_AT);
    await run();
    later(20);
    const slow = requestKey(a.accountId, DAY, 'q2', 31).pk;
    const dying = interceptTable(await withoutEmptyPartitions(), async ({ operation, input }, send) => {
      if (!JSON.stringify(input).includes(slow)) return send();
      await sleep(500);
      if (operation === 'BatchWriteItem') throw new Error('The process died.');
      return send();
    });
    await expect(jobOver(dying)(() => 50_000)).rejects.toThrow('1 jobs failed.');
    for (const _ of [1, 2]) {
      later(20);
      await run();
    }
    expect((await itemsOf(a)).map(({ pk }) => pk)).toEqual([deletedAccountKey(a.accountId).pk]);
  });

  it('stops when its time is over, and goes on in the next run where it was', async () => {
    await request();
    now = new Date(DELETES_AT);
    await run();
    later(20);
    let runs = 0;
    while ((await openAccountDeletions(table).find(a.accountId)) !== undefined) {
      // Late before it has looked into a tenth of the partitions, and once a login was removed, which takes the longest.
      let looks = 100;
      const removed = users.length;
      await jobOver(await withoutEmptyPartitions(), 0)(() => (looks-- > 0 && users.length === removed ? 50_000 : 0));
      later(1);
      runs += 1;
      expect(runs).toBeLessThan(60);
    }
    expect(runs).toBeGreaterThan(10);
    expect((await itemsOf(a)).length).toBe(1);
  });

  it('looks again after a pass that found something in an earlier run only', async () => {
    const deletions = openAccountDeletions(table);
    await request();
    now = new Date(DELETES_AT);
    await run();
    later(20);
    await run();
    const next = accountKey(a.accountId).pk;
    await deletions.write(a.accountId, { next, found: true }, now.toISOString());
    await run();
    expect(await deletions.find(a.accountId)).toMatchObject({ next: null, found: false });
    later(20);
    await run();
    expect(await deletions.find(a.accountId)).toBeUndefined();
  });

  it('is cancelled until then, and not after', async () => {
    const deletions = openAccountDeletions(table);
    const entry = () => auditEntry(a.accountId, {}, { action: 'account.deletion_cancelled' }, now);
    await request();
    await expect(request()).rejects.toThrow(/already/);
    await deletions.cancel(a.accountId, now.toISOString(), entry());
    expect(await deletions.find(a.accountId)).toBeUndefined();
    await expect(deletions.cancel(a.accountId, now.toISOString(), entry())).rejects.toThrow(/not going to be deleted/);
    now = new Date(DELETES_AT);
    const before = await itemsOf(a);
    await run();
    expect(await itemsOf(a)).toEqual(before);

    await request();
    await expect(deletions.cancel(a.accountId, now.toISOString(), entry())).rejects.toThrow(/has begun/);
  });
});
