import type { Logger } from '@aws-lambda-powertools/logger';
import { MetricUnit } from '@aws-lambda-powertools/metrics';
import type { PriceDrift } from '../data/prices/price-drift.ts';
import { addDays, dayOf } from '../domain/calendar/utc.ts';
import { driftOf } from '../domain/price/reported-costs.ts';
import type { FeedMetrics } from './read-feed.ts';

interface DriftDependencies {
  readonly driftOn: PriceDrift['of'];
  readonly logger: Pick<Logger, 'error'>;
  readonly metrics: FeedMetrics;
  readonly now: () => Date;
}

/** Counts the models whose reported costs of the last whole day differ from the price book, and names them in the log. */
export const reportDrift =
  ({ driftOn, logger, metrics, now }: DriftDependencies) =>
  async (): Promise<void> => {
    const day = addDays(dayOf(now().toISOString()), -1);
    let drifted = 0;
    for await (const costs of driftOn(day)) {
      const drift = driftOf(costs);
      if (drift === null) continue;
      drifted += 1;
      const { provider, model, requests } = costs;
      logger.error('Prices differ from what the provider reports', {
        day,
        provider,
        model,
        requests,
        driftPercent: Number((100 * drift).toFixed(2)),
      });
    }
    metrics.addMetric('DriftedModels', MetricUnit.Count, drifted);
  };
