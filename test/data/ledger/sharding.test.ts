import { expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { cancelled, interceptTable } from '../../../fixtures/intercept-table.ts';
import { openLedger } from '../../../lambda/data/ledger/ledger.ts';
import { openRollupMarks } from '../../../lambda/data/ledger/rollup-marks.ts';
import { openSharding, shardMonth } from '../../../lambda/data/ledger/sharding.ts';
import { openRequests } from '../../../lambda/data/requests/requests.ts';
import { openRollup } from '../../../lambda/data/spend/rollup.ts';
import { openSpend } from '../../../lambda/data/spend/spend.ts';
import { openSpendCounters } from '../../../lambda/data/spend/spend-counters.ts';
import { update } from '../../../lambda/data/table/actions.ts';
import { ACCOUNT_SHARDS, monthKey, requestPartition, spendPartition } from '../../../lambda/data/table/keys.ts';
import type { Table } from '../../../lambda/data/table/table.ts';
import { write } from '../../../lambda/data/table/write.ts';
import { addCounters, type Counters } from '../../../lambda/domain/spend/counters.ts';
import type { UsageEvent } from '../../../lambda/domain/usage/usage-event.ts';
import { openRecorder } from '../../../lambda/usage-recorder/recorder.ts';
import { openRepricer } from '../../../lambda/usage-recorder/reprice.ts';
import { tableForTests } from '../../table-for-tests.ts';
import { closeEvent, openEvent, priceOfTokens } from '../../usage-recorder/events.ts';
import { ledgerSums, total } from '../../usage-recorder/ledger-sums.ts';
import { newAccount } from '../new-account.ts';

const NOW = Date.parse('2026-11-20T13:00:00Z');
const MONTH = '2026-11';
const range = { from: '2026-11-01T00:00:00.000Z', to: '2026-12-01T00:00:00.000Z' };

const table = tableForTests();

const at = (seconds: number): string => new Date(NOW - 3_600_000 + 1_000 * seconds).toISOString();
const closeAt = (accountId: string, seconds: number, facts = {}) =>
  closeEvent({ accountId, n: Math.abs(seconds), startedAt: at(seconds), ...facts });
const recorderOf = (of: Table = table, now = NOW) =>
  openRecorder(of, { logger: { error: () => {} }, price: priceOfTokens, now: () => now });
const kindsOf = async (record: ReturnType<typeof recorderOf>, events: readonly UsageEvent[]) => [
  ...new Set((await record(events)).map(({ kind }) => kind)),
];
const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, n) => from + n);

const itemsOf = async (pk: string): Promise<Record<string, unknown>[]> => {
  const { Items } = await table.call('Query', {
    TableName: table.name,
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': pk },
  });
  return Items ?? [];
};
const logOf = async (accountId: string): Promise<string[]> => {
  const ids: string[] = [];
  for await (const { requestId } of openRequests(table, () => NOW).all(accountId, range)) ids.push(requestId);
  return ids;
};
const sumsOf = async (accountId: string) => {
  const { days, hours, months } = await ledgerSums(table, accountId, [MONTH]);
  return { days: total(days), hours: total(hours), requests: months[MONTH] };
};

/** Requests recorded before the month is sharded, and the id of the last. */
const shardedAccount = async (count = 5) => {
  const { accountId } = await newAccount(table, 'PRO');
  const before = numbers(count).map((n) => closeAt(accountId, n));
  expect(await kindsOf(recorderOf(), before)).toEqual(['recorded']);
  expect(await shardMonth(table, accountId, MONTH)).toBe(before.at(-1)?.requestId);
  return { accountId, before };
};

it('spreads later requests over the shards of their day, and finds them again', async () => {
  const { accountId, before } = await shardedAccount();
  const after = numbers(300, 100).map((n) => closeAt(accountId, n));
  // The same recorder for both: it learns from its first transaction.
  expect(await kindsOf(recorderOf(), after)).toEqual(['recorded']);
  const counts = await Promise.all(
    numbers(ACCOUNT_SHARDS).map(
      async (shard) => (await itemsOf(requestPartition(accountId, '2026-11-20', shard))).length,
    ),
  );
  expect(counts.every((count) => count > 0 && count < 40)).toBe(true);
  const ids = [...before, ...after].map(({ requestId }) => requestId).reverse();
  expect(await logOf(accountId)).toEqual(ids);
  const requests = openRequests(table, () => NOW);
  for (const { requestId } of [...before, ...after.slice(0, 9)])
    expect(await requests.find(accountId, requestId)).toMatchObject({ accountId, requestId });
  expect(await sumsOf(accountId)).toMatchObject({ days: { requests: 305 }, hours: { requests: 305 }, requests: 305 });
});

