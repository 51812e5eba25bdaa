import type { Logger } from '@aws-lambda-powertools/logger';
import { MetricUnit } from '@aws-lambda-powertools/metrics';
import { openPriceDrift, type PriceDrift } from '../data/prices/price-drift.ts';
import { openPriceVersions } from '../data/prices/price-versions.ts';
import { openTable } from '../data/table/table.ts';
import { addDays, dayOf } from '../domain/calendar/utc.ts';
import { driftOf } from '../domain/price/reported-costs.ts';
import { priceFeedEnvironment } from '../environment.ts';
import { readPublicFile } from '../integrations/read-public-file.ts';
import { onSchedule } from '../on-schedule.ts';
import { type FeedMetrics, readFeed } from './read-feed.ts';

interface DriftDependencies {
  readonly driftOn: PriceDrift['of'];
  readonly logger: Pick<Logger, 'error'>;
  readonly metrics: FeedMetrics;
  readonly now: () => Date;
}

/** Counts the models whose reported costs of the last whole day differ from the price book, and names them in the log. */
const reportDrift =
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

const { TABLE_NAME, PRICE_FEED_SOURCES: sources } = priceFeedEnvironment.parse(process.env);
const table = openTable(TABLE_NAME);
const { logger, metrics, handlerOf } = onSchedule('price-feed');
const checkDrift = reportDrift({ driftOn: openPriceDrift(table).of, logger, metrics, now: () => new Date() });
const run = readFeed({
  sources,
  versions: openPriceVersions(table),
  readFile: readPublicFile,
  logger,
  metrics,
  now: () => new Date(),
});

/** Reads the published prices, and stores them as a new version where they changed. */
export const handler = handlerOf(async () => {
  await checkDrift();
  await run();
});
