import * as z from 'zod/mini';
import { operation } from '../../http/operation.ts';

export const receiveStripeEvent = operation({
  id: 'receiveStripeEvent',
  method: 'POST',
  path: '/billing/webhook',
  group: 'Billing',
  summary: 'Receive an event of the payment processor',
  description:
    'For Stripe alone, with its `Stripe-Signature` header; clients do not call it. Events may come late, twice and in any order: what holds is read from Stripe. Kinds of events that concern no account are taken and ignored.',
  access: 'public',
  body: z.looseObject({ id: z.string(), type: z.string() }).check(z.meta({ description: "Stripe's event object." })),
  success: {
    status: 200,
    description: 'Its effects are in force.',
    schema: z.object({ received: z.literal(true) }),
  },
  errors: [],
});
