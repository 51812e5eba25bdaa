import { Logger } from '@aws-lambda-powertools/logger';
import type { ScheduledHandler } from 'aws-lambda';
import pMap from 'p-map';
import { openOwnPrices } from '../../data/accounts/own-prices.ts';
import { openNewestBook } from '../../data/prices/newest-book.ts';
import { openPriceVersions } from '../../data/prices/price-versions.ts';
import { openTable } from '../../data/table/table.ts';
import { MINUTE_MS } from '../../domain/calendar/units.ts';
import { priceRequest } from '../../domain/price/price-request.ts';
import { repricingEnvironment } from '../../environment.ts';
import { openObjectStore } from '../../integrations/object-store.ts';
import { openValueCounting } from './count-values.ts';
import { openMonthPricing } from './price-months.ts';

const { TABLE_NAME, OBJECT_BUCKET } = repricingEnvironment.parse(process.env);
const table = openTable(TABLE_NAME);
const objects = openObjectStore(OBJECT_BUCKET);
const logger = new Logger({ serviceName: 'own-prices' });
const prices = openOwnPrices(table);
const loadBook = openNewestBook({
  versions: openPriceVersions(table),
  // The recorder counts it, and its alarm rings.
  onFallback: ({ name }) => logger.error('Newest prices cannot be used', { errorName: name }),
});

const ACCOUNTS_AT_ONCE = 4;
/** Time for one account in one run, so that a large one does not delay the others. */
const ACCOUNT_MS = MINUTE_MS;
const RESERVE_MS = 30_000;

/** Runs every five minutes: counts requests for new limits of each, prices again after a change of own prices, and closes months. */
export const handler: ScheduledHandler = async (_event, context) => {
  logger.addContext(context);
  const book = await loadBook();
  const continuePricing = openMonthPricing(table, { price: (event) => priceRequest(event, book), objects });
  const countValues = openValueCounting(table, { objects });
  let failures = 0;
  await pMap(
    prices.accounts(),
    async (accountId) => {
      const startedMs = Date.now();
      const isLate = () => context.getRemainingTimeInMillis() < RESERVE_MS || Date.now() - startedMs > ACCOUNT_MS;
      if (isLate()) return;
      try {
        await countValues(accountId, isLate);
        await continuePricing(accountId, isLate);
      } catch (error) {
        failures += 1;
        logger.error('Own prices or limits not applied', { errorName: (error as Error).name });
      }
    },
    { concurrency: ACCOUNTS_AT_ONCE },
  );
  // The alarm of the function rings, and the next run continues.
  if (failures > 0) throw new Error(`The own prices or limits of ${failures} accounts could not be applied.`);
};
