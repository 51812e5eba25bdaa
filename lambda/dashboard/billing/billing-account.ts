import type { BillingAccount, BillingAccounts } from '../../data/billing/billing-accounts.ts';
import { UnauthenticatedError } from '../../domain/errors.ts';

/** @throws UnauthenticatedError where the token has outlived its account */
export const existingAccount = async (
  accounts: Pick<BillingAccounts, 'find'>,
  accountId: string,
): Promise<BillingAccount> => {
  const account = await accounts.find(accountId);
  if (account === undefined) throw new UnauthenticatedError('The account of this token is gone.');
  return account;
};
