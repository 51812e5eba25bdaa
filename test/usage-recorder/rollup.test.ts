import { expect, it, jest } from '@jest/globals';
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

it('a run continues after a period that fails, and logs no account id', async () => {
  const periods = Array.from({ length: 450 }, (_, n) => new Date(Date.UTC(2025, 0, 1 + n)).toISOString().slice(0, 10));
  const marks = periods.map((period): RollupMark => ({ accountId: 'svc_secret', period, nonce: period }));
  const logger = { error: jest.fn() };
  const counted: Record<string, number> = {};
  await rollUpDuePeriods({
    marks: {
      async *due(shard) {
        if (shard === 1) yield* marks;
      },
    },
    rollup: {
      rollUp: async ({ period }) => {
        if (period === periods[1]) throw new RangeError('svc_secret');
        return period === periods[2] ? 'changed' : 'rolled-up';
      },
    },
    logger,
    metrics: {
      addMetric: (name, _unit, value) => {
        counted[name] = (counted[name] ?? 0) + value;
      },
    },
  })(() => 60_000);
  expect(logger.error.mock.calls).toEqual([['Period not rolled up', { period: periods[1], errorName: 'RangeError' }]]);
  expect(counted).toEqual({ RolledUpPeriods: 448, RollupFailures: 1 });
});
