import { MetricUnit } from '@aws-lambda-powertools/metrics';
import pMap from 'p-map';
import type { RollupMark } from '../../data/ledger/rollup-marks.ts';
import type { RollupResult } from '../../data/spend/rollup.ts';
import { ROLLUP_MARK_SHARDS } from '../../data/table/keys.ts';
import { isMonth } from '../../domain/calendar/utc.ts';
import type { ReportLogger, ReportMetrics } from '../report.ts';

interface RollupDependencies {
  /** Marks of a shard that are due. */
  readonly dueMarks: (shard: number) => AsyncIterable<RollupMark>;
  readonly seal: (mark: RollupMark) => Promise<RollupResult>;
  readonly logger: Pick<ReportLogger, 'error'>;
  readonly metrics: ReportMetrics;
}

const PAGE_SIZE = 200;
const ACCOUNTS_AT_ONCE = 8;
/** What a period may take at worst: a day of an account at its limits has forty thousand hour cells to sum up. */
const PERIOD_MS = 30_000;

/** Days before their month: a month is sealed from its days. */
const daysFirst = (a: RollupMark, b: RollupMark): number =>
  Number(isMonth(a.period)) - Number(isMonth(b.period)) || (a.period < b.period ? -1 : 1);

/**
 * Seals every day and month that is due. What fails or was changed meanwhile stays marked for the next run.
 *
 * @param remainingMs time left for this run
 */
export const rollUpDuePeriods =
  ({ dueMarks, seal, logger, metrics }: RollupDependencies) =>
  async (remainingMs: () => number): Promise<void> => {
    const rollUpOne = async (mark: RollupMark): Promise<void> => {
      try {
        const result = await seal(mark);
        if (result === 'sealed') metrics.addMetric('RolledUpPeriods', MetricUnit.Count, 1);
      } catch (error) {
        // The account is not named: its id is a credential.
        logger.error('Period not sealed', { period: mark.period, errorName: (error as Error).name });
        metrics.addMetric('RollupFailures', MetricUnit.Count, 1);
      }
    };

    const isLate = () => remainingMs() < PERIOD_MS;

    const rollupMarks = async (marks: readonly RollupMark[]): Promise<void> => {
      // One account's days one after the other: each also marks their month.
      const byAccount = [...Map.groupBy(marks, ({ accountId }) => accountId).values()];
      await pMap(
        byAccount,
        async (ofAccount) => {
          for (const mark of ofAccount.sort(daysFirst)) if (!isLate()) await rollUpOne(mark);
        },
        { concurrency: ACCOUNTS_AT_ONCE },
      );
    };

    for (let shard = 0; shard < ROLLUP_MARK_SHARDS; shard++) {
      let marks: RollupMark[] = [];
      for await (const mark of dueMarks(shard)) {
        if (isLate()) return;
        marks.push(mark);
        if (marks.length < PAGE_SIZE) continue;
        await rollupMarks(marks);
        marks = [];
      }
      if (isLate()) return;
      await rollupMarks(marks);
    }
  };
