import { openUsers } from '../../data/accounts/users.ts';
import { openBillingAccounts } from '../../data/billing/billing-accounts.ts';
import { openPeriodUsage } from '../../data/billing/billing-usage.ts';
import { billingEnvironment } from '../../environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { openStripe } from '../../integrations/open-stripe.ts';
import { billingStatus, planPrices } from '../billing/billing-status.ts';
import { checkout, portal } from '../billing/checkout.ts';
import * as operations from '../billing/operations.ts';
import { openFunction } from '../open-function.ts';

const environment = billingEnvironment.parse(process.env);
const { logger, table, options } = openFunction('dashboard-billing', environment);
const accounts = openBillingAccounts(table);
const stripe = openStripe(environment);
const prices = environment.STRIPE_PRICES;
const urls = {
  success: environment.CHECKOUT_SUCCESS_URL,
  cancel: environment.CHECKOUT_CANCEL_URL,
  portalReturn: environment.PORTAL_RETURN_URL,
};

/** Serves the plan and its purchase: it calls Stripe. */
export const handler = httpStack(
  [
    route(operations.billingStatus, billingStatus({ accounts, usage: openPeriodUsage(table), now: () => new Date() })),
    route(operations.planPrices, planPrices({ stripe, prices, logger, now: Date.now })),
    route(operations.checkout, checkout({ accounts, users: openUsers(table), stripe, prices, urls })),
    route(operations.portal, portal({ accounts, stripe, returnUrl: urls.portalReturn })),
  ],
  options,
);
