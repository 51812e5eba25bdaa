import type { BillingAccount, BillingAccounts } from '../../data/billing/billing-accounts.ts';
import { UnauthenticatedError } from '../../domain/errors.ts';

/** @throws UnauthenticatedError if the account of the token was deleted */
export const requireAccount = async (
  accounts: Pick<BillingAccounts, 'find'>,
  accountId: string,
): Promise<BillingAccount> => {
  const account = await accounts.find(accountId);
  if (account === undefined) throw new UnauthenticatedError('The account of this token no longer exists.');
  return account;
};
