import { MetricUnit } from '@aws-lambda-powertools/metrics';
import { openPriceDrift } from '../data/prices/price-drift.ts';
import { openPriceVersions } from '../data/prices/price-versions.ts';
import { openTable } from '../data/table/table.ts';
import { addDays, dayOf } from '../domain/calendar/utc.ts';
import { driftOf } from '../domain/price/reported-costs.ts';
import { priceFeedEnvironment } from '../environment.ts';
import { readPublicFile } from '../integrations/read-public-file.ts';
import { onSchedule } from '../on-schedule.ts';
import { readFeed } from './read-feed.ts';

const { TABLE_NAME, PRICE_FEED_SOURCES: sources } = priceFeedEnvironment.parse(process.env);
const table = openTable(TABLE_NAME);
const { logger, metrics, handlerOf } = onSchedule('price-feed');
const now = () => new Date();
const run = readFeed({ sources, versions: openPriceVersions(table), readFile: readPublicFile, logger, metrics, now });

/** Counts the models whose reported costs of the last whole day differ from the price book, and names them in the log. */
const checkDrift = async (): Promise<void> => {
  const day = addDays(dayOf(now().toISOString()), -1);
  let drifted = 0;
  for await (const costs of openPriceDrift(table).of(day)) {
    const drift = driftOf(costs);
    if (drift === null) continue;
    drifted += 1;
    const { provider, model, requests } = costs;
    const driftPercent = Number((100 * drift).toFixed(2));
    logger.error('Prices differ from what the provider reports', { day, provider, model, requests, driftPercent });
  }
  metrics.addMetric('DriftedModels', MetricUnit.Count, drifted);
};

/** Reads the published prices, and stores them as a new version where they changed. Neither part keeps the other from running. */
export const handler = handlerOf(() => run().finally(checkDrift));
