import { auditEntry } from '../../data/accounts/audit-log.ts';
import { isVerified, type User } from '../../data/accounts/users.ts';
import { addressTakenMail } from '../../domain/mail/account-mails.ts';
import type { DirectoryUser } from '../../integrations/user-directory.ts';
import type { IdentityParts } from './open-parts.ts';

/**
 * Finds the login of an address that its owner has just proven. A login that never proved the address gives way: it loses the address
 * and its sessions, and keeps its password and its account with all that is in it. Nothing of it passes to the owner of the address, nor
 * the reverse. Its new address is random, so that nobody can register it before and stop this.
 *
 * @returns the login, with its user unless it belongs to no account; undefined if the address is free
 * @throws ConflictError if it was proven at the same moment
 */
export const freeAddress =
  ({ directory, users, sessions, sendMail, newId, now, logger }: IdentityParts) =>
  async (
    email: string,
    clientAddress: string | undefined,
  ): Promise<(DirectoryUser & { readonly user: User | undefined }) | undefined> => {
    const login = await directory.findByEmail(email);
    const user = login && (await users.find(login.userId));
    if (user === undefined || isVerified(user)) return login && { ...login, user };
    const { userId, accountId } = user;
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
    await sendMail({ accountId, to: [email], ...addressTakenMail(now(), placeholder) }).catch((error: unknown) =>
      logger.error('mail about a taken address not sent', { userId, error: error as Error }),
    );
    return undefined;
  };

export type FreeAddress = ReturnType<typeof freeAddress>;
