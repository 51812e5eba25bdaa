import { GetCommand } from '@aws-sdk/lib-dynamodb';
import type { Role } from '../../domain/accounts/permissions.ts';
import { ConflictError, LimitReachedError, NotFoundError } from '../../domain/errors.ts';
import { batchRead } from '../table/batch-read.ts';
import { accountKey, accountUserKey, invitationKey, invitationMailsKey, userKey } from '../table/keys.ts';
import { queryItems } from '../table/query-items.ts';
import type { Table } from '../table/table.ts';
import { ConditionsFailedError, type TransactionItems, transact } from '../table/transact.ts';
import { type AuditEntry, putAudit } from './audit-log.ts';
import { type Invitation, invitationItem, parseInvitation } from './invitation-item.ts';
import { type NewUser, newUserItems, openUsers, parseUser, type User } from './users.ts';

/** Limits how many strangers an account can mail. */
export const MAX_INVITATION_MAILS_PER_DAY = 50;

/** Members and open invitations together. Far more than most accounts need; lists of members are read whole. */
const MAX_MEMBERS = 500;

/** Writes what the account's users are: who belongs to it, in which role, and who is invited. */
export const openMembers = (table: Table) => {
  const { client, name } = table;
  const users = openUsers(table);

  /** Fails the transaction unless the account's owner is, or is not, the user. The account names its one owner. */
  const checkOwner = (accountId: string, relation: '=' | '<>', userId: string): TransactionItems[number] => ({
    ConditionCheck: {
      TableName: name,
      Key: accountKey(accountId),
      ConditionExpression: `ownerUserId ${relation} :user`,
      ExpressionAttributeValues: { ':user': userId },
    },
  });

  const setRole = (accountId: string, userId: string, role: Role): TransactionItems[number] => ({
    Update: {
      TableName: name,
      Key: userKey(userId),
      UpdateExpression: 'SET #role = :role',
      ConditionExpression: 'accountId = :account',
      ExpressionAttributeNames: { '#role': 'role' },
      ExpressionAttributeValues: { ':role': role, ':account': accountId },
    },
  });

  const countMail = (accountId: string, at: string): TransactionItems[number] => ({
    Update: {
      TableName: name,
      Key: invitationMailsKey(accountId, at.slice(0, 10)),
      UpdateExpression: 'ADD mails :one SET expiresAt = :expiresAt',
      ConditionExpression: 'attribute_not_exists(mails) OR mails < :limit',
      ExpressionAttributeValues: {
        ':one': 1,
        ':limit': MAX_INVITATION_MAILS_PER_DAY,
        ':expiresAt': Math.floor(Date.parse(at) / 1_000) + 2 * 86_400,
      },
    },
  });

  const requireMember = async (accountId: string, userId: string): Promise<User> => {
    const user = await users.find(userId);
    if (user?.accountId !== accountId) throw new NotFoundError('There is no such member.');
    return user;
  };

  const invitationsOf = async (accountId: string): Promise<Invitation[]> => {
    const invitations: Invitation[] = [];
    for await (const item of queryItems(table, {
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :invitations)',
      ExpressionAttributeValues: {
        ':pk': accountKey(accountId).pk,
        ':invitations': invitationKey(accountId, '').sk,
      },
      ConsistentRead: true,
    })) {
      invitations.push(parseInvitation(item));
    }
    return invitations.sort((a, b) => a.createdAt.localeCompare(b.createdAt));
  };

  return {
    /** The account's users, oldest first. */
    list: async (accountId: string): Promise<User[]> => {
      const ids = (await users.recipients(accountId)).map(({ userId }) => userId);
      const items = await batchRead(table, ids.map(userKey), { consistent: true });
      // A user who joined another account since the list was read is none of this one.
      const members = items.map(parseUser).filter((user) => user.accountId === accountId);
      return members.sort((a, b) => a.createdAt.localeCompare(b.createdAt));
    },

    /** @throws NotFoundError for a user of another account too */
    find: requireMember,

    /**
     * The owner's role changes by `transferOwnership` alone.
     *
     * @throws NotFoundError
     * @throws ConflictError for the owner
     */
    changeRole: async (userId: string, role: Exclude<Role, 'owner'>, audit: AuditEntry): Promise<void> => {
      const { accountId } = audit;
      try {
        await transact(table, [
          checkOwner(accountId, '<>', userId),
          setRole(accountId, userId, role),
          putAudit(name, audit),
        ]);
      } catch (error) {
        if (!(error instanceof ConditionsFailedError)) throw error;
        if (error.refused[1]) throw new NotFoundError('There is no such member.');
        throw new ConflictError('This member is the owner. Transfer the ownership first.');
      }
    },

    /**
     * Makes another member the owner, and the owner an admin.
     *
     * @throws NotFoundError if the other is no member
     * @throws ConflictError if the caller is not the owner any more, or transfers to themselves
     */
    transferOwnership: async (from: string, to: string, audit: AuditEntry): Promise<void> => {
      const { accountId } = audit;
      if (from === to) throw new ConflictError('You are the owner already.');
      try {
        await transact(table, [
          {
            Update: {
              TableName: name,
              Key: accountKey(accountId),
              UpdateExpression: 'SET ownerUserId = :to',
              ConditionExpression: 'ownerUserId = :from',
              ExpressionAttributeValues: { ':from': from, ':to': to },
            },
          },
          setRole(accountId, to, 'owner'),
          setRole(accountId, from, 'admin'),
          putAudit(name, audit),
        ]);
      } catch (error) {
        if (!(error instanceof ConditionsFailedError)) throw error;
        if (error.refused[1]) throw new NotFoundError('There is no such member.');
        throw new ConflictError('You are not the owner of this account any more.');
      }
    },

    /**
     * Removes a user, who belongs to no account then. Keys that the user made stay.
     *
     * @throws NotFoundError
     * @throws ConflictError for the owner
     */
    remove: async (userId: string, audit: AuditEntry): Promise<void> => {
      const { accountId } = audit;
      try {
        await transact(table, [
          checkOwner(accountId, '<>', userId),
          {
            Delete: {
              TableName: name,
              Key: userKey(userId),
              ConditionExpression: 'accountId = :account',
              ExpressionAttributeValues: { ':account': accountId },
            },
          },
          { Delete: { TableName: name, Key: accountUserKey(accountId, userId) } },
          putAudit(name, audit),
        ]);
      } catch (error) {
        if (!(error instanceof ConditionsFailedError)) throw error;
        if (error.refused[1]) throw new NotFoundError('There is no such member.');
        throw new ConflictError(
          'The owner cannot leave or be removed. Transfer the ownership first, or delete the account.',
        );
      }
    },

    /** @throws LimitReachedError if nobody more can be invited */
    requireRoom: async (accountId: string, now: string): Promise<void> => {
      const people = (await users.recipients(accountId)).length;
      const open = (await invitationsOf(accountId)).filter(({ validUntil }) => validUntil > now).length;
      if (people + open >= MAX_MEMBERS)
        throw new LimitReachedError(
          `An account can have ${MAX_MEMBERS} members and open invitations. Remove a member, or revoke an invitation.`,
        );
    },

    /** Invitations that were not accepted, also expired ones, oldest first. */
    invitations: invitationsOf,

    findInvitation: async (accountId: string, invitationId: string): Promise<Invitation | undefined> => {
      const { Item } = await client.send(
        new GetCommand({ TableName: name, Key: invitationKey(accountId, invitationId), ConsistentRead: true }),
      );
      return Item && parseInvitation(Item);
    },

    /**
     * Invites an address. An expired invitation of it is replaced.
     *
     * @throws ConflictError if the address is invited already
     * @throws LimitReachedError for too many invitation mails today
     */
    invite: async (invitation: Invitation, audit: AuditEntry): Promise<void> => {
      const { accountId, sentAt } = invitation;
      try {
        await transact(table, [
          {
            Put: {
              TableName: name,
              Item: invitationItem(invitation),
              ConditionExpression: 'attribute_not_exists(pk) OR validUntil <= :now',
              ExpressionAttributeValues: { ':now': sentAt },
            },
          },
          countMail(accountId, sentAt),
          putAudit(name, audit),
        ]);
      } catch (error) {
        throw (
          mailLimit(error) ??
          conflict(error, 'This address is invited already. Send the invitation again, or revoke it.')
        );
      }
    },

    /**
     * Gives an invitation a new token, and a new time to accept it. The former link stops working.
     *
     * @throws ConflictError if it was accepted, revoked or sent again in the meantime
     * @throws LimitReachedError for too many invitation mails today
     */
    renewInvitation: async (invitation: Invitation, formerTokenHash: string, audit: AuditEntry): Promise<void> => {
      try {
        await transact(table, [
          {
            Put: {
              TableName: name,
              Item: invitationItem(invitation),
              ConditionExpression: 'tokenHash = :former',
              ExpressionAttributeValues: { ':former': formerTokenHash },
            },
          },
          countMail(invitation.accountId, invitation.sentAt),
          putAudit(name, audit),
        ]);
      } catch (error) {
        throw (
          mailLimit(error) ??
          conflict(error, 'The invitation was accepted, revoked or sent again. Read the list again.')
        );
      }
    },

    /** @throws NotFoundError */
    revokeInvitation: async (invitationId: string, audit: AuditEntry): Promise<void> => {
      try {
        await transact(table, [
          {
            Delete: {
              TableName: name,
              Key: invitationKey(audit.accountId, invitationId),
              ConditionExpression: 'attribute_exists(pk)',
            },
          },
          putAudit(name, audit),
        ]);
      } catch (error) {
        if (!(error instanceof ConditionsFailedError)) throw error;
        throw new NotFoundError('There is no such invitation.');
      }
    },

    /**
     * Uses up an invitation and makes the user a member, both or neither.
     *
     * @throws ConflictError if the user belongs to an account, or the invitation is not what it was
     */
    join: async (
      user: NewUser,
      { accountId, invitationId, tokenHash }: Invitation,
      audit: AuditEntry,
    ): Promise<void> => {
      try {
        await transact(table, [
          {
            Delete: {
              TableName: name,
              Key: invitationKey(accountId, invitationId),
              ConditionExpression: 'tokenHash = :hash',
              ExpressionAttributeValues: { ':hash': tokenHash },
            },
          },
          ...newUserItems(user).map((Item) => ({
            Put: { TableName: name, Item, ConditionExpression: 'attribute_not_exists(pk)' },
          })),
          {
            ConditionCheck: {
              TableName: name,
              Key: accountKey(accountId),
              ConditionExpression: 'attribute_exists(pk)',
            },
          },
          putAudit(name, audit),
        ]);
      } catch (error) {
        if (!(error instanceof ConditionsFailedError)) throw error;
        throw new ConflictError(
          error.refused[1]
            ? 'This user belongs to an account already.'
            : 'The invitation was used, revoked or sent again in the meantime.',
        );
      }
    },
  };
};

/** The second action of a transaction counts a mail. */
const mailLimit = (error: unknown): Error | undefined =>
  error instanceof ConditionsFailedError && error.refused[1]
    ? new LimitReachedError(
        `An account may send ${MAX_INVITATION_MAILS_PER_DAY} invitations a day (UTC). Try again tomorrow.`,
      )
    : undefined;

const conflict = (error: unknown, message: string): unknown =>
  error instanceof ConditionsFailedError ? new ConflictError(message) : error;

export type Members = ReturnType<typeof openMembers>;
