import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { emulatedObjects } from '../../fixtures/emulated-objects.ts';
import { interceptTable } from '../../fixtures/intercept-table.ts';
import { openAccountHolds } from '../../lambda/data/accounts/account-holds.ts';
import { openAccountItems } from '../../lambda/data/accounts/delete-items.ts';
import { type DayFileEntry, leavesAt, openDayFiles } from '../../lambda/data/requests/day-files.ts';
import { openRequests } from '../../lambda/data/requests/requests.ts';
import { openDayReturn } from '../../lambda/data/requests/return-day.ts';
import { openSpendCounters } from '../../lambda/data/spend/spend-counters.ts';
import { ROLLUP_MARK_SHARDS, requestPartition } from '../../lambda/data/table/keys.ts';
import { queryItems } from '../../lambda/data/table/read.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import { DAY_MS, HOUR_MS } from '../../lambda/domain/calendar/units.ts';
import { addDays, type Day, dayOf } from '../../lambda/domain/calendar/utc.ts';
import { UnavailableError } from '../../lambda/domain/errors.ts';
import { objectPrefixes } from '../../lambda/domain/object-keys.ts';
import { contributionOf } from '../../lambda/domain/spend/contribution.ts';
import { addCounters, type Counters, isZero, subtractCounters } from '../../lambda/domain/spend/counters.ts';
import type { RequestRecord } from '../../lambda/domain/spend/request-record.ts';
import { moveDay } from '../../lambda/exporter/move-day.ts';
import { openExporting } from '../../lambda/exporter/open-exporting.ts';
import type { ObjectStore } from '../../lambda/integrations/object-store.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { openRepricer } from '../../lambda/usage-recorder/reprice.ts';
import { newAccount } from '../data/new-account.ts';
import { type Random, randomFrom } from '../faults/random.ts';
import { examples, SEED, withSeed } from '../seed.ts';
import { forTests, tableForTests } from '../table-for-tests.ts';
import { closeEvent, openEvent, priceOfTokens } from '../usage-recorder/events.ts';

const table = tableForTests();
const objects = forTests(emulatedObjects);

const chance = (random: Random, share: number): boolean => random.below(1_000) < share * 1_000;

class Killed extends Error {}

/** The table and the bucket of a process that is killed before or after its n-th call to them. */
const mortal = (random: Random, lastCall: number): { readonly table: Table; readonly objects: ObjectStore } => {
  let calls = 0;
  const call = async <T>(send: () => Promise<T>): Promise<T> => {
    calls += 1;
    if (calls > lastCall || (calls === lastCall && chance(random, 0.5))) throw new Killed();
    const result = await send();
    if (calls >= lastCall) throw new Killed();
    return result;
  };
  const store = new Proxy(objects as ObjectStore, {
    get: (target, name) => {
      const method = Reflect.get(target, name);
      if (name === 'list') return method;
      return (...args: unknown[]) => call(() => method(...args));
    },
  });
  return { table: interceptTable(table, (_command, send) => call(send)), objects: store };
};

