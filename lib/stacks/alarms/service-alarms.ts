import type { Duration } from 'aws-cdk-lib';
import type { ICertificate } from 'aws-cdk-lib/aws-certificatemanager';
import { ComparisonOperator, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { ScheduledFunction } from '../../constructs/handler-function.ts';
import type { ImportedApi } from '../../constructs/imported-api.ts';
import type { RunbookAlarm } from '../../constructs/runbook-alarms.ts';
import { FIVE_MINUTES, HOUR, type StageMetrics, serverErrorShare, throttledItems } from '../metrics.ts';

const { LESS_THAN_THRESHOLD } = ComparisonOperator;

export const dashboardAlarms = (api: ImportedApi): RunbookAlarm[] => [
  {
    id: 'DashboardServerErrors',
    summary: 'More than 5 % of the dashboard requests got 5xx.',
    metric: serverErrorShare(api),
    threshold: 5,
    periods: { breaching: 3, of: 5 },
  },
];

/** AWS renews a certificate 45 days before its end at the latest, as long as the record that validated it is in the DNS. */
export const certificateAlarms = (certificate: ICertificate | undefined): RunbookAlarm[] =>
  certificate
    ? [
        {
          id: 'CertificateExpiry',
          summary: 'The certificate ends within 30 days, and AWS has not renewed it.',
          metric: certificate.metricDaysToExpiry(),
          operator: LESS_THAN_THRESHOLD,
          threshold: 30,
        },
      ]
    : [];

export const tableAlarms = (table: ITable): RunbookAlarm[] => [
  {
    id: 'TableThrottles',
    summary: 'The table throttles reads or writes: a partition is hot, or a quota is reached.',
    metric: throttledItems(table),
    threshold: 100,
    periods: { breaching: 2, of: 3 },
  },
];

/** Between Stripe and the accounts. */
export const billingAlarms = ({ reconcileCount, webhookFailures }: StageMetrics): RunbookAlarm[] => [
  {
    id: 'StripeWebhookFailures',
    summary:
      'Stripe events cannot be processed: plans and suspensions are late. Stripe sends them again for three days.',
    metric: webhookFailures,
    periods: { breaching: 2, of: 3 },
  },
  {
    id: 'RepairedAccounts',
    summary: 'Accounts differed from Stripe and were repaired: Stripe events do not arrive.',
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

/** Scheduled functions that fail, do not run, or take too long. */
export const scheduledAlarms = (scheduled: readonly ScheduledFunction[]): RunbookAlarm[] =>
  scheduled.flatMap((each): RunbookAlarm[] => [
    {
      id: `${each.node.id}Errors`,
      summary: `The scheduled function "${each.node.id}" fails.`,
      section: 'scheduled-function-fails',
      metric: each.metricErrors({ period: atLeastFiveMinutes(each.every) }),
      periods: { breaching: 2, of: 3 },
    },
    {
      id: `${each.node.id}NotRunning`,
      summary: `The scheduled function "${each.node.id}" has not run.`,
      section: 'scheduled-function-does-not-run',
      metric: each.metricInvocations({ period: atLeastFiveMinutes(each.every) }),
      operator: LESS_THAN_THRESHOLD,
      threshold: 1,
      periods: { breaching: 2, of: 2 },
      ringsWithoutData: true,
    },
    {
      id: `${each.node.id}Lag`,
      summary: `Runs of the scheduled function "${each.node.id}" take too long, so that its work is late.`,
      section: 'scheduled-function-lags',
      metric: each.metricDuration({ period: atLeastFiveMinutes(each.every), statistic: Stats.MAXIMUM }),
      threshold: Math.min(each.every.toMilliseconds(), 0.9 * (each.timeout ?? each.every).toMilliseconds()),
      periods: { breaching: 3, of: 3 },
    },
  ]);

const atLeastFiveMinutes = (duration: Duration) =>
  duration.toSeconds() > FIVE_MINUTES.toSeconds() ? duration : FIVE_MINUTES;
