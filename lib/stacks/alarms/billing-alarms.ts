import type { RunbookAlarm } from '../../constructs/runbook-alarms.ts';
import { HOUR, type StageMetrics } from '../metrics.ts';

/** Between Stripe and the accounts. */
export const billingAlarms = ({ reconcileCount, webhookFailures }: StageMetrics): RunbookAlarm[] => [
  {
    id: 'StripeWebhookFailures',
    summary:
      'Stripe events cannot be processed: plans and suspensions are late. Stripe sends them again for three days.',
    section: 'stripe-webhook-failures',
    metric: webhookFailures,
    periods: { breaching: 2, of: 3 },
  },
  {
    id: 'RepairedAccounts',
    summary: 'Accounts differed from Stripe and were repaired: Stripe events do not arrive.',
    section: 'repaired-accounts',
    metric: reconcileCount('RepairedAccounts', HOUR),
  },
  ...(['UnreconciledAccounts', 'DuplicateSubscriptions', 'UnownedSubscriptions'] as const).map(
    (metricName): RunbookAlarm => ({
      id: metricName,
      summary: 'Somebody pays for a plan they do not have, or has a plan they do not pay for. A person must decide.',
      section: 'billing-differences',
      metric: reconcileCount(metricName, HOUR),
    }),
  ),
];