/** An account with requests of two days, the second so young that events still come, and its clock. */
const newWorld = async (random: Random) => {
  const { accountId } = await newAccount(table, 'STARTER');
  let nowMs = Date.parse('2026-11-20T06:00:00.000Z');
  const now = () => nowMs;
  const today = dayOf(new Date(nowMs).toISOString());
  const days = [addDays(today, -29), addDays(today, -20)] as const;
  const ids = new Set<string>();
  let n = 0;
  let factor = 1;
  const price: typeof priceOfTokens = (event) => {
    const priced = priceOfTokens(event);
    return { ...priced, costNanoUsd: priced.costNanoUsd && factor * priced.costNanoUsd };
  };

  /** Events of a day, some of them twice, some without an end, some with both. */
  const record = async (day: Day, count: number): Promise<void> => {
    const events = Array.from({ length: count }, () => {
      n += 1;
      const startedAt = new Date(Date.parse(day) + random.below(DAY_MS)).toISOString();
      const facts = { accountId, n, startedAt, ...(chance(random, 0.3) && { session: { id: `s${random.below(3)}` } }) };
      const event = chance(random, 0.1) ? openEvent(facts) : closeEvent({ ...facts, tokens: random.below(1_000) });
      return event;
    });
    const twice = events.filter(() => chance(random, 0.2));
    const recorder = openRecorder(table, { logger: { error: () => {} }, price: priceOfTokens, now });
    const results = await recorder([...events, ...twice]);
    await recorder(twice);
    for (const [index, event] of events.entries()) if (results[index]?.kind !== 'expired') ids.add(event.requestId);
  };

  const readable = (of: Table = table, from: ObjectStore = objects) => openRequests(of, now, from);
  const moverOf = (of: Table, from: ObjectStore) => moveDay(openExporting(of, from, 30, now), 7);
  const due = async (): Promise<DayFileEntry[]> => {
    const found: DayFileEntry[] = [];
    for (let shard = 0; shard < ROLLUP_MARK_SHARDS; shard++)
      for await (const entry of openDayFiles(table, now).due(shard))
        if (entry.accountId === accountId) found.push(entry);
    return found;
  };
  /** An hour's run, which may be killed. */
  const move = async (of: Table = table, from: ObjectStore = objects) => {
    const results: (string | undefined)[] = [];
    for (const entry of await due()) results.push(await moverOf(of, from)(entry, () => false));
    return results;
  };
  const range = { from: `${days[0]}T00:00:00.000Z`, to: `${addDays(days[1], 1)}T00:00:00.000Z` };
  const all = async (): Promise<RequestRecord[]> => {
    const records: RequestRecord[] = [];
    for await (const each of readable().all(accountId, range)) records.push(each);
    return records;
  };
  const reprice = async (of: Table, from: ObjectStore) => {
    factor += 1;
    const some = (await all()).filter(({ startedAt }) => dayOf(startedAt) === days[random.below(2)]);
    return openRepricer(of, price, from, now)(some, { dryRun: false });
  };

  /** Every request is in the log once, in its order, and found by its id; the records are what the counters count. */
  const check = async (): Promise<void> => {
    const shown: string[] = [];
    let cursor: string | undefined;
    const filter = chance(random, 0.3) ? { session: 's1' } : {};
    do {
      const page = await readable().page(accountId, { ...range, filter, limit: 1 + random.below(20), cursor });
      shown.push(...page.items.map(({ requestId }) => requestId));
      expect(page.unreadableRequests).toBe(0);
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    const records = await all();
    const newestFirst = [...ids].sort().reverse();
    expect(records.map(({ requestId }) => requestId)).toEqual(newestFirst);
    const passing = records.filter(({ session }) => filter.session === undefined || session?.id === filter.session);
    expect(shown).toEqual(passing.map(({ requestId }) => requestId));
    for (let sample = 0; sample < 5; sample++) {
      const record = records[random.below(records.length)] as RequestRecord;
      expect(await readable().find(accountId, record.requestId)).toEqual(record);
    }
  };
  const checkSums = async (): Promise<void> => {
    let sums: Counters = {};
    for (const record of await all()) sums = addCounters(sums, contributionOf(record).counters);
    for await (const { counters } of openSpendCounters(table).days(accountId, days[0], days[1], { consistent: true }))
      sums = subtractCounters(sums, counters);
    expect(isZero(sums)).toBe(true);
  };
  const inTable = async (): Promise<number> => {
    let items = 0;
    for (const day of days)
      for await (const _ of queryItems(table, {
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': requestPartition(accountId, day) },
      }))
        items += 1;
    return items;
  };
  const files = async (): Promise<string[]> => {
    const keys: string[] = [];
    for (const prefix of objectPrefixes(accountId)) for await (const page of objects.list(prefix)) keys.push(...page);
    return keys;
  };

  for (const day of days) {
    await record(day, 20 + random.below(30));
    await openDayFiles(table, now).enter(accountId, day, leavesAt(day, 30));
  }
  return {
    accountId,
    days,
    ids,
    range,
    now,
    advance: (ms: number) => {
      nowMs += ms;
    },
    record,
    move,
    reprice,
    check,
    checkSums,
    inTable,
    files,
    all,
    readable,
  };
};

const survive = async (work: Promise<unknown>): Promise<void> => {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof Killed || error instanceof UnavailableError)) throw error;
  }
};

