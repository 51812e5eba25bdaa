import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { interceptTable } from '../../../fixtures/intercept-table.ts';
import { openLedger } from '../../../lambda/data/ledger/ledger.ts';
import { openRequests, type RequestFilter } from '../../../lambda/data/requests/requests.ts';
import { update } from '../../../lambda/data/table/actions.ts';
import { requestKey } from '../../../lambda/data/table/keys.ts';
import { write } from '../../../lambda/data/table/write.ts';
import { NotFoundError, UnreadableItemError } from '../../../lambda/domain/errors.ts';
import { tableForTests } from '../../table-for-tests.ts';
import { closeEvent, recordOf } from '../../usage-recorder/events.ts';

const NOW = Date.parse('2026-11-20T13:00:00Z');
const DAY_MS = 86_400_000;

const table = tableForTests();

let accounts = 0;
/** An account with requests at these times; the n-th has tag `even` or `odd`. */
const accountWith = async (times: readonly number[], expiresAt = NOW / 1_000 + 1) => {
  const accountId = `svc_${++accounts}`;
  const records = times.map((time, n) =>
    recordOf(
      {
        accountId,
        n,
        startedAt: new Date(time).toISOString(),
        tag: n % 2 ? 'odd' : 'even',
        status: n % 5 ? 200 : 429,
        ...(n % 3 && { client: n % 3 === 1 ? 'codex' : 'curl', metadata: { team: `t${n % 3}`, 'a:b': 'c' } }),
        ...(n % 4 && { session: { id: n % 4 === 3 ? 's2' : 's1', ...(n % 4 === 2 && { agentId: 'a1' }) } }),
      },
      { expiresAt },
    ),
  );
  await openLedger(table, () => NOW).commit(records.map((after) => ({ before: null, after })));
  const newest = [...records].sort((a, b) => (a.requestId < b.requestId ? 1 : -1)).map(({ requestId }) => requestId);
  return { accountId, records, newest };
};

const repository = () => openRequests(table, () => NOW);
const month = { from: '2026-10-31T00:00:00.000Z', to: '2026-11-21T00:00:00.000Z' };
const year = { from: '2026-01-01T00:00:00.000Z', to: '2027-01-01T00:00:00.000Z' };

/** Reads every page in turn. */
const readAll = async (
  accountId: string,
  query: { limit: number; filter?: RequestFilter; from: string; to: string },
) => {
  const ids: string[] = [];
  const sizes: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await repository().page(accountId, { ...query, cursor });
    ids.push(...page.items.map(({ requestId }) => requestId));
    sizes.push(page.items.length);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return { ids, sizes };
};

describe('openRequests.highest', () => {
  it('has the requests with most of a measure, of those that a filter passes; unknown ones last', async () => {
    const { accountId, records } = await accountWith(Array.from({ length: 12 }, (_, n) => NOW - n * DAY_MS));
    const measure = ({ requestId }: { readonly requestId: string }) => {
      const n = records.findIndex((record) => record.requestId === requestId);
      return n === 4 ? null : (n * 5) % 12;
    };
    const find = async (limit: number, filter: RequestFilter) => {
      const { items, ...page } = await repository().highest(accountId, { ...month, limit, filter, measure });
      expect(page).toEqual({ unreadableRequests: 0, examinedFrom: null });
      return items.map(({ requestId }) => records.findIndex((record) => record.requestId === requestId));
    };
    expect(await find(3, {})).toEqual([7, 2, 9]);
    expect(await find(9, { tag: 'even' })).toEqual([2, 6, 8, 10, 0, 4]);
    const ofClient = records.flatMap(({ client }, n) => (client === 'codex' && n !== 4 ? [n] : []));
    expect((await find(9, { contains: 'ODEX' })).filter((n) => n !== 4).sort()).toEqual(ofClient.sort());
  });

  it('says from when on it looked, where the range has more requests than it looks through', async () => {
    const { accountId, records } = await accountWith(Array.from({ length: 5_600 }, (_, n) => NOW - n * 1_000));
    const measure = ({ startedAt }: { readonly startedAt: string }) => -Date.parse(startedAt);
    const { items, examinedFrom } = await repository().highest(accountId, {
      ...month,
      limit: 1,
      filter: {},
      measure: (record) => 1e15 + measure(record),
    });
    expect(items[0]?.startedAt).toBe(examinedFrom);
    expect(records.filter(({ startedAt }) => startedAt >= (examinedFrom ?? '')).length).toBeGreaterThanOrEqual(5_000);
  });
});

