import type { Logger } from '@aws-lambda-powertools/logger';
import { MetricUnit } from '@aws-lambda-powertools/metrics';
import pMap from 'p-map';
import type { DayExports, DueExport } from '../data/exports/day-exports.ts';
import { ROLLUP_MARK_SHARDS } from '../data/table/keys.ts';
import { type exportDay, OutOfTimeError } from './export-day.ts';

interface ExportDueDaysDependencies {
  readonly dayExports: Pick<DayExports, 'due'>;
  readonly exportDay: ReturnType<typeof exportDay>;
  readonly logger: Pick<Logger, 'error'>;
  readonly metrics: { addMetric(name: string, unit: typeof MetricUnit.Count, value: number): unknown };
}

/** Each holds its row groups in memory. */
const DAYS_AT_ONCE = 4;
/** Time to begin another day, and to leave one that cannot be finished. */
const BEGIN_MS = 60_000;
const LEAVE_MS = 20_000;

const metricNames = { exported: 'ExportedDays', expired: 'ExpiredExports', changed: undefined } as const;

/**
 * Exports every day that is due. A day that fails, or that changes meanwhile, stays due for the next run.
 *
 * The returned function takes `remainingMs`, which returns the time left for the run.
 */
export const exportDueDays =
  ({ dayExports, exportDay, logger, metrics }: ExportDueDaysDependencies) =>
  async (remainingMs: () => number): Promise<void> => {
    const exportOne = async (due: DueExport): Promise<void> => {
      if (remainingMs() < BEGIN_MS) return;
      const startedWithMs = remainingMs();
      try {
        const metric = metricNames[await exportDay(due, () => remainingMs() < LEAVE_MS)];
        if (metric) metrics.addMetric(metric, MetricUnit.Count, 1);
      } catch (error) {
        // A day that begins late in a run gets a whole run next time.
        if (error instanceof OutOfTimeError && startedWithMs < 10 * BEGIN_MS) return;
        // The account id is a credential and stays out of the log.
        logger.error('Day not exported', { day: due.day, errorName: (error as Error).name });
        metrics.addMetric('ExportFailures', MetricUnit.Count, 1);
      }
    };
    for (let shard = 0; shard < ROLLUP_MARK_SHARDS; shard++)
      await pMap(dayExports.due(shard), exportOne, { concurrency: DAYS_AT_ONCE });
  };
