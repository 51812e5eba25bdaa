import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { HostLabel } from '../../lambda/domain/hosts.ts';
import type { ImportedApi } from '../constructs/imported-api.ts';
import { metricNamespace } from '../constructs/log-line-count.ts';
import { INDEX_NAME } from './data.ts';

export const MINUTE = Duration.minutes(1);
export const FIVE_MINUTES = Duration.minutes(5);
export const HOUR = Duration.hours(1);

/** Counted from the gateway's log. */
export const LOST_EVENTS = 'LostUsageEvents';

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
    'PriceBookFallbacks',
  ],
  'usage-sweep': ['SweptEvents', 'FailedEvents', 'RefusedOutboxEntries'],
  'usage-rollup': ['RolledUpPeriods', 'RollupFailures'],
  exporter: ['ExportedDays', 'ExpiredExports', 'ExportFailures'],
  'usage-repricing': ['RepricedRequests', 'RepricingFailures'],
  'price-feed': ['RefusedPriceSources', 'WaitingPriceChanges', 'PriceFeedAgeMs', 'DriftedModels'],
  'billing-reconcile': ['RepairedAccounts', 'UnreconciledAccounts', 'DuplicateSubscriptions', 'UnownedSubscriptions'],
  'rule-evaluator': ['EvaluationFailures', 'AlertsFired', 'MailFailures', 'EvaluationLagMs'],
} as const;

type TrafficMetric = 'Requests' | 'BypassedRequests' | 'UnpricedRequests' | 'OverheadMs' | 'TimeToFirstByteMs';

interface TrafficOptions {
  readonly provider?: HostLabel;
  readonly statistic?: string;
  readonly period?: Duration;
}

/**
 * The metrics that our functions write. The namespace has the stage, so that the stages of an account share no metric: counts of log
 * lines could not have it as a dimension.
 *
 * @see lambda/usage-recorder/{report,traffic}.ts, lambda/usage-recorder/{sweep,rollup}/
 */
export const stageMetrics = (stage: string) => {
  const namespace = metricNamespace(stage);

  const count = (metricName: string, period: Duration, dimensionsMap?: Record<string, string>) =>
    new Metric({ namespace, metricName, statistic: Stats.SUM, period, ...(dimensionsMap && { dimensionsMap }) });

  /** A count that a function writes to its log in the embedded metric format. */
  const functionCount =
    <S extends keyof typeof METRICS>(service: S) =>
    (metricName: (typeof METRICS)[S][number], period = FIVE_MINUTES): Metric =>
      count(metricName, period, { service });

  const evaluatorCount = functionCount('rule-evaluator');
  return {
    recorderCount: functionCount('usage-recorder'),
    sweepCount: functionCount('usage-sweep'),
    rollupCount: functionCount('usage-rollup'),
    exporterCount: functionCount('exporter'),
    repricingCount: functionCount('usage-repricing'),
    priceFeedCount: functionCount('price-feed'),
    evaluatorCount,
    reconcileCount: functionCount('billing-reconcile'),

    /** The longest time from the minute a run was due to the end of its work. */
    evaluationLag: evaluatorCount('EvaluationLagMs').with({ statistic: Stats.MAXIMUM }),

    /** Events that neither queue nor table took: only the gateway's log has them. @see lib/stacks/gateway.ts */
    lostEvents: count(LOST_EVENTS, FIVE_MINUTES),

    /** Stripe events that got 5xx. @see lib/stacks/dashboard-functions.ts */
    webhookFailures: count('StripeWebhookFailures', FIVE_MINUTES),

    /** Gateway traffic of all providers or of one. The recorder counts it, so it is as late as the usage queue. */
    traffic: (
      metricName: TrafficMetric,
      { provider, statistic = Stats.SUM, period = FIVE_MINUTES }: TrafficOptions = {},
    ): Metric =>
      count(metricName, period, { service: 'gateway', ...(provider !== undefined && { provider }) }).with({
        statistic,
        label: provider ?? (statistic === Stats.SUM ? metricName : statistic),
      }),
  };
};

export type StageMetrics = ReturnType<typeof stageMetrics>;

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

/** Messages of a queue that wait, the most of five minutes. */
export const messagesIn = (queue: Queue): Metric =>
  queue.metricApproximateNumberOfMessagesVisible({ period: FIVE_MINUTES, statistic: Stats.MAXIMUM });

export const errorShare = (handler: LambdaFunction): MathExpression =>
  share(
    'Errors, %',
    handler.metricErrors({ period: FIVE_MINUTES }),
    handler.metricInvocations({ period: FIVE_MINUTES }),
  );

export const serverErrorShare = (api: ImportedApi): MathExpression =>
  share(
    'Server errors, %',
    api.metricServerError({ period: FIVE_MINUTES, statistic: Stats.SUM }),
    api.metricCount({ period: FIVE_MINUTES }),
  );

/** Reads and writes that the table throttled. */
export const throttledItems = (table: ITable): MathExpression => {
  const throttled = (name: 'ReadThrottleEvents' | 'WriteThrottleEvents', dimensionsMap: Record<string, string> = {}) =>
    table.metric(name, {
      period: FIVE_MINUTES,
      statistic: Stats.SUM,
      dimensionsMap: { TableName: table.tableName, ...dimensionsMap },
    });
  // The table's figures are without those of its index, whose throttling delays the table's writes.
  const ofIndex = { GlobalSecondaryIndexName: INDEX_NAME };
  return new MathExpression({
    label: 'Throttled',
    expression: 'FILL(reads, 0) + FILL(writes, 0) + FILL(indexReads, 0) + FILL(indexWrites, 0)',
    usingMetrics: {
      reads: throttled('ReadThrottleEvents'),
      writes: throttled('WriteThrottleEvents'),
      indexReads: throttled('ReadThrottleEvents', ofIndex),
      indexWrites: throttled('WriteThrottleEvents', ofIndex),
    },
    period: FIVE_MINUTES,
  });
};
