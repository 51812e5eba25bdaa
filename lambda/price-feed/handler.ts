import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import type { ScheduledHandler } from 'aws-lambda';
import { openPriceDrift } from '../data/prices/price-drift.ts';
import { openPriceVersions } from '../data/prices/price-versions.ts';
import { openTable } from '../data/table/table.ts';
import { priceFeedEnvironment } from '../environment.ts';
import { readPublicFile } from '../integrations/read-public-file.ts';
import { readFeed } from './read-feed.ts';
import { reportDrift } from './report-drift.ts';

const { TABLE_NAME, PRICE_FEED_SOURCES: sources } = priceFeedEnvironment.parse(process.env);
const table = openTable(TABLE_NAME);
const logger = new Logger({ serviceName: 'price-feed' });
const metrics = new Metrics({ serviceName: 'price-feed' });
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
export const handler: ScheduledHandler = async (_event, context) => {
  logger.addContext(context);
  try {
    await checkDrift();
    await run();
  } finally {
    metrics.publishStoredMetrics();
  }
};
