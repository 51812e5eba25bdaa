import type { Logger } from '@aws-lambda-powertools/logger';
import { MetricUnit } from '@aws-lambda-powertools/metrics';
import pMap from 'p-map';
import { ROLLUP_MARK_SHARDS } from '../data/table/keys.ts';
import { MINUTE_MS } from '../domain/calendar/units.ts';
import type { MetricLog } from '../on-schedule.ts';
import { OutOfTimeError } from './export-day.ts';

interface RunDueDaysDependencies<D> {
  /** Days of a shard. */
  readonly due: (shard: number) => AsyncIterable<D>;
  /** Works on a day. `isLate` returns true where the run must end. */
  readonly work: (due: D, isLate: () => boolean) => Promise<string | undefined>;
  /** Counter of a result of `work`. */
  readonly metricNames: Readonly<Record<string, string>>;
  /** Form of a failure in the log. */
  readonly failure: string;
  readonly logger: Pick<Logger, 'error'>;
  readonly metrics: MetricLog;
}

/** Each holds its row groups in memory. */
const DAYS_AT_ONCE = 4;
/** With less time left a run begins no other day, and leaves a day that it cannot finish. */
const BEGIN_MS = MINUTE_MS;
const LEAVE_MS = 20_000;

/**
 * Works on every day that is due. A day that fails, or that changes meanwhile, stays due for the next run.
 *
 * The returned function takes `remainingMs`, which returns the time left for the run.
 */
export const runDueDays =
  <D extends { readonly day: string }>({
    due,
    work,
    metricNames,
    failure,
    logger,
    metrics,
  }: RunDueDaysDependencies<D>) =>
  async (remainingMs: () => number): Promise<void> => {
    const workOnOne = async (each: D): Promise<void> => {
      if (remainingMs() < BEGIN_MS) return;
      const startedWithMs = remainingMs();
      try {
        const metric = metricNames[(await work(each, () => remainingMs() < LEAVE_MS)) ?? ''];
        if (metric) metrics.addMetric(metric, MetricUnit.Count, 1);
      } catch (error) {
        // A day that begins late in a run gets a whole run next time.
        if (error instanceof OutOfTimeError && startedWithMs < 10 * BEGIN_MS) return;
        // The account id is a credential and stays out of the log.
        logger.error(failure, { day: each.day, errorName: (error as Error).name });
        metrics.addMetric('ExportFailures', MetricUnit.Count, 1);
      }
    };
    for (let shard = 0; shard < ROLLUP_MARK_SHARDS; shard++)
      await pMap(due(shard), workOnOne, { concurrency: DAYS_AT_ONCE });
  };
