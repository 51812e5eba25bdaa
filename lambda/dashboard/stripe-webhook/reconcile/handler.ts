import { openBillingAccounts } from '../../../data/billing/billing-accounts.ts';
import { openBillingSync } from '../../../data/billing/billing-sync.ts';
import { openTable } from '../../../data/table/table.ts';
import { reconcileEnvironment } from '../../../environment.ts';
import { openStripe } from '../../../integrations/stripe-billing.ts';
import { onSchedule } from '../../../on-schedule.ts';
import { billingReader } from '../receive-event.ts';
import { reconcile } from './reconcile.ts';

const environment = reconcileEnvironment.parse(process.env);
const table = openTable(environment.TABLE_NAME);
const stripe = openStripe(environment);
const prices = environment.STRIPE_PRICES;
const { logger, metrics, handlerOf } = onSchedule('billing-reconcile');
const run = reconcile({
  accounts: openBillingAccounts(table),
  stripe,
  sync: openBillingSync(table, billingReader(stripe, prices)),
  prices,
  logger,
  metrics,
});

/** Runs daily and compares accounts with Stripe's subscriptions. */
export const handler = handlerOf(run);
