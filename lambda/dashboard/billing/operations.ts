import * as z from 'zod/mini';
import { billingStatuses, planNames } from '../../domain/billing/plans.ts';
import { paidPlanNames } from '../../domain/billing/price-list.ts';
import { operation } from '../../http/operation.ts';

const group = 'Billing';

const url = z.url().check(z.describe('Send the user there. It is a key to the page: neither log nor keep it.'));

export const billingStatus = operation({
  id: 'billingStatus',
  method: 'GET',
  path: '/billing/status',
  group,
  summary: 'Plan, subscription status and usage',
  description:
    'Limits on requests are soft: past them, traffic goes on. A plan with the status UNPAID is suspended: proxy requests are rejected with ACCOUNT_INACTIVE until it is paid.',
  access: 'authorizer',
  success: {
    status: 200,
    description: 'As of now. After a payment it may take some seconds to show.',
    schema: z
      .object({
        plan: z.enum(planNames),
        billingStatus: z
          .enum(billingStatuses)
          .check(z.describe('Of the subscription. ACTIVE on FREE; CANCELED where a paid plan has ended.')),
        usage: z.object({
          trackedRequests: z
            .int()
            .check(
              z.nonnegative(),
              z.describe(
                "In the current period: the calendar month (UTC) on FREE, the subscription's own otherwise. The hour in which that began counts whole.",
              ),
            ),
          limit: z.int().check(z.positive(), z.describe('Tracked requests a period that the plan allows.')),
          keys: z.int().check(z.nonnegative(), z.describe('Active service keys.')),
          keyLimit: z.int().check(z.positive(), z.describe('Active service keys the plan allows.')),
        }),
        currentPeriodEnd: z.iso.datetime().check(z.describe('When the period ends and the next begins.')),
      })
      .register(z.globalRegistry, { id: 'BillingStatus' }),
  },
  errors: [],
});

export const checkout = operation({
  id: 'checkout',
  method: 'POST',
  path: '/billing/checkout',
  group,
  summary: 'Buy a plan, or change to another',
  description:
    "Gives a page of the payment processor to send the user to: a checkout; or, where the account pays for another plan already, that subscription's change in the customer portal. The plan changes once the user has confirmed there.",
  access: 'authorizer',
  body: z.strictObject({
    plan: z.enum(paidPlanNames, {
      error: ({ input }) =>
        input === 'FREE' ? 'is not bought: POST /billing/portal leads to where a paid plan is cancelled' : undefined,
    }),
  }),
  success: {
    status: 200,
    description: 'Where to send the user.',
    schema: z.object({ url, sessionId: z.string().check(z.describe("The payment processor's id of the page.")) }),
  },
  errors: ['CONFLICT'],
});

export const portal = operation({
  id: 'portal',
  method: 'POST',
  path: '/billing/portal',
  group,
  summary: 'Manage the subscription',
  description:
    'Gives a page of the payment processor to send the user to: cards, invoices, payment of what is due, cancellation.',
  access: 'authorizer',
  success: { status: 200, description: 'Where to send the user.', schema: z.object({ url }) },
  errors: ['CONFLICT'],
});
