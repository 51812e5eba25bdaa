import * as z from 'zod/mini';
import { addDays, type Day, dayOf } from '../../domain/calendar/utc.ts';
import { UnreadableItemError } from '../../domain/errors.ts';
import type { RequestRecord } from '../../domain/spend/request-record.ts';
import { type Bounds, requestPartition, spendPartition, timeRange } from '../table/keys.ts';
import { pageCursor } from '../table/page-cursor.ts';
import type { Table } from '../table/table.ts';
import { type ObjectReader, readBelow } from './day-file.ts';
import { mayHaveFile, openDayFiles } from './day-files.ts';
import { parseRequestItem, sessionMark } from './request-item.ts';
import { ID_SLACK_MS, lowestRequestId, readShardCounts } from './request-shards.ts';

const position = z.object({ day: z.iso.date(), requestId: z.nullable(z.uuid()) });

/** The end of a page: the next page begins below `requestId` on `day`, or at the end of `day` where `requestId` is null. */
export type RequestPosition = Readonly<z.infer<typeof position>>;

export const requestCursor = pageCursor(position);

/** Where the records of requests are: in the table, and those of old days as objects. @see lambda/data/requests/day-files.ts */
export interface RequestSource {
  readonly table: Table;
  readonly objects: ObjectReader;
  /** Milliseconds. */
  readonly now: () => number;
}

/** After empty days, the days before them are read at the same time: months without requests are skipped quickly. */
const MAX_DAYS_AT_ONCE = 16;
/**
 * `unreadable`: ids of records that this version cannot read. `below`: the id of a record of the page below which there may be more.
 */
type Page = { records: RequestRecord[]; unreadable: string[]; below: string | undefined; queries: number };

/** Sorts what can be read from what cannot. */
const parseItems = (items: readonly Record<string, unknown>[]): Pick<Page, 'records' | 'unreadable'> => {
  const records: RequestRecord[] = [];
  const unreadable: string[] = [];
  for (const item of items) {
    try {
      records.push(parseRequestItem(item));
    } catch (error) {
      if (!(error instanceof UnreadableItemError)) throw error;
      unreadable.push(String(item['sk']));
    }
  }
  return { records, unreadable };
};

interface DayQuery {
  readonly accountId: string;
  readonly day: Day;
  readonly lowest: string;
  readonly below: string;
  readonly limit: number;
  readonly session: string | undefined;
  readonly consistent: boolean;
}

const readShard = async ({ call, name }: Table, shard: number, query: DayQuery): Promise<Page> => {
  const { Items, LastEvaluatedKey } = await call('Query', {
    TableName: name,
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :lowest AND :below',
    ExpressionAttributeValues: {
      ':pk': requestPartition(query.accountId, query.day, shard),
      ':lowest': query.lowest,
      ':below': query.below,
      ...(query.session !== undefined && { ':mark': sessionMark(query.session) }),
    },
    ScanIndexForward: false,
    ConsistentRead: query.consistent,
    // A limit counts what the filter passes over, too.
    ...(query.session === undefined ? { Limit: query.limit } : { FilterExpression: 's = :mark' }),
  });
  return {
    ...parseItems(Items ?? []),
    below: LastEvaluatedKey?.['sk'] as string | undefined,
    queries: 1,
  };
};

/** Where there are records there is a counter of the day, for ever. One query tells that all shards of a day are empty. */
const hasCounters = async ({ call, name }: Table, accountId: string, day: Day): Promise<boolean> => {
  const { from, to } = timeRange('DAY', day, day);
  const { Items } = await call('Query', {
    TableName: name,
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
    ExpressionAttributeValues: { ':pk': spendPartition(accountId), ':from': from, ':to': to },
    ConsistentRead: true,
    Limit: 1,
  });
  return (Items ?? []).length > 0;
};

/**
 * A page of a day. Of several shards each returns its newest records. Below the point to which all of them have been read, records are
 * dropped and read again with the next page. Ids are spread evenly, so half as much again as each shard's share fills nearly every page.
 */
