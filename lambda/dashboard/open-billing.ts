import type { Logger } from '@aws-lambda-powertools/logger';
import type * as z from 'zod/mini';
import { openUsers } from '../data/accounts/users.ts';
import { openBillingAccounts } from '../data/billing/billing-accounts.ts';
import { openPeriodUsage } from '../data/billing/billing-usage.ts';
import type { Table } from '../data/table/table.ts';
import type { billingEnvironment } from '../environment.ts';
import type { StripeBilling } from '../integrations/stripe-billing.ts';

/** The dependencies of the operations of the plan and its purchase. */
export const openBilling = (
  table: Table,
  environment: Pick<
    z.infer<typeof billingEnvironment>,
    'STRIPE_PRICES' | 'CHECKOUT_SUCCESS_URL' | 'CHECKOUT_CANCEL_URL' | 'PORTAL_RETURN_URL'
  >,
  stripe: StripeBilling,
  logger: Pick<Logger, 'warn'>,
  now = () => new Date(),
) => ({
  accounts: openBillingAccounts(table),
  users: openUsers(table),
  readUsage: openPeriodUsage(table),
  stripe,
  prices: environment.STRIPE_PRICES,
  successUrl: environment.CHECKOUT_SUCCESS_URL,
  cancelUrl: environment.CHECKOUT_CANCEL_URL,
  returnUrl: environment.PORTAL_RETURN_URL,
  logger,
  now,
});

export type Billing = ReturnType<typeof openBilling>;
