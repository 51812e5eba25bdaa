import { auditOf } from '../../data/accounts/audit-log.ts';
import { isVerified } from '../../data/accounts/users.ts';
import { permits } from '../../domain/accounts/permissions.ts';
import { deletionCancelledMail, deletionRequestedMail } from '../../domain/mail/account-mails.ts';
import type { Mail } from '../../domain/mail/mail.ts';
import type { Caller, Implementation } from '../../http/operation.ts';
import { confirmIdentity } from '../auth/confirm-identity.ts';
import type { Identity } from '../auth/open-identity.ts';
import type * as operations from './operations.ts';

export const readDeletion =
  ({ deletions }: Identity): Implementation<typeof operations.readDeletion> =>
  async ({ caller }) => ({ deletion: (await deletions.find(caller.accountId)) ?? null });

/** Tells everybody who may act on it. */
const notifyAll = async ({ members, notify }: Identity, { accountId }: Caller, mail: Mail): Promise<void> => {
  for (const user of await members.list(accountId))
    if (isVerified(user) && permits(user.role, 'account:write')) await notify(user, mail);
};

export const requestDeletion = (dependencies: Identity): Implementation<typeof operations.requestDeletion> => {
  const { deletions, accounts, dashboardUrl, graceSeconds, now } = dependencies;

  return async ({ caller, clientAddress, body }) => {
    await confirmIdentity(dependencies, caller, await accounts.find(caller.accountId), body);
    const { accountId, name: requestedBy } = caller;
    const requestedAt = now();
    const deletesAt = new Date(requestedAt.getTime() + graceSeconds * 1_000);
    const deletion = {
      accountId,
      requestedAt: requestedAt.toISOString(),
      requestedBy,
      deletesAt: deletesAt.toISOString(),
    };
    const fact = { action: 'account.deletion_requested', details: { deletesAt: deletion.deletesAt } } as const;
    await deletions.request(deletion, caller.userId, auditOf({ caller, clientAddress }, fact, requestedAt));
    await notifyAll(dependencies, caller, deletionRequestedMail(deletesAt, `${dashboardUrl}/settings`));
    return deletion;
  };
};

export const cancelDeletion =
  (dependencies: Identity): Implementation<typeof operations.cancelDeletion> =>
  async ({ caller, clientAddress }) => {
    const at = dependencies.now();
    const audit = auditOf({ caller, clientAddress }, { action: 'account.deletion_cancelled' }, at);
    await dependencies.deletions.cancel(caller.accountId, at.toISOString(), audit);
    await notifyAll(dependencies, caller, deletionCancelledMail());
  };