const readDay = async (table: Table, shards: number, query: DayQuery): Promise<Page> => {
  if (shards === 1) return readShard(table, 0, query);
  if (!(await hasCounters(table, query.accountId, query.day)))
    return { records: [], unreadable: [], below: undefined, queries: 1 };
  const limit = Math.ceil((1.5 * query.limit) / shards) + 4;
  const pages = await Promise.all(
    Array.from({ length: shards }, (_, shard) => readShard(table, shard, { ...query, limit })),
  );
  const below = pages
    .flatMap((page) => page.below ?? [])
    .sort()
    .at(-1);
  const isRead = (requestId: string) => below === undefined || requestId >= below;
  const records = pages
    .flatMap((page) => page.records)
    .filter(({ requestId }) => isRead(requestId))
    .sort((a, b) => (a.requestId < b.requestId ? 1 : -1));
  return { records, unreadable: pages.flatMap((page) => page.unreadable).filter(isRead), below, queries: shards + 1 };
};

/**
 * Requests of a range, newest first, from `position` on. Each step is one page of a day: its records, the ids of those that
 * cannot be read, the position to continue from, and how many queries it took. The caller stops when it has found enough or read enough.
 *
 * @param range instants, ISO 8601 UTC: `from` is included, `to` is not
 */
export async function* newestFirst(
  { table, objects, now }: RequestSource,
  accountId: string,
  range: Bounds,
  options: {
    readonly position: RequestPosition | null;
    readonly pageSize: number;
    /** Leaves out nearly all requests of other sessions, and reads a megabyte at a time. */
    readonly session?: string | undefined;
    readonly consistent?: boolean;
  },
): AsyncGenerator<{
  readonly records: RequestRecord[];
  readonly unreadable: string[];
  readonly next: RequestPosition | null;
  readonly queries: number;
}> {
  const [from, to] = [Date.parse(range.from), Date.parse(range.to)];
  const dayFiles = openDayFiles(table, now);
  const lowest = lowestRequestId(from - ID_SLACK_MS);
  const highest = lowestRequestId(to + ID_SLACK_MS);
  const isInRange = ({ startedAt }: RequestRecord) => Date.parse(startedAt) >= from && Date.parse(startedAt) < to;
  const firstDay = dayOf(range.from);
  let day = dayOf(new Date(to - 1).toISOString());
  let below: string | null = null;
  if (options.position && options.position.day <= day) ({ day, requestId: below } = options.position);
  const read = async (ofDay: Day, before: string | null): Promise<Page> => {
    const upper = before !== null && before < highest ? before : highest;
    // The table rejects a range that ends before it begins. A cursor of an earlier range may ask for one.
    if (upper < lowest) return { records: [], unreadable: [], below: undefined, queries: 0 };
    const { pageSize: limit, session, consistent = false } = options;
    const file = mayHaveFile(ofDay, now()) ? (await dayFiles.find(accountId, ofDay))?.file : undefined;
    if (file) return { ...(await readBelow(objects, file, { lowest, below: upper, session })), queries: 1 };
    const query = { accountId, day: ofDay, lowest, below: upper, limit, session, consistent };
    return readDay(table, shardsOf(ofDay), query);
  };
  if (day < firstDay) return;
  const shardsOf = await readShardCounts(table, accountId, { from: firstDay, to: day });
  let atOnce = 1;
  while (day >= firstDay) {
    const days: Day[] = [];
    for (let next = day; days.length < atOnce && next >= firstDay; next = addDays(next, -1)) {
      // The shards of one day are as many queries as should be made at once.
      if (days.length > 0 && shardsOf(next) > 1) break;
      days.push(next);
      if (shardsOf(next) > 1) break;
    }
    const startBelow = below;
    const pages = days.map((each, index) => read(each, index === 0 ? startBelow : null));
    // A caller that stops early does not read the rest: their errors must not be unhandled.
    for (const page of pages) page.catch(() => {});
    let found = false;
    for (const [index, each] of days.entries()) {
      const before = addDays(each, -1);
      const followingDay = before >= firstDay ? { day: before, requestId: null } : null;
      let seen: string | null = index === 0 ? startBelow : null;
      for (let page = await (pages[index] as Promise<Page>); ; page = await read(each, seen)) {
        // BETWEEN includes its end, and a position has the id of a request that was already returned.
        const records = page.records.filter((record) => record.requestId !== seen && isInRange(record));
        const unreadable = page.unreadable.filter((requestId) => requestId !== seen);
        found ||= records.length + unreadable.length > 0;
        seen = page.below ?? seen;
        const next = page.below ? { day: each, requestId: page.below } : followingDay;
        yield { records, unreadable, next, queries: page.queries };
        if (!page.below) break;
      }
    }
    day = addDays(day, -days.length);
    below = null;
    atOnce = found ? 1 : Math.min(2 * atOnce, MAX_DAYS_AT_ONCE);
  }
}
