import { Logger } from '@aws-lambda-powertools/logger';
import * as z from 'zod/mini';
import { openBillingAccounts } from '../../data/billing/billing-accounts.ts';
import { openBillingEvents } from '../../data/billing/billing-events.ts';
import { openBillingSync } from '../../data/billing/billing-sync.ts';
import { openTable } from '../../data/table/table.ts';
import { type StripeEnvironment, type StripeWebhookEnvironment, stripeEnvironment } from '../../environment.ts';
import { openSecret, openStripe } from '../../integrations/open-stripe.ts';
import { stripeEventReader } from '../../integrations/stripe-webhook-event.ts';
import { billingReader } from './billing-reader.ts';
import { receiveEvent } from './receive-event.ts';
import { webhookStack } from './webhook-stack.ts';

const environment = z
  .extend(stripeEnvironment, { STRIPE_WEBHOOK_SECRETS_ID: z.string().check(z.minLength(1)) } satisfies Record<
    Exclude<keyof StripeWebhookEnvironment, keyof StripeEnvironment>,
    z.ZodMiniType
  >)
  .parse(process.env);

const table = openTable(environment.TABLE_NAME);
const stripe = openStripe(environment);
const logger = new Logger({ serviceName: 'stripe-webhook' });

/** POST /api/billing/webhook. */
export const handler = webhookStack(
  receiveEvent({
    readEvent: stripeEventReader(openSecret(environment.STRIPE_WEBHOOK_SECRETS_ID)),
    events: openBillingEvents(table),
    accounts: openBillingAccounts(table),
    sync: openBillingSync(table, billingReader(stripe, environment.STRIPE_PRICES)),
    stripe,
    logger,
  }),
  logger,
);
