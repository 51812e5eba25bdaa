import { Duration } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { type IMetric, MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { ProviderLabel } from '../../lambda/domain/providers.ts';

export const FIVE_MINUTES = Duration.minutes(5);
export const HOUR = Duration.hours(1);

/** Namespace of the metrics that our functions write. @see lambda/usage-recorder/{report,traffic}.ts, lambda/usage-recorder/{sweep,rollup}/ */
const NAMESPACE = 'AiSpendGateway';

const METRICS = {
  'usage-recorder': [
    'RecordedEvents',
    'KnownEvents',
    'UnfinishedRequests',
    'OverflowRequests',
    'UnownedEvents',
    'ExpiredEvents',
    'FailedEvents',
    'PoisonMessages',
  ],
  'usage-sweep': ['SweptEvents', 'RefusedOutboxEntries'],
  'usage-rollup': ['RolledUpPeriods', 'RollupFailures'],
  'billing-reconcile': ['RepairedAccounts', 'UnreconciledAccounts', 'DuplicateSubscriptions', 'UnownedSubscriptions'],
  'rule-evaluator': ['EvaluationFailures', 'AlertsFired', 'MailFailures', 'EvaluationLagMs'],
} as const;

/** A count that a function writes to its log in the embedded metric format. */
const functionCount =
  <S extends keyof typeof METRICS>(service: S) =>
  (metricName: (typeof METRICS)[S][number], period = FIVE_MINUTES): Metric =>
    new Metric({
      namespace: NAMESPACE,
      metricName,
      dimensionsMap: { service },
      statistic: Stats.SUM,
      period,
    });

export const recorderCount = functionCount('usage-recorder');
export const sweepCount = functionCount('usage-sweep');
export const rollupCount = functionCount('usage-rollup');
export const evaluatorCount = functionCount('rule-evaluator');
export const reconcileCount = functionCount('billing-reconcile');

/** The longest time from the minute a run was due to the end of its work. */
export const evaluationLag = evaluatorCount('EvaluationLagMs').with({ statistic: Stats.MAXIMUM });

/** Stripe events that got 5xx. @see lib/stacks/dashboard-api-resources.ts */
export const webhookFailures = new Metric({
  namespace: NAMESPACE,
  metricName: 'StripeWebhookFailures',
  statistic: Stats.SUM,
  period: FIVE_MINUTES,
});

type TrafficMetric = 'Requests' | 'BypassedRequests' | 'UnpricedRequests' | 'OverheadMs' | 'TimeToFirstByteMs';

/** Gateway traffic of all providers or of one. The recorder counts it, so it is as late as the usage queue. */
export const traffic = (
  metricName: TrafficMetric,
  {
    provider,
    statistic = Stats.SUM,
    period = FIVE_MINUTES,
  }: { readonly provider?: ProviderLabel; readonly statistic?: string; readonly period?: Duration } = {},
): Metric =>
  new Metric({
    namespace: NAMESPACE,
    metricName,
    dimensionsMap: { service: 'gateway', ...(provider === undefined ? {} : { provider }) },
    statistic,
    period,
    label: provider ?? (statistic === Stats.SUM ? metricName : statistic),
  });

/** Percentage of a whole; no data where the whole is 0. */
export const share = (label: string, part: IMetric, whole: IMetric, period = FIVE_MINUTES): MathExpression => {
  // An id is unique in its graph and begins in lower case.
  const id = label.replace(/\W/g, '').toLowerCase();
  return new MathExpression({
    label,
    expression: `IF(${id}Whole > 0, 100 * FILL(${id}Part, 0) / ${id}Whole)`,
    usingMetrics: { [`${id}Part`]: part, [`${id}Whole`]: whole },
    period,
  });
};

export const errorShare = (handler: LambdaFunction): MathExpression =>
  share(
    'Errors, %',
    handler.metricErrors({ period: FIVE_MINUTES }),
    handler.metricInvocations({ period: FIVE_MINUTES }),
  );

export const serverErrorShare = (api: RestApi): MathExpression =>
  share(
    'Server errors, %',
    api.metricServerError({ period: FIVE_MINUTES, statistic: Stats.SUM }),
    api.metricCount({ period: FIVE_MINUTES }),
  );

/** Reads and writes that the table throttled. */
export const throttledItems = (table: ITable): MathExpression =>
  new MathExpression({
    label: 'Throttled',
    expression: 'FILL(reads, 0) + FILL(writes, 0)',
    usingMetrics: {
      reads: table.metric('ReadThrottleEvents', { period: FIVE_MINUTES, statistic: Stats.SUM }),
      writes: table.metric('WriteThrottleEvents', { period: FIVE_MINUTES, statistic: Stats.SUM }),
    },
    period: FIVE_MINUTES,
  });
