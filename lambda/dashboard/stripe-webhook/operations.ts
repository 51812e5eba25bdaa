import * as z from 'zod/mini';
import { inGroup, ok } from '../../http/operation.ts';

const operation = inGroup('Billing');

export const receiveStripeEvent = operation('receiveStripeEvent', 'POST /billing/webhook', {
  audits: ['plan.changed'],
  summary: 'Receive an event of the payment processor',
  description:
    'For Stripe only, with its `Stripe-Signature` header; clients do not call it. Events may arrive late, twice and in any order, because the current state is read from Stripe. Events that do not affect an account are accepted and ignored.',
  access: 'public',
  body: z.looseObject({ id: z.string(), type: z.string() }).check(z.meta({ description: "Stripe's event object." })),
  success: ok('The event is processed.', { received: z.literal(true) }),
});
