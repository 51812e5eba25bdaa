import { openModelUse } from '../../data/prices/model-use.ts';
import { openPriceVersions } from '../../data/prices/price-versions.ts';
import { openPriceChanges, openRepricingProgress } from '../../data/prices/repricing.ts';
import { openRequests } from '../../data/requests/requests.ts';
import { openTable } from '../../data/table/table.ts';
import { priceRequest } from '../../domain/price/price-request.ts';
import { repricingEnvironment } from '../../environment.ts';
import { openObjectStore } from '../../integrations/object-store.ts';
import { onSchedule } from '../../on-schedule.ts';
import { openRepricer } from '../reprice.ts';
import { repriceChanged } from './reprice-changed.ts';

const { TABLE_NAME, OBJECT_BUCKET } = repricingEnvironment.parse(process.env);
const table = openTable(TABLE_NAME);
const objects = openObjectStore(OBJECT_BUCKET);
const { logger, metrics, handlerOf } = onSchedule('usage-repricing');
const run = repriceChanged({
  versions: openPriceVersions(table),
  progress: openRepricingProgress(table),
  usesOf: openModelUse(table).of,
  requests: openRequests(table, Date.now, objects),
  changes: openPriceChanges(table),
  repricerOf: (findPrice) => openRepricer(table, (event) => priceRequest(event, findPrice), objects),
  logger,
  metrics,
  now: () => new Date(),
});

/** Prices requests again after the price feed stored a new version. */
export const handler = handlerOf(run);
