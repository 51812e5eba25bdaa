import type { Account } from '../../data/accounts/accounts.ts';
import { auditEntry } from '../../data/accounts/audit-log.ts';
import { isVerified, type User } from '../../data/accounts/users.ts';
import type { AuditAction, AuditFact } from '../../domain/accounts/audit.ts';
import { DAY_MS } from '../../domain/calendar/units.ts';
import { UnavailableError } from '../../domain/errors.ts';
import {
  addressTakenMail,
  newVerificationCode,
  protectionChangedMail,
  verificationMail,
} from '../../domain/mail/account-mails.ts';
import type { Mail } from '../../domain/mail/mail.ts';
import { MailError } from '../../integrations/mail.ts';
import type { DirectoryUser } from '../../integrations/user-directory.ts';
import type { IdentityParts } from './open-parts.ts';

/* Steps that several operations on logins take. */

/** Finds the login of an address, with its user unless it belongs to no account. */
export const findLogin =
  ({ directory, users }: IdentityParts) =>
  async (email: string): Promise<(DirectoryUser & { readonly user: User | undefined }) | undefined> => {
    const login = await directory.findByEmail(email);
    return login && { ...login, user: await users.find(login.userId) };
  };

/** Mails a notice of what was done. It does not depend on the mail: a failure is logged. */
export const notify =
  ({ sendMail, logger }: IdentityParts) =>
  ({ accountId, email }: Pick<User, 'accountId' | 'email'>, mail: Mail): Promise<void> =>
    sendMail({ accountId, to: [email], ...mail }).catch((error: unknown) =>
      logger.error('notice not sent', { accountId, subject: mail.subject, error: error as Error }),
    );

/** An intruder who signed in moved the last sign-in: the review goes back at least this far. */
const MIN_REVIEW_MS = 30 * DAY_MS;

/** From when on keys and tokens may be somebody else's. With an address that nobody had proven, all may be. */
const reviewSince = (user: User, nowMs: number): string =>
  isVerified(user)
    ? new Date(Math.min(nowMs - MIN_REVIEW_MS, Date.parse(user.lastSignInAt ?? user.createdAt))).toISOString()
    : user.createdAt;

/**
 * Ends every session of a user: Cognito revokes the refresh tokens, and the API refuses tokens of earlier sign-ins, within a minute.
 * Sign-ins are counted in seconds, so it waits for the next one: the user's next sign-in is later than any that was ended.
 */
export const endSessions =
  ({ users, sessions, clock, now }: IdentityParts) =>
  async (user: User): Promise<void> => {
    const nowMs = now().getTime();
    const endedAt = Math.floor(nowMs / 1_000) + 1;
    await users.endSessions(user.userId, endedAt, reviewSince(user, nowMs));
    await sessions.endSessions(user.userId);
    await clock.pause(Math.max(0, endedAt * 1_000 - now().getTime()));
  };

/**
 * Finds the login of an address that its owner has just proven. A login that never proved the address gives way: it loses the address
 * and its sessions, and keeps its password and its account with all that is in it. Nothing of it passes to the owner of the address, nor
 * the reverse. Its new address is random, so that nobody can register it before and stop this.
 *
 * @returns the login, with its user unless it belongs to no account; undefined if the address is free
 * @throws ConflictError if it was proven at the same moment
 */
export const freeAddress =
  (parts: IdentityParts) =>
  async (email: string, clientAddress: string | undefined): ReturnType<ReturnType<typeof findLogin>> => {
    const { directory, users, sessions, newId, now } = parts;
    const login = await findLogin(parts)(email);
    if (login?.user === undefined || isVerified(login.user)) return login;
    const { userId, accountId } = login.user;
    const placeholder = `${newId()}@unproven.invalid`;
    const fact = {
      action: 'user.address_taken',
      subject: userId,
      details: { from: email, to: placeholder },
    } as const;
    const endedAt = Math.floor(now().getTime() / 1_000) + 1;
    // The directory is the last, so that another attempt finds the login again if one of these fails.
    await users.takeAddress(userId, placeholder, endedAt, auditEntry(accountId, { clientAddress }, fact, now()));
    await sessions.endSessions(userId);
    await directory.changeEmail(userId, placeholder);
    await notify(parts)({ accountId, email }, addressTakenMail(now(), placeholder));
    return undefined;
  };

