import * as z from 'zod/mini';
import { billingStatuses, planNames } from '../../domain/billing/plans.ts';
import { paidPlanNames, priceIntervals } from '../../domain/billing/price-list.ts';
import { component, inGroup, ok } from '../../http/operation.ts';
import { count, described } from '../../http/parameters.ts';

const operation = inGroup('Billing');

const url = described(
  z.url(),
  'Redirect the user to it. Anyone with this URL can open the page: do not log or store it.',
);

export const billingStatus = operation('billingStatus', 'GET /billing/status', {
  summary: 'Read plan, subscription status and usage',
  description:
    'Request limits are soft: traffic continues above them. With the status UNPAID the account is suspended: proxy requests are rejected with ACCOUNT_INACTIVE until it is paid.',
  permission: 'billing:read',
  success: ok(
    'The current state. A payment may take a few seconds to show.',
    component('BillingStatus', {
      plan: z.enum(planNames),
      billingStatus: described(
        z.enum(billingStatuses),
        'Status of the subscription. ACTIVE on FREE; CANCELED after a paid plan has ended.',
      ),
      usage: z.object({
        trackedRequests: described(
          count,
          'In the current period: the calendar month (UTC) on FREE, otherwise the billing period of the subscription. The whole hour in which the period began is included.',
        ),
        limit: described(z.int().check(z.positive()), 'Tracked requests per period that the plan includes.'),
        keys: described(count, 'Active service keys.'),
        keyLimit: described(z.int().check(z.positive()), 'Active service keys that the plan allows.'),
      }),
      currentPeriodEnd: described(z.iso.datetime(), 'End of the current period and start of the next.'),
    }),
  ),
});

export const planPrices = operation('planPrices', 'GET /billing/prices', {
  summary: 'Read what plans cost',
  description: 'The prices of new subscriptions at the payment processor, up to ten minutes old. FREE costs nothing.',
  permission: 'billing:read',
  success: ok('The paid plans, from the smallest.', {
    items: z.array(
      z.object({
        plan: z.enum(paidPlanNames),
        isSold: described(z.boolean(), 'False where the plan cannot be bought here.'),
        price: described(
          z.nullable(
            z.object({
              amountMinor: described(
                count,
                "In the currency's minor unit: 2900 is 29 US dollars, and 2,900 yen. Taxes may come on top.",
              ),
              amount: described(z.string(), 'The same as a decimal string: `29.00`, `2900`.'),
              currency: described(z.string(), 'ISO 4217: `USD`.'),
              interval: z.enum(priceIntervals),
              intervalCount: z.int().check(z.positive()),
            }),
          ),
          'Null where it is not known now. The checkout shows it before the user pays.',
        ),
      }),
    ),
  }),
});

export const checkout = operation('checkout', 'POST /billing/checkout', {
  audits: 'Stripe reports what is bought: plan.changed.',
  summary: 'Buy a plan, or change to another',
  description:
    'Returns the URL of a page of the payment processor: a checkout or, if the account already pays for another plan, the change of that subscription in the customer portal. The plan changes after the user confirms there.',
  permission: 'billing:write',
  body: z.strictObject({
    plan: z.enum(paidPlanNames, {
      error: ({ input }) =>
        input === 'FREE' ? 'cannot be bought: to cancel a paid plan, use POST /billing/portal' : undefined,
    }),
  }),
  success: ok('The page to redirect the user to.', {
    url,
    sessionId: described(z.string(), 'Id of the page at the payment processor.'),
  }),
  errors: ['CONFLICT'],
});

export const portal = operation('portal', 'POST /billing/portal', {
  audits: 'Stripe reports what is changed: plan.changed.',
  summary: 'Manage the subscription',
  description: 'Returns the URL of a page of the payment processor for cards, invoices, payments due and cancellation.',
  permission: 'billing:write',
  success: ok('The page to redirect the user to.', { url }),
  errors: ['CONFLICT'],
});
