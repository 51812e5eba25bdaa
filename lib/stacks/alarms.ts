import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { RunbookAlarm } from '../constructs/alarm-topic.ts';
import {
  errorShare,
  evaluatorCount,
  reconcileCount,
  recorderCount,
  sealCount,
  serverErrorShare,
  share,
  sweepCount,
  throttledItems,
  traffic,
  webhookFailures,
} from './metrics.ts';
import type { Monitored } from './monitoring.ts';

const { GREATER_THAN_THRESHOLD, GREATER_THAN_OR_EQUAL_TO_THRESHOLD, LESS_THAN_THRESHOLD } = ComparisonOperator;

const FIVE_MINUTES = Duration.minutes(5);
const HOUR = Duration.hours(1);

const atLeast = (least: Duration, duration: Duration) => (duration.toSeconds() > least.toSeconds() ? duration : least);

/** Every alarm. `section` is the anchor of a heading of docs/runbook.md; a test holds the two together. */
export const alarms = ({
  settings,
  table,
  usage,
  gateway,
  dashboard,
  scheduled,
}: Monitored): readonly RunbookAlarm[] => [
  {
    id: 'LostUsageEvents',
    summary:
      'A usage event could be delivered neither to the queue nor to the table: it is in the log of the gateway only.',
    section: 'lost-usage-events',
    metric: new Metric({ ...gateway.lostEvents, statistic: Stats.SUM, period: FIVE_MINUTES }),
    operator: GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    threshold: 1,
  },
  {
    id: 'DeadLetters',
    summary: 'Usage events were given up after repeated deliveries: their requests are missing from the spend.',
    section: 'dead-letters',
    metric: usage.deadLetterQueue.metricApproximateNumberOfMessagesVisible({
      period: FIVE_MINUTES,
      statistic: Stats.MAXIMUM,
    }),
    operator: GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    threshold: 1,
  },
  {
    id: 'RefusedParkedEvents',
    summary: 'The sweep set events aside that can never be recorded: their requests are missing from the spend.',
    section: 'refused-parked-events',
    metric: sweepCount('RefusedParkedEvents'),
    operator: GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    threshold: 1,
  },
  {
    id: 'UsageQueueAge',
    summary: 'The recorder falls behind: spend and alerts are late.',
    section: 'usage-queue-age',
    metric: usage.queue.metricApproximateAgeOfOldestMessage({ period: FIVE_MINUTES, statistic: Stats.MAXIMUM }),
    operator: GREATER_THAN_THRESHOLD,
    // An open event counts as old from the moment it was sent, also while it is held back.
    threshold: settings.gateway.openEventDelaySeconds + 600,
    periods: { breaching: 2, of: 2 },
  },
  {
    id: 'RecorderErrors',
    summary: 'The usage recorder fails on whole batches.',
    section: 'recorder-errors',
    metric: usage.recorder.metricErrors({ period: FIVE_MINUTES }),
    operator: GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    threshold: 1,
    periods: { breaching: 2, of: 3 },
  },
  {
    id: 'UnsettledRequests',
    summary: 'More than 1 % of the requests of an hour ended without a close event: their cost is unknown.',
    section: 'unsettled-requests',
    metric: share(
      'Unsettled, %',
      recorderCount('UnsettledRequests', HOUR),
      recorderCount('RecordedEvents', HOUR),
      HOUR,
    ),
    operator: GREATER_THAN_THRESHOLD,
    threshold: 1,
  },
  {
    id: 'UnpricedRequests',
    summary: 'More than 10 % of the requests of an hour have no known cost: most often a new model without a price.',
    section: 'unpriced-requests',
    metric: share(
      'Unpriced, %',
      traffic('UnpricedRequests', { period: HOUR }),
      traffic('Requests', { period: HOUR }),
      HOUR,
    ),
    operator: GREATER_THAN_THRESHOLD,
    threshold: 10,
  },
  {
    id: 'BypassedRequests',
    summary:
      'More than 1 % of the requests were forwarded without being registered first: the usage queue or the table is slow or down.',
    section: 'bypassed-requests',
    metric: share('Bypassed, %', traffic('BypassedRequests'), traffic('Requests')),
    operator: GREATER_THAN_THRESHOLD,
    threshold: 1,
    periods: { breaching: 3, of: 5 },
  },
  {
    id: 'GatewayOverhead',
    summary: 'Every tenth request waited more than 200 ms in the gateway before it was forwarded.',
    section: 'gateway-overhead',
    metric: traffic('OverheadMs', { statistic: Stats.p(90) }),
    operator: GREATER_THAN_THRESHOLD,
    threshold: 200,
    periods: { breaching: 3, of: 3 },
    ignoresFewSamples: true,
  },
  {
    id: 'SealFailures',
    summary: 'Days or months that are over cannot be summarised: spend is read from live cells, slower but as right.',
    section: 'seal-failures',
    metric: sealCount('SealFailures', HOUR),
    operator: GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    threshold: 1,
    periods: { breaching: 3, of: 3 },
  },
  {
    id: 'EvaluationFailures',
    summary: 'Alert rules of some accounts could not be judged, or alerts not be sent.',
    section: 'evaluation-failures',
    metric: evaluatorCount('EvaluationFailures'),
    operator: GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    threshold: 1,
    periods: { breaching: 3, of: 3 },
  },
  {
    id: 'MailFailures',
    summary: 'Mail with alerts was not taken by SES; it is tried again for some hours.',
    section: 'mail-failures',
    metric: evaluatorCount('MailFailures'),
    operator: GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    threshold: 1,
    periods: { breaching: 2, of: 3 },
  },
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
  ...scheduled.flatMap((each): RunbookAlarm[] => [
    {
      id: `${each.node.id}Errors`,
      summary: `The scheduled function "${each.node.id}" fails.`,
      section: 'scheduled-function-fails',
      metric: each.metricErrors({ period: atLeast(FIVE_MINUTES, each.every) }),
      operator: GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      threshold: 1,
      periods: { breaching: 2, of: 3 },
    },
    {
      id: `${each.node.id}NotRunning`,
      summary: `The scheduled function "${each.node.id}" has not run.`,
      section: 'scheduled-function-does-not-run',
      metric: each.metricInvocations({ period: atLeast(FIVE_MINUTES, each.every) }),
      operator: LESS_THAN_THRESHOLD,
      threshold: 1,
      periods: { breaching: 2, of: 2 },
      missingIsBreach: true,
    },
    {
      id: `${each.node.id}Lag`,
      summary: `Runs of the scheduled function "${each.node.id}" take too long, so that its work is late.`,
      section: 'scheduled-function-lags',
      metric: each.metricDuration({ period: atLeast(FIVE_MINUTES, each.every), statistic: Stats.MAXIMUM }),
      operator: GREATER_THAN_THRESHOLD,
      threshold: Math.min(each.every.toMilliseconds(), 0.9 * (each.timeout ?? each.every).toMilliseconds()),
      periods: { breaching: 3, of: 3 },
    },
  ]),
  ...gateway.proxies.flatMap((proxy) => proxyAlarms(proxy)),
  {
    id: 'DashboardServerErrors',
    summary: 'More than 5 % of the dashboard requests were answered with 5xx.',
    section: 'dashboard-server-errors',
    metric: serverErrorShare(dashboard.api),
    operator: GREATER_THAN_THRESHOLD,
    threshold: 5,
    periods: { breaching: 3, of: 5 },
  },
  {
    id: 'TableThrottles',
    summary: 'The table refuses reads or writes for their rate: a partition is hot, or a quota is reached.',
    section: 'table-throttles',
    metric: throttledItems(table),
    operator: GREATER_THAN_THRESHOLD,
    threshold: 100,
    periods: { breaching: 2, of: 3 },
  },
];

