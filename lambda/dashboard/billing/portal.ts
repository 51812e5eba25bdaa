import type { BillingAccounts } from '../../data/billing/billing-accounts.ts';
import { ConflictError } from '../../domain/errors.ts';
import type { Implementation } from '../../http/operation.ts';
import type { StripeBilling } from '../../integrations/stripe-billing.ts';
import { requireAccount } from './billing-account.ts';
import type * as operations from './operations.ts';

interface PortalDependencies {
  readonly accounts: Pick<BillingAccounts, 'find'>;
  readonly stripe: Pick<StripeBilling, 'isDeleted' | 'openPortal'>;
  readonly returnUrl: string;
}

export const portal =
  ({ accounts, stripe, returnUrl }: PortalDependencies): Implementation<typeof operations.portal> =>
  async ({ caller: { accountId } }) => {
    const { stripeCustomerId: customerId } = await requireAccount(accounts, accountId);
    if (customerId === undefined || (await stripe.isDeleted(customerId)))
      throw new ConflictError('The account has never bought a plan. Use POST /billing/checkout to buy one.');
    const { url } = await stripe.openPortal(customerId, returnUrl);
    return { url };
  };