it('counts each request once, whoever knows of the shards', async () => {
  const { accountId, before } = await shardedAccount();
  const [knowing, new1, new2] = [recorderOf(), recorderOf(), recorderOf()];
  const after = numbers(20, 100).map((n) => closeAt(accountId, n));
  const lost = numbers(5, 200).map((n) => openEvent({ accountId, n, startedAt: at(n) }));
  await knowing([...after, ...lost]);
  const sums = await sumsOf(accountId);
  expect(sums.requests).toBe(30);
  // It does know: few of them are in shard 0.
  expect((await itemsOf(requestPartition(accountId, '2026-11-20'))).length).toBeLessThan(12);
  // To a recorder that does not know, a request on record looks new; the open events are read first, in the wrong place.
  expect(await kindsOf(new1, [...before, ...after])).toEqual(['known']);
  expect(
    await kindsOf(
      new2,
      [...after, ...lost].map((event) => openEvent({ ...event, kind: 'open' } as object)),
    ),
  ).toEqual(['known']);
  expect(await kindsOf(knowing, [...before, ...after, ...lost])).toEqual(['known']);
  expect(await sumsOf(accountId)).toEqual(sums);

  // What was lost is completed where it is.
  const found = lost.map(({ requestId, startedAt }) => closeEvent({ accountId, requestId, startedAt }));
  expect(await kindsOf(recorderOf(), found)).toEqual(['recorded']);
  expect(await kindsOf(recorderOf(), found)).toEqual(['known']);
  expect(await sumsOf(accountId)).toMatchObject({ days: { inputTokens: 3_000 }, requests: 30 });

  // Repricing changes each record where it is.
  const records = [];
  for await (const record of openRequests(table).all(accountId, range)) records.push(record);
  const double: typeof priceOfTokens = (event) => ({ ...priceOfTokens(event), costNanoUsd: 1_400 });
  expect(await openRepricer(table, double)(records, { dryRun: false })).toMatchObject({ failed: 0 });
  expect((await sumsOf(accountId)).days).toMatchObject({ requests: 30, costComputedNanoUsd: 42_000 });
  expect(await logOf(accountId)).toHaveLength(30);
});

it('pages of any size have every request once, newest first, while the month is sharded', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.nat(3 * 86_400), { minLength: 40, maxLength: 60 }),
      fc.nat(30),
      fc.integer({ min: 9, max: 60 }),
      async (seconds, shardAt, limit) => {
        const { accountId } = await newAccount(table, 'PRO');
        const ascending = [...seconds].sort((a, b) => a - b).map((n) => closeAt(accountId, n - 2 * 86_400));
        const record = recorderOf();
        await record(ascending.slice(0, shardAt));
        await shardMonth(table, accountId, MONTH);
        await record(ascending.slice(shardAt));
        const requests = openRequests(table, () => NOW);
        const seen: string[] = [];
        for (let cursor: string | undefined | null; cursor !== null; ) {
          const page = await requests.page(accountId, { ...range, limit, cursor });
          seen.push(...page.items.map(({ requestId }) => requestId));
          cursor = page.nextCursor;
        }
        expect(seen).toEqual(ascending.map(({ requestId }) => requestId).reverse());
      },
    ),
    // A shorter counterexample would take minutes.
    { numRuns: 4, endOnFailure: true },
  );
});

it('a page reads each empty day of a sharded month once', async () => {
  const { accountId } = await newAccount(table, 'PRO');
  await shardMonth(table, accountId, MONTH);
  let queries = 0;
  const counting = interceptTable(table, (command, send) => {
    if (command.operation === 'Query') queries += 1;
    return send();
  });
  const read = () => openRequests(counting, () => NOW).page(accountId, { ...range, limit: 50 });
  expect(await read()).toEqual({ items: [], unreadableRequests: 0, nextCursor: null });
  expect(queries).toBe(1 + 30);
  await recorderOf()([closeAt(accountId, 1)]);
  queries = 0;
  expect((await read()).items).toHaveLength(1);
  expect(queries).toBe(1 + 30 + ACCOUNT_SHARDS);
});

it('a decision that a process left behind is made by the next that records', async () => {
  const { accountId } = await newAccount(table, 'PRO');
  const record = recorderOf();
  await record([closeAt(accountId, 1)]);
  await write(table, update(monthKey(accountId, MONTH), 'SET shardedAfter = :undecided', null, { undecided: '' }));
  expect(await kindsOf(record, [closeAt(accountId, 2), closeAt(accountId, 1)])).toEqual(['recorded', 'known']);
  expect(await logOf(accountId)).toEqual([2, 1].map((n) => closeAt(accountId, n).requestId));
  expect((await sumsOf(accountId)).requests).toBe(2);
});

