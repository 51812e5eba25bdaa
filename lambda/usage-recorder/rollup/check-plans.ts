import pMap from 'p-map';
import type { RollupMarks } from '../../data/ledger/rollup-marks.ts';
import { ROLLUP_MARK_SHARDS } from '../../data/table/keys.ts';
import type { UseNotes } from '../note-use.ts';

const AT_ONCE = 16;

interface CheckPlansDependencies extends Pick<UseNotes, 'checkPlan' | 'logger'> {
  readonly marks: Pick<RollupMarks, 'accounts'>;
}

/**
 * Notifies the accounts with recent usage that are near the limit of their plan. The recorder notifies them at once in most cases, but not
 * after a burst that ends before its next check, and not where it fails.
 *
 * The returned function takes `isLate`, true where the rest must wait for the next run.
 */
export const checkPlans =
  ({ marks, checkPlan, logger }: CheckPlansDependencies) =>
  async (isLate: () => boolean): Promise<void> => {
    for (let shard = 0; shard < ROLLUP_MARK_SHARDS; shard++)
      await pMap(
        marks.accounts(shard),
        async (accountId) => {
          if (isLate()) return;
          try {
            await checkPlan(accountId);
          } catch (error) {
            logger.error('Plan usage not checked', { errorName: (error as Error).name });
          }
        },
        { concurrency: AT_ONCE },
      );
  };
