import { MetricUnit } from '@aws-lambda-powertools/metrics';
import pMap from 'p-map';
import type { RollupMark, RollupMarks } from '../../data/ledger/rollup-marks.ts';
import type { Rollup } from '../../data/spend/rollup.ts';
import { inBatches } from '../../data/table/batch.ts';
import { ROLLUP_MARK_SHARDS } from '../../data/table/keys.ts';
import { isMonth } from '../../domain/calendar/utc.ts';
import type { MetricLog } from '../../on-schedule.ts';
import type { ReportLogger } from '../report.ts';

interface RollupDependencies {
  readonly marks: Pick<RollupMarks, 'due'>;
  readonly rollup: Rollup;
  readonly logger: Pick<ReportLogger, 'error'>;
  readonly metrics: MetricLog;
}

const PAGE_SIZE = 200;
const ACCOUNTS_AT_ONCE = 8;
/** The longest time that one period takes: a day of an account at its limits has forty thousand hour counters to add up. */
const PERIOD_MS = 30_000;

/** Days before their month: a month is rolled up from its days. */
const daysFirst = (a: RollupMark, b: RollupMark): number =>
  Number(isMonth(a.period)) - Number(isMonth(b.period)) || (a.period < b.period ? -1 : 1);

/**
 * Rolls up every day and month that is due. A period that fails, or that changes meanwhile, stays marked for the next run.
 *
 * The returned function takes `remainingMs`, which returns the time left for the run.
 */
export const rollUpDuePeriods =
  ({ marks, rollup, logger, metrics }: RollupDependencies) =>
  async (remainingMs: () => number): Promise<void> => {
    const rollUpOne = async (mark: RollupMark): Promise<void> => {
      try {
        const result = await rollup.rollUp(mark);
        if (result === 'rolled-up') metrics.addMetric('RolledUpPeriods', MetricUnit.Count, 1);
      } catch (error) {
        // The account id is a credential and stays out of the log.
        logger.error('Period not rolled up', { period: mark.period, errorName: (error as Error).name });
        metrics.addMetric('RollupFailures', MetricUnit.Count, 1);
      }
    };

    const isLate = () => remainingMs() < PERIOD_MS;

    const rollUpPage = async (page: readonly RollupMark[]): Promise<void> => {
      // The days of one account go one after the other: each also marks their month.
      const byAccount = [...Map.groupBy(page, ({ accountId }) => accountId).values()];
      await pMap(
        byAccount,
        async (ofAccount) => {
          for (const mark of ofAccount.sort(daysFirst)) if (!isLate()) await rollUpOne(mark);
        },
        { concurrency: ACCOUNTS_AT_ONCE },
      );
    };

    for (let shard = 0; shard < ROLLUP_MARK_SHARDS; shard++)
      for await (const page of inBatches(marks.due(shard), PAGE_SIZE)) {
        if (isLate()) return;
        await rollUpPage(page);
      }
  };
