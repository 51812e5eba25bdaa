import { expect, it } from '@jest/globals';
import type { RollupMark } from '../../lambda/data/ledger/rollup-marks.ts';
import { rollUpDuePeriods } from '../../lambda/usage-recorder/rollup/roll-up-due-periods.ts';

it('a run leaves periods that it may have no time for to the next run', async () => {
  const marks = ['2026-11', '2026-11-12', '2026-11-10', '2026-11-11'].map(
    (period): RollupMark => ({ accountId: 'svc_a', period, nonce: period }),
  );
  const rolledUp: string[] = [];
  let left = 80_000;
  await rollUpDuePeriods({
    marks: {
      async *due(shard) {
        if (shard === 0) yield* marks;
      },
    },
    rollup: {
      rollUp: async ({ period }) => {
        rolledUp.push(period);
        left -= 30_000;
        return 'rolled-up';
      },
    },
    logger: { error: () => {} },
    metrics: { addMetric: () => {} },
  })(() => left);
  expect(rolledUp).toEqual(['2026-11-10', '2026-11-11']);
});
