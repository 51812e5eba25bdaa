import * as z from 'zod/mini';
import { roles } from '../../domain/accounts/permissions.ts';
import { ConflictError, UnauthenticatedError } from '../../domain/errors.ts';
import { check, EXISTS, update } from '../table/actions.ts';
import { accountUserKey, userKey } from '../table/keys.ts';
import { findAs, listReadable } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { transact, tryWrite } from '../table/write.ts';
import { type AuditEntry, putAudit } from './audit-log.ts';

const userSchema = z.object({
  /** The `sub` of the identity provider. */
  userId: z.string(),
  accountId: z.string(),
  /** Absent in items of 0.1: an account's only user owned it. */
  role: z._default(z.enum(roles), 'owner'),
  /** Ids of the projects that the user is limited to. Absent for all. */
  projects: z.optional(z.array(z.string())),
  /** Lower case. */
  email: z.string(),
  /**
   * When (ISO 8601 UTC) the user proved that mail to the address arrives; null before that. Absent in items of 0.1, whose users count
   * as verified: they get their alerts already, and an address that bounces or complains is blocked.
   */
  emailVerifiedAt: z.optional(z.nullable(z.string())),
  firstName: z.string(),
  lastName: z.string(),
  companyName: z.nullable(z.string()),
  /** ISO 8601 UTC. */
  createdAt: z.string(),
  /** ISO 8601 UTC. */
  lastSignInAt: z.optional(z.string()),
  /** Seconds since 1970: tokens of earlier sign-ins are refused. */
  sessionsEndedAt: z.optional(z.int()),
  /** Log-ins need a code of an authenticator app. Cognito asks for it; this says so to the account. */
  totpEnabled: z.optional(z.boolean()),
  /** After a reset, until the user has looked through them: keys and tokens from this time (ISO 8601 UTC) on may be an intruder's. */
  reviewSince: z.optional(z.string()),
  /** The API token whose user this is; no list of users has it. */
  tokenId: z.optional(z.string()),
  /** ISO 8601 UTC: when the token expires. */
  validUntil: z.optional(z.string()),
});

export type User = z.infer<typeof userSchema>;

export const parseUser = (item: Record<string, unknown>): User => userSchema.parse(item);

/** Mail to a user is not sent until an instant (ISO 8601 UTC), because of what SES reported. */
const mailBlockSchema = z.object({ reason: z.enum(['bounce', 'complaint']), until: z.string() });
export type MailBlock = z.infer<typeof mailBlockSchema>;

/** The members of a user that a mail needs: where to, and what of the account the user may read in it. */
const recipientSchema = z.extend(
  z.pick(userSchema, { userId: true, email: true, emailVerifiedAt: true, firstName: true, role: true, projects: true }),
  {
    mailBlock: z.optional(mailBlockSchema),
  },
);
export type Recipient = z.infer<typeof recipientSchema>;

/** Unverified addresses get no mail but codes that verify them. */
export const isVerified = ({ emailVerifiedAt }: Pick<User, 'emailVerifiedAt'>): boolean => emailVerifiedAt !== null;

export type NewUser = User & { readonly emailVerifiedAt: string | null };

/** True for a session that began before all sessions of the user were ended. @param authTime seconds since 1970 */
export const hasEnded = ({ sessionsEndedAt = 0 }: Pick<User, 'sessionsEndedAt'>, authTime: number): boolean =>
  authTime < sessionsEndedAt;

/** A user has two items, written together: one by user id, and one in the account's list. */
export const newUserItems = (user: NewUser) => [
  { ...userKey(user.userId), ...user },
  { ...accountUserKey(user.accountId, user.userId), ...recipientSchema.parse(user) },
];

/** Fails a transaction where somebody is no member any more, or has other rights. The items of owners from 0.1 have no role. */
export const checkMember = (
  accountId: string,
  { userId, role, projects }: { userId: string; role: User['role']; projects?: readonly string[] | undefined },
) => {
  const isLimited = projects ? 'projects = :projects' : 'attribute_not_exists(projects)';
  const isSame = `${EXISTS} AND (attribute_not_exists(#role) OR #role = :role) AND ${isLimited}`;
  return check(accountUserKey(accountId, userId), isSame, { role, projects });
};

