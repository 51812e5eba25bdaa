import { expect, it } from '@jest/globals';
import type { RollupMark } from '../../lambda/data/ledger/rollup-marks.ts';
import { rollUpDuePeriods } from '../../lambda/usage-recorder/rollup/rollup-run.ts';

it('a run begins no period that it may have no time to end, and leaves it to the next', async () => {
  const marks = ['2026-11', '2026-11-12', '2026-11-10', '2026-11-11'].map(
    (period): RollupMark => ({ accountId: 'svc_a', period, nonce: period }),
  );
  const sealed: string[] = [];
  let left = 80_000;
  await rollUpDuePeriods({
    async *dueMarks(shard) {
      if (shard === 0) yield* marks;
    },
    seal: async ({ period }) => {
      sealed.push(period);
      left -= 30_000;
      return 'sealed';
    },
    logger: { error: () => {} },
    metrics: { addMetric: () => {} },
  })(() => left);
  expect(sealed).toEqual(['2026-11-10', '2026-11-11']);
});
