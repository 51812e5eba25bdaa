import * as z from 'zod/mini';
import { billingStatuses, planNames } from '../../domain/billing/plans.ts';
import { paidPlanNames } from '../../domain/billing/price-list.ts';
import { operation } from '../../http/operation.ts';

const group = 'Billing';

const url = z
  .url()
  .check(z.describe('Redirect the user to it. Anyone with this URL can open the page: do not log or store it.'));

export const billingStatus = operation({
  id: 'billingStatus',
  method: 'GET',
  path: '/billing/status',
  group,
  summary: 'Read plan, subscription status and usage',
  description:
    'Request limits are soft: traffic continues above them. With the status UNPAID the account is suspended: proxy requests are rejected with ACCOUNT_INACTIVE until it is paid.',
  permission: 'billing:read',
  success: {
    status: 200,
    description: 'The current state. A payment may take a few seconds to show.',
    schema: z
      .object({
        plan: z.enum(planNames),
        billingStatus: z
          .enum(billingStatuses)
          .check(z.describe('Status of the subscription. ACTIVE on FREE; CANCELED after a paid plan has ended.')),
        usage: z.object({
          trackedRequests: z
            .int()
            .check(
              z.nonnegative(),
              z.describe(
                'In the current period: the calendar month (UTC) on FREE, otherwise the billing period of the subscription. The whole hour in which the period began is included.',
              ),
            ),
          limit: z.int().check(z.positive(), z.describe('Tracked requests per period that the plan includes.')),
          keys: z.int().check(z.nonnegative(), z.describe('Active service keys.')),
          keyLimit: z.int().check(z.positive(), z.describe('Active service keys that the plan allows.')),
        }),
        currentPeriodEnd: z.iso.datetime().check(z.describe('End of the current period and start of the next.')),
      })
      .register(z.globalRegistry, { id: 'BillingStatus' }),
  },
});

export const checkout = operation({
  id: 'checkout',
  method: 'POST',
  path: '/billing/checkout',
  group,
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
  success: {
    status: 200,
    description: 'The page to redirect the user to.',
    schema: z.object({ url, sessionId: z.string().check(z.describe('Id of the page at the payment processor.')) }),
  },
  errors: ['CONFLICT'],
});

export const portal = operation({
  id: 'portal',
  method: 'POST',
  path: '/billing/portal',
  group,
  summary: 'Manage the subscription',
  description: 'Returns the URL of a page of the payment processor for cards, invoices, payments due and cancellation.',
  permission: 'billing:write',
  success: { status: 200, description: 'The page to redirect the user to.', schema: z.object({ url }) },
  errors: ['CONFLICT'],
});
