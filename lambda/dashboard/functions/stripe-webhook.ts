import { Logger } from '@aws-lambda-powertools/logger';
import { openBillingAccounts } from '../../data/billing/billing-accounts.ts';
import { openBillingEvents } from '../../data/billing/billing-events.ts';
import { openBillingSync } from '../../data/billing/billing-sync.ts';
import { openTable } from '../../data/table/table.ts';
import { stripeWebhookEnvironment } from '../../environment.ts';
import { openSecret, openStripe } from '../../integrations/stripe-billing.ts';
import { stripeEventReader } from '../../integrations/stripe-webhook-event.ts';
import { billingReader, receiveEvent } from '../stripe-webhook/receive-event.ts';
import { webhookStack } from '../stripe-webhook/webhook-stack.ts';

const environment = stripeWebhookEnvironment.parse(process.env);
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
