import type { Logger } from '@aws-lambda-powertools/logger';
import pMap from 'p-map';
import type { PriceDrift } from '../data/prices/price-drift.ts';
import { type Day, dayOf } from '../domain/calendar/utc.ts';
import type { PriceBook } from '../domain/price/rates.ts';
import { type ReportedCosts, reportedCostsOf } from '../domain/price/reported-costs.ts';
import type { Recorder } from './recorder.ts';

const AT_ONCE = 16;

interface Dependencies {
  readonly add: PriceDrift['add'];
  readonly loadBook: () => Promise<PriceBook>;
  readonly logger: Pick<Logger, 'error'>;
}

/**
 * A recorder that also compares the price book with the costs that providers report. The sums serve an alarm, not the spend: one that
 * cannot be written is logged and left out.
 */
export const compareReported =
  (record: Recorder, { add, loadBook, logger }: Dependencies): Recorder =>
  async (events) => {
    const results = await record(events);
    const findPrice = await loadBook();
    const sums = new Map<string, { readonly day: Day; readonly costs: ReportedCosts }>();
    for (const result of results) {
      if (result.kind !== 'recorded') continue;
      const costs = reportedCostsOf(result.record, findPrice);
      if (!costs) continue;
      const day = dayOf(result.record.startedAt);
      const name = `${day} ${costs.provider} ${costs.model}`;
      const before = sums.get(name)?.costs;
      const sum = before && {
        ...costs,
        requests: before.requests + 1,
        reportedNanoUsd: before.reportedNanoUsd + costs.reportedNanoUsd,
        bookNanoUsd: before.bookNanoUsd + costs.bookNanoUsd,
      };
      sums.set(name, { day, costs: sum ?? costs });
    }
    await pMap(
      sums.values(),
      ({ day, costs }) =>
        add(day, costs).catch((error: Error) => logger.error('Reported costs not compared', { errorName: error.name })),
      { concurrency: AT_ONCE },
    );
    return results;
  };
