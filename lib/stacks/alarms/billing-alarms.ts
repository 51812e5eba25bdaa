import { ComparisonOperator } from 'aws-cdk-lib/aws-cloudwatch';
import type { RunbookAlarm } from '../../constructs/alarm-topic.ts';
import { HOUR, reconcileCount, webhookFailures } from '../metrics.ts';

const { GREATER_THAN_OR_EQUAL_TO_THRESHOLD } = ComparisonOperator;

/** Between Stripe and the accounts. */
export const billingAlarms = (): RunbookAlarm[] => [
  {
    id: 'StripeWebhookFailures',
    summary:
      'Events of Stripe cannot be worked off: plans and suspensions are late. Stripe sends them again for three days.',
    section: 'stripe-webhook-failures',
    metric: webhookFailures,
    operator: GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    threshold: 1,
    periods: { breaching: 2, of: 3 },
  },
  {
    id: 'RepairedAccounts',
    summary: 'Accounts were not what Stripe says, and have been put right: events of Stripe do not arrive.',
    section: 'repaired-accounts',
    metric: reconcileCount('RepairedAccounts', HOUR),
    operator: GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    threshold: 1,
  },
  ...(['UnreconciledAccounts', 'DuplicateSubscriptions', 'UnownedSubscriptions'] as const).map(
    (metricName): RunbookAlarm => ({
      id: metricName,
      summary: 'Somebody pays for what he does not get, or has what he does not pay for, and only people can tell.',
      section: 'billing-differences',
      metric: reconcileCount(metricName, HOUR),
      operator: GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      threshold: 1,
    }),
  ),
];
