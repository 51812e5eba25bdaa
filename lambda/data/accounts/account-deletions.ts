import { GetCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { ConflictError, NotFoundError } from '../../domain/errors.ts';
import { accountKey, deletionKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { ConditionsFailedError, transact } from '../table/transact.ts';
import { dueFrom, writeJob } from './account-jobs.ts';
import { type AuditEntry, putAudit } from './audit-log.ts';

const deletionSchema = z.object({
  accountId: z.string(),
  /** ISO 8601 UTC. */
  requestedAt: z.string(),
  /** Mail address of the owner. */
  requestedBy: z.string(),
  /** ISO 8601 UTC. From then on it cannot be cancelled. */
  deletesAt: z.string(),
  /**
   * `waiting` until `deletesAt`; `closing` while keys are refused and events in flight arrive; `deleting` until a whole pass finds
   * nothing.
   */
  phase: z.enum(['waiting', 'closing', 'deleting']),
  failures: z.optional(z.int()),
});

export type AccountDeletion = z.infer<typeof deletionSchema>;

export const openAccountDeletions = (table: Table) => {
  const { client, name } = table;
  const find = async (accountId: string): Promise<AccountDeletion | undefined> => {
    const { Item } = await client.send(
      new GetCommand({ TableName: name, Key: deletionKey(accountId), ConsistentRead: true }),
    );
    return Item && deletionSchema.parse(Item);
  };

  return {
    /** Undefined unless the account is going to be deleted. */
    find,

    /** @throws ConflictError if somebody did so before, or the caller is not the owner any more */
    request: async (
      { accountId, requestedAt, requestedBy, deletesAt }: Omit<AccountDeletion, 'phase'>,
      ownerUserId: string,
      audit: AuditEntry,
    ): Promise<void> => {
      const key = deletionKey(accountId);
      const members = { kind: 'deletion', accountId, requestedAt, requestedBy, deletesAt, phase: 'waiting' };
      try {
        await transact(table, [
          {
            Put: {
              TableName: name,
              Item: { ...key, ...members, ...dueFrom(deletesAt, { accountId, sk: key.sk }) },
              ConditionExpression: 'attribute_not_exists(pk)',
            },
          },
          {
            ConditionCheck: {
              TableName: name,
              Key: accountKey(accountId),
              ConditionExpression: 'ownerUserId = :owner',
              ExpressionAttributeValues: { ':owner': ownerUserId },
            },
          },
          putAudit(name, audit),
        ]);
      } catch (error) {
        if (!(error instanceof ConditionsFailedError)) throw error;
        throw new ConflictError(
          error.refused[0]
            ? 'The account is going to be deleted already: GET /account/deletion says when.'
            : 'You are not the owner of this account any more.',
        );
      }
    },

    /**
     * @throws NotFoundError if nobody asked for a deletion
     * @throws ConflictError once it has begun
     */
    cancel: async (accountId: string, now: string, audit: AuditEntry): Promise<void> => {
      try {
        await transact(table, [
          {
            Delete: {
              TableName: name,
              Key: deletionKey(accountId),
              ConditionExpression: 'phase = :waiting AND deletesAt > :now',
              ExpressionAttributeValues: { ':waiting': 'waiting', ':now': now },
            },
          },
          putAudit(name, audit),
        ]);
      } catch (error) {
        if (!(error instanceof ConditionsFailedError)) throw error;
        if ((await find(accountId)) === undefined) throw new NotFoundError('The account is not going to be deleted.');
        throw new ConflictError('The deletion has begun and cannot be cancelled any more.');
      }
    },

    /** @param dueAt ISO 8601 UTC: when it goes on */
    write: (accountId: string, changes: Partial<AccountDeletion>, dueAt: string): Promise<boolean> =>
      writeJob(table, deletionKey(accountId), accountId, changes, dueAt),
  };
};

export type AccountDeletions = ReturnType<typeof openAccountDeletions>;