/** Waits for a mail that somebody waits for. @throws UnavailableError with the message, where it is not accepted */
export const mailed = (sending: Promise<void>, message: string): Promise<void> =>
  sending.catch((cause: unknown) => {
    throw cause instanceof MailError ? new UnavailableError(message, { cause }) : cause;
  });

export type SendCode = (user: Pick<User, 'userId' | 'accountId'>, email: string) => Promise<void>;

/**
 * Mails a code that proves an address.
 *
 * @throws RateLimitedError, UnavailableError
 */
export const sendCode =
  ({ codes, sendMail, randomInt, now }: IdentityParts): SendCode =>
  async ({ userId, accountId }, email) => {
    const code = newVerificationCode(randomInt);
    await codes.issue(userId, email, code, now().getTime());
    const sending = sendMail({ accountId, to: [email], ...verificationMail(code) });
    await mailed(sending, 'The code could not be mailed. Ask for another one in a minute.');
  };

/**
 * Mails the owner that a member changed what protects the account. A failure is logged: the change is done, and in the audit log.
 *
 * @param change what it was and is, in our words
 */
export const mailOwner =
  (parts: IdentityParts) =>
  async (
    { accountId, ownerUserId }: Pick<Account, 'accountId' | 'ownerUserId'>,
    { name }: { readonly name: string },
    change: string,
  ): Promise<void> => {
    const { users, dashboardUrl, now, logger } = parts;
    try {
      const owner = await users.find(ownerUserId);
      if (owner && isVerified(owner))
        await notify(parts)(owner, protectionChangedMail(now(), name, change, `${dashboardUrl}/settings`));
    } catch (error) {
      logger.error('mail about a changed protection not sent', { accountId, error: error as Error });
    }
  };

/**
 * Adds an entry of the audit log to an operation whose response names the user who signed in. A failure is logged: nobody is kept out
 * because the log cannot be written.
 */
export const recordSignIn =
  ({ audit, users, now, logger }: Pick<IdentityParts, 'audit' | 'users' | 'now' | 'logger'>) =>
  <I extends { readonly clientAddress?: string | undefined }, O extends object>(
    action: Extract<AuditAction, 'account.registered' | 'user.signed_in'>,
    implementation: (input: I) => Promise<O>,
  ) =>
  async (input: I): Promise<O> => {
    const output = await implementation(input);
    if (!('userId' in output)) return output;
    const userId = String(output.userId);
    try {
      const user = await users.find(userId);
      if (user) {
        const source = { actor: { userId, name: user.email }, clientAddress: input.clientAddress };
        await audit.record(auditEntry(user.accountId, source, { action }, now()));
      }
    } catch (error) {
      logger.error('sign-in not in the audit log', { userId, error: error as Error });
    }
    return output;
  };

/** Adds an entry about a user's own login, after the change or the attempt. A failure is logged: the change is done. */
export const noteChange =
  ({ audit, now, logger }: IdentityParts) =>
  async (
    { userId, accountId, email }: Pick<User, 'userId' | 'accountId' | 'email'>,
    action: Extract<AuditAction, `user.${string}`>,
    clientAddress: string | undefined,
    changes: Pick<AuditFact, 'details' | 'before'> = {},
  ): Promise<void> => {
    // Whoever failed to sign in may be anybody.
    const actor = action === 'user.sign_in_failed' ? undefined : { userId, name: email };
    const source = { actor, clientAddress };
    await audit
      .record(auditEntry(accountId, source, { action, subject: userId, ...changes }, now()))
      .catch((error: unknown) => logger.error('change not in the audit log', { userId, error: error as Error }));
  };
