import { auditEntry } from '../../data/accounts/audit-log.ts';
import type { User } from '../../data/accounts/users.ts';
import type { AuditAction, AuditFact } from '../../domain/accounts/audit.ts';
import type { IdentityParts } from './open-parts.ts';

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
