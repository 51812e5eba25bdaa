import { auditOf } from '../../data/accounts/audit-log.ts';
import { isVerified } from '../../data/accounts/users.ts';
import { permits } from '../../domain/accounts/permissions.ts';
import { deletionCancelledMail, deletionRequestedMail } from '../../domain/mail/account-mails.ts';
import type { Mail } from '../../domain/mail/mail.ts';
import type { Caller, Implementations } from '../../http/operation.ts';
import { confirmIdentity } from '../auth/confirm-identity.ts';
import type { Identity } from '../auth/open-identity.ts';
import type * as operations from './operations.ts';

/** Tells everybody who may act on it. */
const notifyAll = async ({ members, notify }: Identity, { accountId }: Caller, mail: Mail): Promise<void> => {
  for (const user of await members.list(accountId))
    if (isVerified(user) && permits(user.role, 'account:write')) await notify(user, mail);
};

export const manageDeletion = (identity: Identity): Implementations<typeof operations> => ({
  readDeletion: async ({ caller }) => ({ deletion: (await identity.deletions.find(caller.accountId)) ?? null }),

  requestDeletion: async ({ caller, clientAddress, body }) => {
    await confirmIdentity(identity, caller, await identity.accounts.find(caller.accountId), body);
    const { accountId, name: requestedBy } = caller;
    const requestedAt = identity.now();
    const deletesAt = new Date(requestedAt.getTime() + identity.graceSeconds * 1_000);
    const deletion = {
      accountId,
      requestedAt: requestedAt.toISOString(),
      requestedBy,
      deletesAt: deletesAt.toISOString(),
    };
    const fact = { action: 'account.deletion_requested', details: { deletesAt: deletion.deletesAt } } as const;
    await identity.deletions.request(deletion, caller.userId, auditOf({ caller, clientAddress }, fact, requestedAt));
    await notifyAll(identity, caller, deletionRequestedMail(deletesAt, `${identity.dashboardUrl}/settings`));
    return deletion;
  },

  cancelDeletion: async ({ caller, clientAddress }) => {
    const at = identity.now();
    const audit = auditOf({ caller, clientAddress }, { action: 'account.deletion_cancelled' }, at);
    await identity.deletions.cancel(caller.accountId, at.toISOString(), audit);
    await notifyAll(identity, caller, deletionCancelledMail());
  },
});
