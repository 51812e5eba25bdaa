import type { Account } from '../../data/accounts/accounts.ts';
import { isVerified } from '../../data/accounts/users.ts';
import { protectionChangedMail } from '../../domain/mail/account-mails.ts';
import type { Identity } from './open-identity.ts';

/**
 * Mails the owner that a member changed what protects the account. A failure is logged: the change is done, and in the audit log.
 *
 * @param change what it was and is, in our words
 */
export const mailOwner = async (
  { users, sendMail, dashboardUrl, now, logger }: Identity,
  { accountId, ownerUserId }: Pick<Account, 'accountId' | 'ownerUserId'>,
  { name }: { readonly name: string },
  change: string,
): Promise<void> => {
  try {
    const owner = await users.find(ownerUserId);
    if (owner === undefined || !isVerified(owner)) return;
    const mail = protectionChangedMail(now(), name, change, `${dashboardUrl}/settings`);
    await sendMail({ accountId, to: [owner.email], ...mail });
  } catch (error) {
    logger.error('mail about a changed protection not sent', { accountId, error: error as Error });
  }
};
