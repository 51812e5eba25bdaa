import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import type { ScheduledHandler } from 'aws-lambda';
import { openBillingAccounts } from '../../../data/billing/billing-accounts.ts';
import { openBillingSync } from '../../../data/billing/billing-sync.ts';
import { openTable } from '../../../data/table/table.ts';
import { reconcileEnvironment } from '../../../environment.ts';
import { openStripe } from '../../../integrations/open-stripe.ts';
import { billingReader } from '../billing-reader.ts';
import { reconcile } from './reconcile.ts';

const environment = reconcileEnvironment.parse(process.env);
const table = openTable(environment.TABLE_NAME);
const stripe = openStripe(environment);
const prices = environment.STRIPE_PRICES;
const logger = new Logger({ serviceName: 'billing-reconcile' });
const metrics = new Metrics({ serviceName: 'billing-reconcile' });
const run = reconcile({
  accounts: openBillingAccounts(table),
  stripe,
  sync: openBillingSync(table, billingReader(stripe, prices)),
  prices,
  logger,
  metrics,
});

/** Runs daily and compares accounts with Stripe's subscriptions. */
export const handler: ScheduledHandler = async (_event, context) => {
  logger.addContext(context);
  try {
    await run(() => context.getRemainingTimeInMillis());
  } finally {
    metrics.publishStoredMetrics();
  }
};