const proxyAlarms = ({
  node,
  handler,
  api,
  reservedConcurrency,
}: Monitored['gateway']['proxies'][number]): RunbookAlarm[] => {
  const bounded: RunbookAlarm[] =
    reservedConcurrency === undefined
      ? []
      : [
          {
            id: `${node.id}Concurrency`,
            summary: 'A gateway function uses more than 80 % of the concurrency reserved for it.',
            section: 'gateway-throttles',
            metric: handler.metric('ConcurrentExecutions', { period: FIVE_MINUTES, statistic: Stats.MAXIMUM }),
            operator: GREATER_THAN_THRESHOLD,
            threshold: Math.floor(reservedConcurrency * 0.8),
          },
        ];
  return [
    {
      id: `${node.id}Errors`,
      summary:
        'More than 5 % of the proxied requests broke off: the function crashed or ran out of time, or a provider breaks its streams.',
      section: 'gateway-errors',
      metric: errorShare(handler),
      operator: GREATER_THAN_THRESHOLD,
      threshold: 5,
      periods: { breaching: 3, of: 5 },
    },
    {
      id: `${node.id}Throttles`,
      summary: 'Proxy requests were refused because no concurrency was left.',
      section: 'gateway-throttles',
      metric: handler.metricThrottles({ period: FIVE_MINUTES }),
      operator: GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      threshold: 1,
    },
    ...bounded,
    {
      id: `${node.id}ServerErrors`,
      summary: 'More than 25 % of the proxied requests were answered with 5xx, by a provider or by us.',
      section: 'gateway-server-errors',
      metric: serverErrorShare(api),
      operator: GREATER_THAN_THRESHOLD,
      threshold: 25,
      periods: { breaching: 3, of: 5 },
    },
  ];
};
