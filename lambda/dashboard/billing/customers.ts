import type { openUsers } from '../../data/accounts/users.ts';
import type { BillingAccount, BillingAccounts } from '../../data/billing/billing-accounts.ts';
import { UnauthenticatedError } from '../../domain/errors.ts';
import type { StripeBilling } from '../../integrations/stripe-billing.ts';

export interface CustomerDependencies {
  readonly accounts: Pick<BillingAccounts, 'link'>;
  readonly users: Pick<ReturnType<typeof openUsers>, 'find'>;
  readonly stripe: Pick<StripeBilling, 'createCustomer' | 'isDeleted'>;
}

/**
 * The account's Stripe customer. Creates one if the account has none, or if its customer was deleted. Concurrent and repeated
 * calls create the same customer: the idempotency key names the owner and the customer to replace.
 *
 * @returns its id
 */
export const liveCustomer = async (
  { accounts, users, stripe }: CustomerDependencies,
  account: BillingAccount,
): Promise<string> => {
  const { stripeCustomerId: current, ownerUserId: userId } = account;
  if (current !== undefined && !(await stripe.isDeleted(current))) return current;
  const user = await users.find(userId);
  if (user === undefined) throw new UnauthenticatedError('The owner of this account no longer exists.');
  const replaced = current ?? account.formerStripeCustomerId ?? 'none';
  const customerId = await stripe.createCustomer({
    email: user.email,
    name: user.companyName ?? `${user.firstName} ${user.lastName}`,
    userId,
    idempotencyKey: `customer-of-${userId}-after-${replaced}`,
  });
  await accounts.link(account, customerId);
  return customerId;
};