it('a counter that another transaction has moves to another shard, once the month is sharded', async () => {
  // Where chance would leave it in the shard that it has.
  const random = jest.spyOn(Math, 'random').mockReturnValue(0);
  const { accountId } = await shardedAccount();
  const conflicting = { left: 30 };
  const busy = interceptTable(table, async (command, send) => {
    if (command.operation !== 'TransactWriteItems' || conflicting.left-- <= 0) return send();
    const codes = (command.input.TransactItems ?? []).map(({ Update }) => {
      const sk = String(Update?.Key?.['sk'] ?? '');
      const isFirstShard = /^(DAY|HOUR|MONTH)#/.test(sk) && !/#~?\d\d$/.test(sk.replace(/^MONTH#\d+-/, ''));
      return isFirstShard ? 'TransactionConflict' : 'None';
    });
    if (codes.every((code) => code === 'None')) return send();
    throw cancelled(codes);
  });
  const record = recorderOf(busy);
  for (const n of [100, 101, 102]) expect(await kindsOf(record, [closeAt(accountId, n)])).toEqual(['recorded']);
  random.mockRestore();
  const sks = (await itemsOf(spendPartition(accountId))).map(({ sk }) => String(sk));
  expect(sks.filter((sk) => sk.includes('#~')).length).toBeGreaterThan(0);
  const spendCounters = openSpendCounters(table);
  const days = [];
  for await (const counter of spendCounters.days(accountId, '2026-11-20', '2026-11-20')) days.push(counter);
  expect(days).toMatchObject([{ counters: { requests: 8 } }]);
  expect(await sumsOf(accountId)).toMatchObject({ hours: { requests: 8 }, requests: 8 });
});

it('an account whose transactions are set back often has its month sharded; another has not', async () => {
  const { accountId } = await newAccount(table, 'PRO');
  let now = NOW;
  const sharding = openSharding(table, () => now);
  for (const _ of numbers(19)) await sharding.noteContention(accountId, MONTH);
  now += 60_000;
  for (const _ of numbers(19)) await sharding.noteContention(accountId, MONTH);
  expect(sharding.shardedAfter(accountId, MONTH)).toBeUndefined();
  expect(await itemsOf(spendPartition(accountId))).toEqual([]);
  await sharding.noteContention(accountId, MONTH);
  expect(sharding.shardedAfter(accountId, MONTH)).toBeDefined();
  expect(await itemsOf(spendPartition(accountId))).toHaveLength(ACCOUNT_SHARDS - 1);
});

it.each([true, false])(
  'a day is closed for every shard, sharded before: %s, and who stood still since then marks it',
  async (isBefore) => {
    const { accountId } = isBefore ? await shardedAccount() : await newAccount(table, 'PRO');
    if (!isBefore)
      await kindsOf(
        recorderOf(),
        numbers(5).map((n) => closeAt(accountId, n)),
      );
    const tomorrow = NOW + 86_400_000;
    const mark = async () => {
      const marks = openRollupMarks(table, () => tomorrow);
      const found = [];
      for (const shard of numbers(8))
        for await (const each of marks.due(shard)) if (each.accountId === accountId) found.push(each);
      return found;
    };
    const [day] = await mark();
    expect(await openRollup(table, () => tomorrow).rollUp(day as never)).toBe('rolled-up');
    expect((await mark()).map(({ period }) => period)).not.toContain('2026-11-20');

    if (!isBefore) await shardMonth(table, accountId, MONTH);
    const stale = openSharding(table, () => NOW);
    await stale.learn(accountId, MONTH);
    // Whatever shard the counter moves to.
    stale.moveCounter(accountId, '', 0);
    const [record] = await recordsOf(accountId, closeAt(accountId, 300));
    const { written } = await openLedger(table, () => NOW, stale).commit([{ before: null, after: record as never }]);
    expect(written).toHaveLength(1);
    expect(await openRollupMarks(table).list(accountId, '2026-11-20', '2026-11-20')).toMatchObject([
      { period: '2026-11-20', dueAt: '2026-11-21T01:00:00.000Z' },
    ]);
    let counted: Counters = {};
    const spend = openSpend(table).read({ accountId, range: { granularity: 'day', ...range }, groupBy: [] });
    for await (const { counters } of spend) counted = addCounters(counted, counters);
    expect(counted).toMatchObject({ requests: 6 });
  },
);

/** The record of an event, made in another account and not written here. */
const recordsOf = async (accountId: string, event: ReturnType<typeof closeAt>) => {
  const other = await newAccount(table, 'PRO');
  await recorderOf()([{ ...event, accountId: other.accountId }]);
  const record = await openRequests(table, () => NOW).find(other.accountId, event.requestId);
  return [{ ...record, accountId }];
};