describe('openRequests.page', () => {
  it('shows every request once, newest first, whatever the page size and range', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 20 * DAY_MS }), { maxLength: 30 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 0, max: 20 * DAY_MS }),
        async (ages, limit, oldest) => {
          const { accountId, records, newest } = await accountWith(ages.map((age) => NOW - age));
          const all = await readAll(accountId, { ...month, limit });
          expect(all.ids).toEqual(newest);
          expect(all.sizes.slice(0, -1).every((size) => size === limit)).toBe(true);
          const from = new Date(NOW - oldest).toISOString();
          const to = new Date(NOW - 1).toISOString();
          const inRange = new Set(
            records.filter(({ startedAt }) => startedAt >= from && startedAt < to).map(({ requestId }) => requestId),
          );
          if (from < to)
            expect((await readAll(accountId, { from, to, limit })).ids).toEqual(newest.filter((id) => inRange.has(id)));
        },
      ),
      { numRuns: 25 },
    );
  });

  it('shows the requests that pass the filter', async () => {
    const { accountId, records } = await accountWith(Array.from({ length: 30 }, (_, n) => NOW - n * 3_600_000));
    const ids = async (filter: RequestFilter) => (await readAll(accountId, { ...month, limit: 7, filter })).ids.sort();
    const matching = (matches: (record: (typeof records)[number]) => boolean) =>
      records
        .filter(matches)
        .map(({ requestId }) => requestId)
        .sort();
    expect(await ids({ tag: 'odd' })).toEqual(matching(({ tag }) => tag === 'odd'));
    expect(await ids({ tag: 'even', status: 429 })).toEqual(
      matching(({ tag, status }) => tag === 'even' && status === 429),
    );
    expect(await ids({ model: 'gpt-4o-2024-08-06' })).toHaveLength(30);
    expect(await ids({ model: 'gpt-4o' })).toEqual([]);
    expect(await ids({ tag: null })).toEqual([]);
    expect(await ids({ client: 'codex' })).toEqual(matching(({ client }) => client === 'codex'));
    expect(await ids({ client: null })).toEqual(matching(({ client }) => client === null));
    expect(await ids({ metadata: ['team:t1'] })).toEqual(matching(({ metadata }) => metadata['team'] === 't1'));
    expect(await ids({ metadata: ['team:t1', 'a:b:c'] })).toEqual(await ids({ metadata: ['team:t1'] }));
    expect(await ids({ metadata: ['team:t1', 'a:b:d'] })).toEqual([]);
    expect(await ids({ metadata: ['team:'] })).toEqual(matching(({ metadata }) => !metadata['team']));
    expect(await ids({ session: 's1' })).toEqual(matching(({ session }) => session?.id === 's1'));
    expect(await ids({ session: 's1', agent: 'a1' })).toEqual(matching(({ session }) => session?.agentId === 'a1'));
    expect(await ids({ session: 's1', agent: null })).toHaveLength(8);
    expect(await ids({ session: null })).toEqual(matching(({ session }) => session === null));
  });

  it('finds the requests of a session by a filter in the table', async () => {
    const { accountId, records } = await accountWith(Array.from({ length: 12 }, (_, n) => NOW - n * 50_000_000));
    const ofSession = records.filter(({ session }) => session?.id === 's1').map(({ requestId }) => requestId);
    const queried: object[] = [];
    const watched = interceptTable(table, ({ input }, send) => {
      queried.push(input);
      return send();
    });
    const { items } = await openRequests(watched, () => NOW).page(accountId, {
      ...{ ...month, limit: 50, filter: { session: 's1' } },
    });
    expect(items.map(({ requestId }) => requestId).sort()).toEqual([...ofSession].sort());
    expect(queried.some((input) => 'FilterExpression' in input)).toBe(true);
    // A page ends in the middle and goes on.
    const { ids } = await readAll(accountId, { ...month, limit: 2, filter: { session: 's1' } });
    expect(ids.sort()).toEqual([...ofSession].sort());
  });

  it('neither repeats nor misses while requests arrive', async () => {
    const { accountId, newest } = await accountWith(Array.from({ length: 9 }, (_, n) => NOW - 1_000 - n));
    const first = await repository().page(accountId, { ...year, limit: 4 });
    const after = recordOf({ accountId, n: 77, startedAt: new Date(NOW).toISOString() });
    await openLedger(table).commit([{ before: null, after }]);
    const second = await repository().page(accountId, { ...year, limit: 50, cursor: first.nextCursor ?? '' });
    expect([...first.items, ...second.items].map(({ requestId }) => requestId)).toEqual(newest);
  });

  it('shows a request whose id and startedAt are of two days on the day of its startedAt', async () => {
    const accountId = `svc_${++accounts}`;
    const [day, next] = ['2026-11-19T00:00:00.000Z', '2026-11-20T00:00:00.000Z'];
    const [before, after] = [
      {
        ...closeEvent({ accountId, n: 1, startedAt: '2026-11-20T00:00:00.001Z' }),
        startedAt: '2026-11-19T23:59:59.999Z',
      },
      {
        ...closeEvent({ accountId, n: 2, startedAt: '2026-11-19T23:59:59.999Z' }),
        startedAt: '2026-11-20T00:00:00.000Z',
      },
    ] as const;
    const records = [before, after].map((event) => recordOf(event));
    await openLedger(table, () => NOW).commit(records.map((record) => ({ before: null, after: record })));
    expect((await readAll(accountId, { from: day, to: next, limit: 10 })).ids).toEqual([before.requestId]);
    expect((await readAll(accountId, { from: next, to: year.to, limit: 10 })).ids).toEqual([after.requestId]);
    for (const { requestId } of [before, after])
      expect(await repository().find(accountId, requestId)).toMatchObject({ requestId });
  });

  it('continues across months without requests', async () => {
    const { accountId, newest } = await accountWith([NOW, NOW - 250 * DAY_MS, NOW - 300 * DAY_MS]);
    const { ids, sizes } = await readAll(accountId, { ...year, limit: 10 });
    expect(ids).toEqual(newest);
    expect(sizes).toEqual([3]);
  });

  it('does not show expired requests that the table still has', async () => {
    const { accountId, records } = await accountWith([NOW, NOW - 1], NOW / 1_000);
    expect((await readAll(accountId, { ...year, limit: 10 })).ids).toEqual([]);
    expect(await repository().find(accountId, records[0]?.requestId ?? '')).toBeUndefined();
  });

  it('leaves out and counts a request whose record cannot be read, once over all pages', async () => {
    const { accountId, records, newest } = await accountWith(Array.from({ length: 9 }, (_, n) => NOW - n * 1_000));
    const { requestId, startedAt } = records[3] as (typeof records)[number];
    await write(
      table,
      update(requestKey(accountId, startedAt.slice(0, 10), requestId), 'SET details = :damaged', null, {
        damaged: Buffer.from('damaged'),
      }),
    );
    // With a filter, more is read at once than a page shows.
    for (const [limit, filter] of [[1], [3], [4], [100], [2, { provider: 'openai' }]] as const) {
      const ids: string[] = [];
      let unreadable = 0;
      let cursor: string | undefined;
      do {
        const page = await repository().page(accountId, { ...month, filter: filter ?? {}, limit, cursor });
        ids.push(...page.items.map((item) => item.requestId));
        unreadable += page.unreadableRequests;
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined);
      expect({ limit, ids, unreadable }).toEqual({
        limit,
        ids: newest.filter((id) => id !== requestId),
        unreadable: 1,
      });
    }
    // Sums must not miss it.
    const readAllOf = async () => {
      for await (const _ of repository().all(accountId, month));
    };
    await expect(readAllOf()).rejects.toThrow(UnreadableItemError);
  });

  it('rejects a cursor of another account, and text that is no cursor', async () => {
    const { accountId } = await accountWith([NOW, NOW - 1, NOW - 2]);
    const { nextCursor } = await repository().page(accountId, { ...year, limit: 1 });
    for (const cursor of [nextCursor ?? '', 'x', '', Buffer.from('["2026-11-20",null]').toString('base64url')])
      await expect(repository().page('svc_someone_else', { ...year, limit: 1, cursor })).rejects.toThrow(NotFoundError);
  });

  it('accepts a cursor with a position outside the range', async () => {
    const { accountId } = await accountWith([NOW, NOW - 1, NOW - 2]);
    const { nextCursor } = await repository().page(accountId, { ...year, limit: 1 });
    const cursor = nextCursor ?? undefined;
    const later = { from: new Date(NOW + 1).toISOString(), to: year.to };
    const earlier = { from: year.from, to: new Date(NOW - 1).toISOString() };
    expect((await repository().page(accountId, { ...later, limit: 9, cursor })).items).toEqual([]);
    expect((await repository().page(accountId, { ...earlier, limit: 9, cursor })).items).toHaveLength(1);
  });
});

describe('openRequests.find', () => {
  it('finds a request by its id, and only for its own account', async () => {
    const { accountId, records } = await accountWith([NOW, Date.parse('2026-11-20T00:00:00.000Z')]);
    for (const record of records) {
      expect(await repository().find(accountId, record.requestId)).toEqual(record);
      expect(await repository().find('svc_someone_else', record.requestId)).toBeUndefined();
    }
  });

  it('finds a request whose id is of the day before its startedAt', async () => {
    const accountId = `svc_${++accounts}`;
    const before = closeEvent({ accountId, startedAt: '2026-11-19T23:59:59.999Z' });
    const after = recordOf({ ...before, startedAt: '2026-11-20T00:00:00.000Z' });
    await openLedger(table).commit([{ before: null, after }]);
    expect(await repository().find(accountId, before.requestId)).toEqual(after);
  });

  it('returns nothing for text that is no request id', async () => {
    expect(await repository().find('svc_1', 'b3b1c0de-0000-4000-8000-000000000000')).toBeUndefined();
    expect(await repository().find('svc_1', '../x')).toBeUndefined();
  });
});
