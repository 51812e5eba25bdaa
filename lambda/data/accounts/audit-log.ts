import { uuidv7 } from 'uuidv7';
import * as z from 'zod/mini';
import type { AuditFact, AuditSource } from '../../domain/accounts/audit.ts';
import { DAY_SECONDS } from '../../domain/calendar/units.ts';
import { put } from '../table/actions.ts';
import { auditKey, auditPartition } from '../table/keys.ts';
import { pageCursor } from '../table/page-cursor.ts';
import { queryItems } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { write } from '../table/write.ts';

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

export type AuditEntry = z.infer<typeof entrySchema>;

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

/** The entry of a request: its caller, and from where. */
export const auditOf = (
  {
    caller,
    clientAddress,
  }: {
    readonly caller: { readonly accountId: string; readonly userId: string; readonly name: string };
    readonly clientAddress?: string | undefined;
  },
  fact: AuditFact,
  now: Date,
): AuditEntry => auditEntry(caller.accountId, { actor: caller, clientAddress }, fact, now);

/** The action that writes an entry in the transaction of its change: both are written, or neither. */
export const putAudit = (entry: AuditEntry) =>
  put({
    ...auditKey(entry.accountId, entry.at, entry.auditId),
    ...entry,
    expiresAt: Math.floor(Date.parse(entry.at) / 1_000) + KEPT_DAYS * DAY_SECONDS,
  });

const positionSchema = z.object({ at: z.string(), auditId: z.string() });
const cursors = pageCursor(positionSchema);

interface AuditRange {
  /** ISO 8601 UTC, included. */
  readonly from: string;
  /** ISO 8601 UTC, excluded. */
  readonly to: string;
}

export const openAuditLog = (table: Table) => {
  const { call, name } = table;
  const between = (accountId: string, { from, to }: AuditRange) => ({
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
    ExpressionAttributeValues: { ':pk': auditPartition(accountId), ':from': from, ':to': to },
    ScanIndexForward: false,
  });

  return {
    /** Writes an entry apart from its change, for changes that are no transaction of the table. */
    record: (entry: AuditEntry): Promise<void> => write(table, putAudit(entry)),

    /** Newest first. @throws NotFoundError for a cursor of another account */
    page: async (
      accountId: string,
      { cursor, limit, ...range }: AuditRange & { readonly limit: number; readonly cursor?: string | undefined },
    ): Promise<{ readonly items: AuditEntry[]; readonly nextCursor: string | null }> => {
      const position = cursor === undefined ? undefined : cursors.read(accountId, cursor);
      const { Items = [], LastEvaluatedKey } = await call('Query', {
        TableName: name,
        ...between(accountId, range),
        Limit: limit,
        ConsistentRead: true,
        ...(position && { ExclusiveStartKey: auditKey(accountId, position.at, position.auditId) }),
      });
      const items = Items.map((item) => entrySchema.parse(item));
      const { at, auditId } = items.at(-1) ?? {};
      const isLast = LastEvaluatedKey === undefined || at === undefined || auditId === undefined;
      return { items, nextCursor: isLast ? null : cursors.write(accountId, { at, auditId }) };
    },

    /** Every entry of a range, newest first. */
    async *all(accountId: string, range: AuditRange): AsyncGenerator<AuditEntry> {
      for await (const item of queryItems(table, between(accountId, range))) yield entrySchema.parse(item);
    },
  };
};

export type AuditLog = ReturnType<typeof openAuditLog>;