describe('request records that leave the table', () => {
  it(
    'are found exactly once at each moment, whatever is killed, late, double or priced again',
    () =>
      withSeed(async () => {
        for (let history = 0; history < examples(3); history++) {
          const random = randomFrom(SEED + history);
          const world = await newWorld(random);
          for (let step = 0; step < 25; step++) {
            const process = mortal(
              randomFrom(random.below(2 ** 31)),
              chance(random, 0.7) ? 1 + random.below(60) : Number.POSITIVE_INFINITY,
            );
            const dice = random.below(10);
            const other = mortal(randomFrom(random.below(2 ** 31)), Number.POSITIVE_INFINITY);
            const move = () => survive(world.move(process.table, process.objects));
            if (dice < 3) await Promise.all([move(), world.check()]);
            else if (dice < 5) await Promise.all([move(), survive(world.reprice(other.table, other.objects))]);
            else if (dice < 7) await survive(world.reprice(process.table, process.objects));
            else if (dice < 8) await world.record(world.days[1], 1 + random.below(5));
            else world.advance(chance(random, 0.5) ? random.below(HOUR_MS) : random.below(3 * DAY_MS));
            await world.check();
            await world.checkSums();
          }
          // What was interrupted is gone on with: in the end no record is in the table, and all are readable.
          for (let day = 0; day < 25; day++) {
            world.advance(DAY_MS);
            await world.move();
          }
          expect(await world.inTable()).toBe(0);
          await world.check();
          await world.checkSums();
          // A price changes after all: what it changes is written once, and moves again.
          const { changes, failed } = await world.reprice(table, objects);
          expect(failed).toBe(0);
          expect((await world.inTable()) > 0).toBe(changes.length > 0);
          await world.checkSums();
          await world.check();
          // When the retention ends, the files go.
          for (let day = 0; day < 12; day++) {
            world.advance(DAY_MS);
            await world.move();
          }
          expect(await world.inTable()).toBe(0);
          await world.check();
          world.advance(91 * DAY_MS);
          expect(new Set(await world.move())).toEqual(new Set(['expired']));
          expect(await world.files()).toEqual([]);
          expect((await world.readable().page(world.accountId, { ...world.range, limit: 10 })).items).toEqual([]);
        }
      }),
    300_000,
  );

  it('stay in the table where the setting says so, and are never moved before 30 days', async () => {
    const world = await newWorld(randomFrom(SEED));
    expect(await world.move()).toEqual([]);
    world.advance(2 * DAY_MS);
    expect(await world.move()).toEqual(['moved']);
    const before = await world.inTable();
    expect(before).toBe(world.ids.size);
    world.advance(DAY_MS + 1);
    expect(await world.move()).toEqual(['cleared']);
    expect(await world.inTable()).toBeLessThan(before);
    expect(await world.files()).toHaveLength(1);
    await world.check();
  });

  const dearer = (bytes: Uint8Array): Uint8Array =>
    gzipSync(
      gunzipSync(bytes)
        .toString('utf8')
        .replaceAll(/"costNanoUsd":(?=\d)/g, '"costNanoUsd":1'),
    );

  it.each<[string, Partial<ObjectStore>]>([
    ['is cut', { put: (key, body, download) => objects.put(key, body.slice(0, body.length / 2), download) }],
    [
      'has other costs',
      {
        getRange: async (...range) => {
          const bytes = await objects.getRange(...range);
          return bytes && dearer(bytes);
        },
      },
    ],
  ])('stay where they are when the file that was written %s', async (_, damage) => {
    const world = await newWorld(randomFrom(SEED));
    world.advance(2 * DAY_MS);
    await expect(world.move(table, { ...(objects as ObjectStore), ...damage })).rejects.toThrow();
    await world.check();
    expect(await world.inTable()).toBe(world.ids.size);
    // The next run is not held up.
    expect(await world.move()).toEqual(['moved']);
    await world.check();
  });

  it('do not stay in the table next to their file where their return was killed for good', async () => {
    const world = await newWorld(randomFrom(SEED));
    world.advance(2 * DAY_MS);
    expect(await world.move()).toEqual(['moved']);
    world.advance(DAY_MS - 1);
    expect(await world.move()).toEqual([]);
    world.advance(2);
    expect(await world.move()).toEqual(['cleared']);
    const cleared = await world.inTable();
    const mortalTable = interceptTable(table, async (command, send) => {
      const result = await send();
      if (command.operation === 'PutItem') throw new Killed();
      return result;
    });
    const returnDay = openDayReturn(mortalTable, objects, world.now);
    await expect(returnDay(world.accountId, world.days[0])).rejects.toThrow(Killed);
    expect(await world.inTable()).toBeGreaterThan(cleared);
    world.advance(HOUR_MS);
    expect(await world.move()).toEqual(['cleared']);
    expect(await world.inTable()).toBe(cleared);
    await world.check();
  });

  it('get no file once the account is being deleted', async () => {
    const world = await newWorld(randomFrom(SEED));
    world.advance(2 * DAY_MS);
    await openAccountHolds(table).cancel(world.accountId, new Date(world.now()).toISOString());
    await world.move();
    expect(await world.files()).toEqual([]);
  });

  it('are deleted with the account, in the bucket as well', async () => {
    const world = await newWorld(randomFrom(SEED));
    world.advance(2 * DAY_MS);
    await world.move();
    expect(await world.files()).toHaveLength(1);
    const items = openAccountItems(table, {
      deleteUser: async () => {},
      deleteCustomer: async () => {},
      deleteBillCredential: async () => {},
      abortArchive: async () => {},
    });
    await items.removeAll(world.accountId, new Date(world.now()), () => false, null);
    for (const prefix of objectPrefixes(world.accountId)) await objects.deleteAll(prefix);
    world.advance(30 * DAY_MS);
    expect(await world.move()).toEqual([]);
    expect([await world.files(), await world.all(), await world.inTable()]).toEqual([[], [], 0]);
  });
});
