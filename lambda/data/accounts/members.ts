import * as z from 'zod/mini';
import { secretHash } from '../../domain/accounts/issued-secret.ts';
import { roles } from '../../domain/accounts/permissions.ts';
import { DAY_SECONDS } from '../../domain/calendar/units.ts';
import { ConflictError, LimitReachedError, NotFoundError } from '../../domain/errors.ts';
import { type Action, check, EXISTS, IS_NEW, put, remove, update } from '../table/actions.ts';
import { batchRead } from '../table/batch.ts';
import { accountKey, accountUserKey, invitationKey, invitationMailsKey, userKey } from '../table/keys.ts';
import { findAs, listReadable } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { transact } from '../table/write.ts';
import { type AuditEntry, putAudit } from './audit-log.ts';
import { checkMember, type NewUser, newUserItems, openUsers, parseUser, type User } from './users.ts';

const invitationSchema = z.object({
  invitationId: z.string(),
  accountId: z.string(),
  /** Lower case. */
  email: z.string(),
  role: z.enum(roles),
  /** See User. */
  projects: z.optional(z.array(z.string())),
  tokenHash: z.string(),
  /** The user who invited; the invitation is valid only while this user may invite. */
  invitedBy: z.string(),
  /** ISO 8601 UTC. */
  createdAt: z.string(),
  sentAt: z.string(),
  validUntil: z.string(),
});

export type Invitation = z.infer<typeof invitationSchema>;

const removableSchema = z.object({ userId: z.string(), email: z.string(), role: z._default(z.string(), 'owner') });

/** How long an expired invitation stays in the list. */
const SHOWN_EXPIRED_DAYS = 30;

const invitationItem = (invitation: Invitation) => ({
  ...invitationKey(invitation.accountId, invitation.invitationId),
  ...invitation,
  expiresAt: Math.floor(Date.parse(invitation.validUntil) / 1_000) + SHOWN_EXPIRED_DAYS * DAY_SECONDS,
});

/** True if the token is the invitation's own and still in time. */
export const isAcceptable = ({ tokenHash, validUntil }: Invitation, token: string, now: Date): boolean =>
  tokenHash === secretHash(token) && now.toISOString() < validUntil;

/** Limits how many strangers an account can mail. */
export const MAX_INVITATION_MAILS_PER_DAY = 500;

/** Members and open invitations together. Lists of members are read whole. */
const MAX_MEMBERS = 2_000;

/** Fails the transaction where the user is the account's owner. The account names its one owner. */
const checkNotOwner = (accountId: string, userId: string) =>
  check(accountKey(accountId), 'ownerUserId <> :userId', { userId });

/** A role, and the projects that the member is limited to. */
export type Membership = Pick<User, 'role' | 'projects'>;

/** In both items of the user. @param former refused where the membership is not this one any more */
const setMembership = (
  accountId: string,
  userId: string,
  { role, projects }: Membership,
  former?: Membership,
): [Action, Action] => {
  const change = `SET #role = :role${projects ? ', projects = :projects' : ' REMOVE projects'}`;
  const values = { role, ...(projects && { projects }) };
  const isSame = `#role = :was AND ${former?.projects ? 'projects = :had' : 'attribute_not_exists(projects)'}`;
  return [
    update(userKey(userId), change, `accountId = :accountId${former ? ` AND ${isSame}` : ''}`, {
      ...{ ...values, accountId, was: former?.role, had: former?.projects },
    }),
    update(accountUserKey(accountId, userId), change, EXISTS, values),
  ];
};

const countMail = (accountId: string, at: string) =>
  update(
    invitationMailsKey(accountId, at.slice(0, 10)),
    'ADD mails :one SET expiresAt = :expiresAt',
    'attribute_not_exists(mails) OR mails < :limit',
    { one: 1, limit: MAX_INVITATION_MAILS_PER_DAY, expiresAt: Math.floor(Date.parse(at) / 1_000) + 2 * DAY_SECONDS },
  );