export const noUser = () => new UnauthenticatedError('The user of this token no longer exists. Log in again.');

export const openUsers = (table: Table) => {
  const change = async (userId: string, expression: string, values: Record<string, unknown> = {}): Promise<void> => {
    if (!(await tryWrite(table, update(userKey(userId), expression, EXISTS, values)))) throw noUser();
  };

  return {
    /** Undefined if there is none, or the token whose user it is has expired. A consistent read, because clients read right after they register. */
    find: async (userId: string): Promise<User | undefined> => {
      const user = await findAs(table, userKey(userId), userSchema);
      const hasExpired = user?.validUntil !== undefined && user.validUntil <= new Date().toISOString();
      return hasExpired ? undefined : user;
    },

    /** The account's users, as mails and limits need them, also those to whom mail is blocked. Nobody whose role is unknown. */
    recipients: async (accountId: string): Promise<Recipient[]> =>
      (await listReadable(table, accountUserKey(accountId, ''), recipientSchema.parse)).items,

    /** Makes a proven address the user's, in both items. */
    verifyEmail: async (
      { userId, accountId }: Pick<User, 'userId' | 'accountId'>,
      email: string,
      verifiedAt: string,
    ): Promise<void> => {
      // Mail was blocked to the address of before, or to this one, which mail reaches now.
      const verify = 'SET email = :email, emailVerifiedAt = :verifiedAt REMOVE mailBlock';
      await transact(
        table,
        [userKey(userId), accountUserKey(accountId, userId)].map((key) =>
          update(key, verify, EXISTS, { email, verifiedAt }),
        ),
        noUser,
      );
    },

    /**
     * Takes the address from a user who never proved it, and ends the sessions that began before a time.
     *
     * @param placeholder the user's address from then on
     * @param endedAt seconds since 1970
     * @throws ConflictError if the user proved the address meanwhile
     */
    takeAddress: (userId: string, placeholder: string, endedAt: number, audit: AuditEntry): Promise<void> =>
      transact(
        table,
        [
          update(
            userKey(userId),
            'SET email = :placeholder, sessionsEndedAt = :endedAt',
            'emailVerifiedAt = :unproven',
            { placeholder, endedAt, unproven: null },
          ),
          update(accountUserKey(audit.accountId, userId), 'SET email = :placeholder', EXISTS, { placeholder }),
          putAudit(audit),
        ],
        () => new ConflictError('Somebody else proved this address at this moment. Try again.'),
      ),

    noteSignIn: (userId: string, at: string) => change(userId, 'SET lastSignInAt = :at', { at }),

    /**
     * Ends every session that began before a time.
     *
     * @param endedAt seconds since 1970
     * @param reviewSince ISO 8601 UTC. One that is there already stays
     */
    endSessions: (userId: string, endedAt: number, reviewSince: string): Promise<void> =>
      change(userId, 'SET sessionsEndedAt = :endedAt, reviewSince = if_not_exists(reviewSince, :reviewSince)', {
        endedAt,
        reviewSince,
      }),

    rename: (
      { userId, accountId }: Pick<User, 'userId' | 'accountId'>,
      { firstName, lastName }: Pick<User, 'firstName' | 'lastName'>,
    ): Promise<void> =>
      transact(
        table,
        [
          update(userKey(userId), 'SET firstName = :firstName, lastName = :lastName', EXISTS, { firstName, lastName }),
          update(accountUserKey(accountId, userId), 'SET firstName = :firstName', EXISTS, { firstName }),
        ],
        noUser,
      ),

    setTotp: (userId: string, isEnabled: boolean) => change(userId, 'SET totpEnabled = :isEnabled', { isEnabled }),

    finishReview: (userId: string) => change(userId, 'REMOVE reviewSince'),

    /** A block that is there already stays if it ends later: reports come in any order. @returns false where nothing is written */
    blockMail: (accountId: string, userId: string, block: MailBlock): Promise<boolean> => {
      const isLonger = `${EXISTS} AND (attribute_not_exists(mailBlock) OR mailBlock.#until < :until)`;
      const values = { block, until: block.until };
      return tryWrite(table, update(accountUserKey(accountId, userId), 'SET mailBlock = :block', isLonger, values));
    },
  };
};

export type Users = ReturnType<typeof openUsers>;
