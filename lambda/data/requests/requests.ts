import { dayOf } from '../../domain/calendar/utc.ts';
import { UnreadableItemError } from '../../domain/errors.ts';
import { modelOf, type RequestRecord } from '../../domain/spend/request-record.ts';
import { batchRead } from '../table/batch.ts';
import { type Bounds, type Key, parseRequestKey, requestKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { noObjects, type ObjectReader, readOne } from './day-file.ts';
import { mayHaveFile, openDayFiles } from './day-files.ts';
import { parseRequestItem } from './request-item.ts';
import { newestFirst, type RequestPosition, requestCursor } from './request-pages.ts';
import { daysOfRequestId, possibleShards } from './request-shards.ts';

/** A name may contain a colon too, so pairs are compared as a whole. */
const hasPair = ({ metadata }: RequestRecord, pair: string): boolean =>
  Object.entries(metadata).some(([name, value]) => `${name}:${value}` === pair) ||
  (pair.endsWith(':') && !Object.hasOwn(metadata, pair.slice(0, -1)));

const hasPart = (record: RequestRecord, lowerCase: string): boolean =>
  [modelOf(record), record.tag, record.client, record.path, record.session?.id, record.requestId].some((text) =>
    text?.toLowerCase().includes(lowerCase),
  );

/** The values of a request that filters compare. */
const filteredValues = (record: RequestRecord) => ({
  provider: record.provider,
  /** The billed model. */
  model: modelOf(record),
  tag: record.tag,
  keyId: record.keyId,
  providerKey: record.providerKey,
  outcome: record.outcome,
  provenance: record.provenance,
  status: record.status,
  client: record.client,
  /** Id of the session. */
  session: record.session?.id ?? null,
  /** Id of the agent; null of requests of the main agent, and of those without a session. */
  agent: record.session?.agentId ?? null,
});

type FilteredValues = ReturnType<typeof filteredValues>;

/** Filters of the request log. A missing member lets all requests pass; null selects requests without a value. */
export type RequestFilter = { readonly [Name in keyof FilteredValues]?: FilteredValues[Name] | undefined } & {
  /** Only requests of these keys. */
  readonly keyIds?: ReadonlySet<string> | undefined;
  /** Pairs as `name:value`, all of which the request must have; an empty value selects requests without that name. */
  readonly metadata?: readonly string[] | undefined;
  /** A part of the model, tag, client, path, or of the session's or request's id, in any case. */
  readonly contains?: string | undefined;
};

const passes = (record: RequestRecord, { metadata = [], contains, keyIds, ...filter }: RequestFilter): boolean => {
  const values = filteredValues(record);
  return (
    Object.entries(filter).every(
      ([name, wanted]) => wanted === undefined || values[name as keyof FilteredValues] === wanted,
    ) &&
    (keyIds === undefined || (record.keyId !== null && keyIds.has(record.keyId))) &&
    metadata.every((pair) => hasPair(record, pair)) &&
    (contains === undefined || hasPart(record, contains.toLowerCase()))
  );
};

const isFiltered = (filter: RequestFilter): boolean => Object.values(filter).some((wanted) => wanted !== undefined);

export interface RequestPage {
  readonly items: readonly RequestRecord[];
  /** Requests that are left out because this version cannot read their records; whether they pass the filter is not known. */
  readonly unreadableRequests: number;
  /** Opaque, valid for this account only; null at the end. A page may be short, or even empty, and still have a next one. */
  readonly nextCursor: string | null;
}

/** Identifies a record: enough to build its key. */
export type RequestName = Pick<RequestRecord, 'accountId' | 'requestId' | 'startedAt'>;

interface ReadMany {
  readonly consistent: boolean;
  readonly shardOf?: (name: RequestName) => number;
}

const keysOf = (names: readonly RequestName[], shardOf: ReadMany['shardOf']): Key[] =>
  names.flatMap((name) => {
    const shards = shardOf ? [shardOf(name)] : possibleShards(name.requestId);
    return shards.map((shard) => requestKey(name.accountId, dayOf(name.startedAt), name.requestId, shard));
  });

/** Records that a page examines at most, so that a filter that few records pass cannot make it slow. */
const MAX_EXAMINED = 2_000;
/** A day without requests is a query too. A year of them must not end a page. */
const MAX_QUERIES = 512;
const FILTERED_PAGE_SIZE = 200;
/** The same where the table filters: each may read a megabyte. */
const MAX_QUERIES_OF_SESSION = 64;
/** Records that an order other than that of time looks through. */
const MAX_ORDERED = 5_000;
const ORDERED_PAGE_SIZE = 500;

/**
 * The request log. Expired records are not shown, even where the table still has them.
 *
 * @param now milliseconds
 * @param objects the bucket with the records of old days
 */
export const openRequests = (table: Table, now: () => number = Date.now, objects: ObjectReader = noObjects) => ({
  /** One request of the account; undefined where there is none. */
  find: async (accountId: string, requestId: string): Promise<RequestRecord | undefined> => {
    const id = requestId.toLowerCase();
    const days = daysOfRequestId(id);
    const old = days.filter((day) => mayHaveFile(day, now()));
    const entries = await Promise.all(old.map((day) => openDayFiles(table, now).find(accountId, day)));
    const files = new Map(entries.flatMap((entry) => (entry?.file ? [[entry.day, entry.file]] : [])));
    const keys = days
      .filter((day) => !files.has(day))
      .flatMap((day) => possibleShards(id).map((shard) => requestKey(accountId, day, id, shard)));
    const inTable = (await batchRead(table, keys, { consistent: true })).map(parseRequestItem);
    const inFiles = await Promise.all([...files.values()].map((file) => readOne(objects, file, id)));
    return [...inTable, ...inFiles].find((record) => record && record.expiresAt > now() / 1_000);
  },

  /**
   * Records in the table by name, expired or not, in no order; missing ones are left out. Names must differ.
   *
   * @param options.shardOf the shard of each, where the caller knows it; otherwise all that may hold it are read
   */
  findMany: async (names: readonly RequestName[], { consistent, shardOf }: ReadMany): Promise<RequestRecord[]> =>
    (await batchRead(table, keysOf(names, shardOf), { consistent })).map(parseRequestItem),

  /** Finds which of these have a record in the table, expired or not. It reads only keys. */
  present: async (
    names: readonly RequestName[],
    { consistent, shardOf }: ReadMany,
  ): Promise<Pick<RequestName, 'accountId' | 'requestId'>[]> =>
    (await batchRead(table, keysOf(names, shardOf), { consistent, keysOnly: true })).map((item) =>
      parseRequestKey(item as unknown as Key),
    ),

  /**
   * A page of the account's requests, newest first.
   *
   * @throws NotFoundError for a cursor of another account
   */
  page: async (
    accountId: string,
    query: Bounds & {
      readonly filter?: RequestFilter;
      readonly limit: number;
      readonly cursor?: string | undefined;
    },
  ): Promise<RequestPage> => {
    const filter = query.filter ?? {};
    const position = query.cursor === undefined ? null : requestCursor.read(accountId, query.cursor);
    const pageSize = isFiltered(filter) ? FILTERED_PAGE_SIZE : query.limit + 1;
    const session = filter.session ?? undefined;
    const maxQueries = session === undefined ? MAX_QUERIES : MAX_QUERIES_OF_SESSION;
    const items: RequestRecord[] = [];
    let unreadableRequests = 0;
    let examined = 0;
    let queries = 0;
    const end = (next: RequestPosition | null): RequestPage => ({
      items,
      unreadableRequests,
      nextCursor: next && requestCursor.write(accountId, next),
    });
    const options = { position, pageSize, session };
    for await (const { records, unreadable, next, ...step } of newestFirst(
      { table, objects, now },
      accountId,
      query,
      options,
    )) {
      for (const [index, record] of records.entries()) {
        if (record.expiresAt <= now() / 1_000 || !passes(record, filter)) continue;
        items.push(record);
        if (items.length < query.limit) continue;
        const last = index === records.length - 1;
        // The next page reads, and counts, what comes after this record.
        unreadableRequests += last ? unreadable.length : unreadable.filter((id) => id > record.requestId).length;
        return end(last ? next : { day: dayOf(record.startedAt), requestId: record.requestId });
      }
      unreadableRequests += unreadable.length;
      examined += records.length + unreadable.length;
      queries += step.queries;
      if (examined >= MAX_EXAMINED || queries >= maxQueries) return end(next);
    }
    return end(null);
  },

  /**
   * The requests with the most of a measure, among the newest ones of a range.
   *
   * @returns `examinedFrom`: the newest ones from this time on were looked through, ISO 8601; null where that is the whole range
   */
  highest: async (
    accountId: string,
    query: Bounds & {
      readonly filter: RequestFilter;
      readonly limit: number;
      /** Null if it is not known: such requests come last. */
      readonly measure: (record: RequestRecord) => number | null;
    },
  ) => {
    const { filter, limit, measure } = query;
    const session = filter.session ?? undefined;
    const found: { readonly record: RequestRecord; readonly value: number }[] = [];
    let [unreadableRequests, examined, queries] = [0, 0, 0];
    const maxQueries = session === undefined ? MAX_QUERIES : MAX_QUERIES_OF_SESSION;
    let examinedFrom: string | null = null;
    const pages = newestFirst({ table, objects, now }, accountId, query, {
      position: null,
      pageSize: ORDERED_PAGE_SIZE,
      session,
    });
    for await (const { records, unreadable, next, ...step } of pages) {
      for (const record of records)
        if (record.expiresAt > now() / 1_000 && passes(record, filter))
          found.push({ record, value: measure(record) ?? -1 });
      // The newest of equal ones come first: the sort is stable.
      found.sort((left, right) => right.value - left.value).splice(limit);
      unreadableRequests += unreadable.length;
      examined += records.length + unreadable.length;
      queries += step.queries;
      if (next && (examined >= MAX_ORDERED || queries >= maxQueries)) {
        examinedFrom = records.at(-1)?.startedAt ?? query.from;
        break;
      }
    }
    return { items: found.map(({ record }) => record), unreadableRequests, examinedFrom };
  },

  /**
   * Every request of a range, newest first.
   *
   * @param options.position where to go on
   * @throws UnreadableItemError: who adds records up must not miss one
   */
  async *all(
    accountId: string,
    range: Bounds,
    {
      position = null,
      consistent = false,
    }: { readonly position?: RequestPosition | null; readonly consistent?: boolean } = {},
  ): AsyncGenerator<RequestRecord> {
    const paging = { position, consistent, pageSize: 500 };
    const pages = newestFirst({ table, objects, now }, accountId, range, paging);
    for await (const { records, unreadable } of pages) {
      if (unreadable.length > 0) throw new UnreadableItemError(`${unreadable.length} records cannot be read.`);
      yield* records;
    }
  },
});
