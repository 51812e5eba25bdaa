import { Duration } from 'aws-cdk-lib';
import { MathExpression, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { StageSettings } from '../../config.ts';
import type { RunbookAlarm } from '../../constructs/runbook-alarms.ts';
import { FIVE_MINUTES, HOUR, messagesIn, type StageMetrics, share } from '../metrics.ts';
import type { Monitored } from '../operations-dashboard.ts';

/** Closed days as files. */
export const exportAlarms = ({ exporterCount }: StageMetrics): RunbookAlarm[] => [
  {
    id: 'ExportFailures',
    summary: 'Closed days cannot be exported, or their records do not add up to the ledger: exports are late.',
    metric: exporterCount('ExportFailures', HOUR),
    periods: { breaching: 2, of: 2 },
  },
];

/** From usage events to priced records and rolled-up sums. */
export const usageAlarms = (
  { recorderCount, sweepCount, rollupCount, repricingCount, priceFeedCount, traffic }: StageMetrics,
  { gateway }: Pick<StageSettings, 'gateway'>,
  usage: Monitored['usage'],
): RunbookAlarm[] => [
  {
    id: 'DeadLetters',
    summary: 'Usage events were given up: their requests are missing from the spend.',
    metric: messagesIn(usage.deadLetterQueue),
  },
  {
    id: 'RefusedOutboxEntries',
    summary: 'The sweep set events aside that can never be recorded: their requests are missing from the spend.',
    metric: sweepCount('RefusedOutboxEntries'),
  },
  {
    id: 'UsageQueueAge',
    summary: 'The recorder falls behind: spend and alerts are late.',
    metric: usage.queue.metricApproximateAgeOfOldestMessage({ period: FIVE_MINUTES, statistic: Stats.MAXIMUM }),
    // The age of an open event includes its delay.
    threshold: gateway.openEventDelaySeconds + 600,
    periods: { breaching: 2, of: 2 },
  },
  {
    id: 'RecorderErrors',
    summary: 'Usage events cannot be recorded: they are tried again for a day, and then given up.',
    // Events that fail one by one are no error of the function, and the queue leaves what came three times out of its age.
    metric: new MathExpression({
      label: 'Failures',
      expression: 'FILL(errors, 0) + FILL(failed, 0) + FILL(waiting, 0)',
      usingMetrics: {
        errors: usage.recorder.metricErrors({ period: FIVE_MINUTES }),
        failed: recorderCount('FailedEvents'),
        waiting: sweepCount('FailedEvents'),
      },
      period: FIVE_MINUTES,
    }),
    periods: { breaching: 2, of: 3 },
  },
  {
    id: 'UnfinishedRequests',
    summary: 'More than 1 % of the requests of an hour ended without a close event: their cost is unknown.',
    metric: share(
      'Unfinished, %',
      recorderCount('UnfinishedRequests', HOUR),
      recorderCount('RecordedEvents', HOUR),
      HOUR,
    ),
    threshold: 1,
  },
  {
    id: 'UnpricedRequests',
    summary: 'More than 10 % of the requests of an hour have no known cost: most often a new model without a price.',
    metric: share(
      'Unpriced, %',
      traffic('UnpricedRequests', { period: HOUR }),
      traffic('Requests', { period: HOUR }),
      HOUR,
    ),
    threshold: 10,
  },
  {
    id: 'OverflowRequests',
    summary:
      'More than 1,000 requests of an hour were counted under (other): an account sends too many distinct names, or somebody else does in its name.',
    metric: recorderCount('OverflowRequests', HOUR),
    threshold: 1_000,
  },
  {
    id: 'StalePrices',
    summary: 'The published prices could not be read for six hours: new models stay without a price.',
    metric: priceFeedCount('PriceFeedAgeMs', HOUR).with({ statistic: Stats.MAXIMUM }),
    threshold: Duration.hours(6).toMilliseconds(),
  },
  {
    id: 'RefusedPrices',
    summary:
      'Published prices were refused: those of a provider that lacks most of its models, or all, which change in a way that no entry explains.',
    metric: priceFeedCount('RefusedPriceSources', HOUR),
  },
  {
    id: 'WaitingPrices',
    summary: 'Changes of published prices have waited for a person for a day: the prices of before hold.',
    section: 'refused-prices',
    metric: priceFeedCount('WaitingPriceChanges', HOUR).with({ statistic: Stats.MAXIMUM }),
    periods: { breaching: 24, of: 24 },
  },
  {
    id: 'PriceBookFallbacks',
    summary: 'The newest version of the price book cannot be used: requests are priced with an older one.',
    metric: recorderCount('PriceBookFallbacks', HOUR),
  },
  {
    id: 'PriceDrift',
    summary:
      'The costs that a provider reports differ from the price book by more than 1 % over a day. The log names the models.',
    metric: priceFeedCount('DriftedModels', HOUR).with({ statistic: Stats.MAXIMUM }),
  },
  {
    id: 'RepricingFailures',
    summary: 'Requests could not be priced again after a price changed: their costs are the old ones.',
    metric: repricingCount('RepricingFailures', HOUR),
  },
  {
    id: 'RollupFailures',
    summary:
      'Closed days or months cannot be rolled up: spend is read from live counters, which is slower but just as exact.',
    metric: rollupCount('RollupFailures', HOUR),
    periods: { breaching: 3, of: 3 },
  },
];
