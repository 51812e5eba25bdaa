import { uuidv7 } from 'uuidv7';
import * as z from 'zod/mini';
import type { AuditFact, AuditSource } from '../../domain/accounts/audit.ts';
import { DAY_SECONDS } from '../../domain/calendar/units.ts';
import { LimitReachedError } from '../../domain/errors.ts';
import { type Before, type ChainCheck, type ChainedPut, checkChain, findLast, type Link } from '../table/chain.ts';
import { auditHeadKey, auditKey, auditPartition, type Bounds } from '../table/keys.ts';
import { pageCursor } from '../table/page-cursor.ts';
import { queryItems } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { transact } from '../table/write.ts';

/** The longest that a plan shows entries. Items live as long whatever the plan: an upgrade shows more, a downgrade loses nothing. */
const KEPT_DAYS = 400;

const entrySchema = z.object({
  auditId: z.string(),
  accountId: z.string(),
  /** ISO 8601 UTC. */
  at: z.string(),
  /** One of auditActions when it was written. */
  action: z.string(),
  /** Null for the service itself. */
  actor: z.nullable(z.object({ userId: z.string(), name: z.string() })),
  clientAddress: z.nullable(z.string()),
  subject: z.nullable(z.string()),
  details: z.record(z.string(), z.string()),
  /** Those of `details` that a change replaced, as they were. Null where nothing was replaced, and of earlier versions. */
  before: z._default(z.nullable(z.record(z.string(), z.string())), null),
});

/** `requires`: see ChainedPut. What it reads is as it is then, where every change of that has an entry. */
export type AuditEntry = z.infer<typeof entrySchema> & Pick<ChainedPut['ChainedPut'], 'requires'>;

type Details = Readonly<Record<string, string>>;

const replacedBy = (details: Details, before: Details): Details => {
  const names = [...new Set([...Object.keys(before), ...Object.keys(details)])];
  const changed = names.filter((name) => before[name] !== details[name]);
  return Object.fromEntries(changed.map((name) => [name, before[name] ?? 'none']));
};

/** An entry of the audit log about a change that happens now. */
export const auditEntry = (
  accountId: string,
  { actor, clientAddress }: AuditSource,
  { action, subject, details = {}, before }: AuditFact,
  now: Date,
): AuditEntry => ({
  auditId: uuidv7(),
  accountId,
  at: now.toISOString(),
  action,
  actor: actor ? { userId: actor.userId, name: actor.name } : null,
  clientAddress: clientAddress ?? null,
  subject: subject ?? null,
  details: { ...details },
  before: before ? replacedBy(details, before) : null,
});

/** The caller of a request, and from where. */
export interface AuditedInput {
  readonly caller: { readonly accountId: string; readonly userId: string; readonly name: string };
  readonly clientAddress?: string | undefined;
}

/** The entry of a request. */
export const auditOf = ({ caller, clientAddress }: AuditedInput, fact: AuditFact, now: Date): AuditEntry =>
  auditEntry(caller.accountId, { actor: caller, clientAddress }, fact, now);

/** Writes the entries about items of one type: their details now, and before a change. */
export const auditsOf =
  <Item>(subjectOf: (item: Item) => string, detailsOf: (item: Item) => Details) =>
  (input: AuditedInput, action: AuditFact['action'], item: Item, now: Date, previous?: Item): AuditEntry => {
    const before = previous && detailsOf(previous);
    return auditOf(input, { action, subject: subjectOf(item), details: detailsOf(item), before }, now);
  };

/** The action that writes an entry in the transaction of its change: both are written, or neither. Entries of an account are a chain. */
export const putAudit = ({ requires, ...entry }: AuditEntry): ChainedPut => ({
  ChainedPut: {
    requires,
    head: auditHeadKey(entry.accountId),
    item: {
      ...auditKey(entry.accountId, entry.at, entry.auditId),
      ...entry,
      expiresAt: Math.floor(Date.parse(entry.at) / 1_000) + KEPT_DAYS * DAY_SECONDS,
    },
  },
});

/** @throws LimitReachedError where a list of at most `limit` items is full */
export const requireRoom = (found: readonly unknown[], limit: number, items: string): void => {
  if (found.length >= limit) throw new LimitReachedError(`An account may have ${limit} ${items}. Delete one first.`);
};

/** An entry of what is added to a list of at most `limit` items. @throws LimitReachedError from its transaction */
export const withRoom = (
  entry: AuditEntry,
  list: () => Promise<readonly unknown[]>,
  limit: number,
  items: string,
): AuditEntry => ({
  ...entry,
  requires: async () => requireRoom(await list(), limit, items),
});

const positionSchema = z.object({ at: z.string(), auditId: z.string() });
const cursors = pageCursor(positionSchema);

export const openAuditLog = (table: Table) => {
  const { call, name } = table;
  /** Instants in ISO 8601 UTC: `to` is excluded, since an entry's key goes on after its time. */
  const between = (accountId: string, { from, to }: Bounds) => ({
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
    ExpressionAttributeValues: { ':pk': auditPartition(accountId), ':from': from, ':to': to },
    ScanIndexForward: false,
  });

  return {
    /** Writes an entry apart from its change, for changes that are no transaction of the table. */
    record: (entry: AuditEntry): Promise<void> => transact(table, [putAudit(entry)]),

    /** Newest first. @throws NotFoundError for a cursor of another account */
    page: async (
      accountId: string,
      { cursor, limit, ...range }: Bounds & { readonly limit: number; readonly cursor?: string | undefined },
    ): Promise<{ readonly items: AuditEntry[]; readonly nextCursor: string | null }> => {
      const position = cursor === undefined ? undefined : cursors.read(accountId, cursor);
      if (position && position.at < range.from) return { items: [], nextCursor: null };
      const { Items = [], LastEvaluatedKey } = await call('Query', {
        TableName: name,
        ...between(accountId, range),
        Limit: limit,
        ConsistentRead: true,
        // The table refuses a start outside of the range.
        ...(position &&
          position.at < range.to && { ExclusiveStartKey: auditKey(accountId, position.at, position.auditId) }),
      });
      const items = Items.map((item) => entrySchema.parse(item));
      const { at, auditId } = items.at(-1) ?? {};
      const isLast = LastEvaluatedKey === undefined || at === undefined || auditId === undefined;
      return { items, nextCursor: isLast ? null : cursors.write(accountId, { at, auditId }) };
    },

    /** Identifies the log as it is now. Undefined where it has no entry since entries are a chain. */
    findLast: (accountId: string): Promise<Before | undefined> => findLast(table, auditHeadKey(accountId)),

    /** Whether every entry is as it was written. `earlier` counts those from before entries were a chain. */
    check: async (accountId: string, now: Date): Promise<ChainCheck & { readonly earlier: number }> => {
      for (;;) {
        const links: Link[] = [];
        let earlier = 0;
        const last = await findLast(table, auditHeadKey(accountId));
        for await (const item of queryItems(table, between(accountId, { from: '0', to: ':' })))
          if (item['previous'] === undefined) earlier += 1;
          else links.push(item);
        // An entry that was written meanwhile would not be part of the chain.
        if ((await findLast(table, auditHeadKey(accountId)))?.hash === last?.hash)
          return { ...checkChain(links, last, now.getTime() / 1_000), earlier };
      }
    },

    /** Every entry of a range, newest first. */
    async *all(accountId: string, range: Bounds): AsyncGenerator<AuditEntry> {
      for await (const item of queryItems(table, between(accountId, range))) yield entrySchema.parse(item);
    },
  };
};
