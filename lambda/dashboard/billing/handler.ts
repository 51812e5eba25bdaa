import { Logger } from '@aws-lambda-powertools/logger';
import * as z from 'zod/mini';
import { openUsers } from '../../data/accounts/users.ts';
import { openBillingAccounts } from '../../data/billing/billing-accounts.ts';
import { openPeriodUsage } from '../../data/billing/billing-usage.ts';
import { openTable } from '../../data/table/table.ts';
import { type BillingEnvironment, type StripeEnvironment, stripeEnvironment } from '../../environment.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { openStripe } from '../../integrations/open-stripe.ts';
import { stackOptions } from '../stack-options.ts';
import { billingStatus } from './billing-status.ts';
import { checkout } from './checkout.ts';
import * as operations from './operations.ts';
import { planPrices } from './plan-prices.ts';
import { portal } from './portal.ts';

const environment = z
  .extend(stripeEnvironment, {
    CORS_ORIGINS: dashboardEnvironment.shape.CORS_ORIGINS,
    USER_POOL_CLIENT_ID: dashboardEnvironment.shape.USER_POOL_CLIENT_ID,
    CHECKOUT_SUCCESS_URL: z.string(),
    CHECKOUT_CANCEL_URL: z.string(),
    PORTAL_RETURN_URL: z.string(),
  } satisfies Record<Exclude<keyof BillingEnvironment, keyof StripeEnvironment>, z.ZodMiniType>)
  .parse(process.env);

const table = openTable(environment.TABLE_NAME);
const accounts = openBillingAccounts(table);
const stripe = openStripe(environment);
const urls = {
  success: environment.CHECKOUT_SUCCESS_URL,
  cancel: environment.CHECKOUT_CANCEL_URL,
  portalReturn: environment.PORTAL_RETURN_URL,
};

const logger = new Logger({ serviceName: 'dashboard-billing' });

/** Everything under /api/billing except the webhook, which is a separate function. */
export const handler = httpStack(
  [
    route(operations.billingStatus, billingStatus({ accounts, usage: openPeriodUsage(table), now: () => new Date() })),
    route(operations.planPrices, planPrices({ stripe, prices: environment.STRIPE_PRICES, logger, now: Date.now })),
    route(
      operations.checkout,
      checkout({ accounts, users: openUsers(table), stripe, prices: environment.STRIPE_PRICES, urls }),
    ),
    route(operations.portal, portal({ accounts, stripe, returnUrl: urls.portalReturn })),
  ],
  stackOptions(logger, table, environment),
);