/** Writes what the account's users are: who belongs to it, in which role, and who is invited. */
export const openMembers = (table: Table) => {
  const users = openUsers(table);

  const requireMember = async (accountId: string, userId: string): Promise<User> => {
    const user = await users.find(userId);
    if (user?.accountId !== accountId || user.tokenId !== undefined)
      throw new NotFoundError('There is no such member.');
    return user;
  };

  /** Writes an invitation whose mail is sent, and counts the mail. */
  const mail = ({ accountId, sentAt }: Invitation, write: Action, audit: AuditEntry, conflict: string): Promise<void> =>
    transact(table, [write, countMail(accountId, sentAt), putAudit(audit)], ([, isOverLimit]) =>
      isOverLimit
        ? new LimitReachedError(
            `An account may send ${MAX_INVITATION_MAILS_PER_DAY} invitations a day (UTC). Try again tomorrow.`,
          )
        : new ConflictError(conflict),
    );

  const invitationsOf = async (accountId: string): Promise<Invitation[]> => {
    const under = invitationKey(accountId, '');
    const { items } = await listReadable(table, under, invitationSchema.parse);
    return items.sort((a, b) => a.createdAt.localeCompare(b.createdAt));
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

    /** @throws NotFoundError for a user of another account, and for a program */
    find: requireMember,

    /** As much of a member as removing takes: they may have a role of a later version. */
    findRemovable: (accountId: string, userId: string) =>
      findAs(table, accountUserKey(accountId, userId), removableSchema),

    /**
     * The owner's role changes by `transferOwnership` alone.
     *
     * @param member as it was read
     * @throws NotFoundError
     * @throws ConflictError for the owner, and where the member was changed in the meantime
     */
    change: ({ userId, ...former }: User, membership: Membership, audit: AuditEntry): Promise<void> =>
      transact(
        table,
        [
          checkNotOwner(audit.accountId, userId),
          ...setMembership(audit.accountId, userId, membership, former),
          putAudit(audit),
        ],
        async ([isOwner]) => {
          if (isOwner) return new ConflictError('This member is the owner. Transfer the ownership first.');
          await requireMember(audit.accountId, userId);
          return new ConflictError('Another request changed this member. Read the list again.');
        },
      ),

    /**
     * Makes another member the owner, and the owner an admin.
     *
     * @throws NotFoundError if the other is no member
     * @throws ConflictError if the caller is not the owner any more, or transfers to themselves
     */
    transferOwnership: async (from: string, to: string, audit: AuditEntry): Promise<void> => {
      const { accountId } = audit;
      if (from === to) throw new ConflictError('You are the owner already.');
      await transact(
        table,
        [
          update(accountKey(accountId), 'SET ownerUserId = :to', 'ownerUserId = :from', { from, to }),
          ...setMembership(accountId, to, { role: 'owner' }),
          ...setMembership(accountId, from, { role: 'admin' }),
          putAudit(audit),
        ],
        memberRefusal('You are not the owner of this account any more.'),
      );
    },

    /**
     * Removes a user, who belongs to no account then. Keys that the user made stay.
     *
     * @throws NotFoundError
     * @throws ConflictError for the owner
     */
    remove: (userId: string, audit: AuditEntry): Promise<void> => {
      const { accountId } = audit;
      return transact(
        table,
        [
          checkNotOwner(accountId, userId),
          remove(userKey(userId), 'accountId = :accountId', { accountId }),
          remove(accountUserKey(accountId, userId)),
          putAudit(audit),
        ],
        memberRefusal('The owner cannot leave or be removed. Transfer the ownership first, or delete the account.'),
      );
    },

    /** @throws LimitReachedError if fewer people can be invited than are wanted */
    requireRoom: async (accountId: string, now: string, wanted = 1): Promise<void> => {
      const people = (await users.recipients(accountId)).length;
      const open = (await invitationsOf(accountId)).filter(({ validUntil }) => validUntil > now).length;
      if (people + open + wanted > MAX_MEMBERS)
        throw new LimitReachedError(
          `An account can have ${MAX_MEMBERS} members and open invitations, and has ${people + open}. Remove a member, or revoke an invitation.`,
        );
    },

    /** Invitations that were not accepted, also expired ones, oldest first. */
    invitations: invitationsOf,

    findInvitation: (accountId: string, invitationId: string): Promise<Invitation | undefined> =>
      findAs(table, invitationKey(accountId, invitationId), invitationSchema),

    /**
     * Invites an address. An expired invitation of it is replaced.
     *
     * @throws ConflictError if the address is invited already
     * @throws LimitReachedError for too many invitation mails today
     */
    invite: (invitation: Invitation, audit: AuditEntry): Promise<void> =>
      mail(
        invitation,
        put(invitationItem(invitation), 'attribute_not_exists(pk) OR validUntil <= :now', { now: invitation.sentAt }),
        audit,
        'This address is invited already. Send the invitation again, or revoke it.',
      ),

    /**
     * Gives an invitation a new token, and a new time to accept it. The former link stops working.
     *
     * @throws ConflictError if it was accepted, revoked or sent again in the meantime
     * @throws LimitReachedError for too many invitation mails today
     */
    renewInvitation: (invitation: Invitation, formerTokenHash: string, audit: AuditEntry): Promise<void> =>
      mail(
        invitation,
        put(invitationItem(invitation), 'tokenHash = :formerTokenHash', { formerTokenHash }),
        audit,
        'The invitation was accepted, revoked or sent again. Read the list again.',
      ),

    /** @throws NotFoundError */
    revokeInvitation: (invitationId: string, audit: AuditEntry): Promise<void> =>
      transact(
        table,
        [remove(invitationKey(audit.accountId, invitationId), EXISTS), putAudit(audit)],
        () => new NotFoundError('There is no such invitation.'),
      ),

    /**
     * Uses up an invitation and makes the user a member, both or neither.
     *
     * @param inviter as it was read
     * @throws ConflictError if the user belongs to an account, or the invitation or inviter is not what it was
     */
    join: (
      user: NewUser,
      { accountId, invitationId, tokenHash }: Invitation,
      inviter: User,
      audit: AuditEntry,
    ): Promise<void> =>
      transact(
        table,
        [
          remove(invitationKey(accountId, invitationId), 'tokenHash = :tokenHash', { tokenHash }),
          ...newUserItems(user).map((item) => put(item, IS_NEW)),
          check(accountKey(accountId), EXISTS),
          checkMember(accountId, inviter),
          putAudit(audit),
        ],
        ([, isMember]) =>
          new ConflictError(
            isMember
              ? 'This user belongs to an account already.'
              : 'The invitation was used, revoked or sent again in the meantime.',
          ),
      ),
  };
};

/** The transaction's first action is about the owner, the second about the member. */
const memberRefusal =
  (aboutOwner: string) =>
  ([, isNoMember]: readonly boolean[]): Error =>
    isNoMember ? new NotFoundError('There is no such member.') : new ConflictError(aboutOwner);
