import { expect, it, jest } from '@jest/globals';
import type { Alert } from '../../lambda/domain/alerts/alert.ts';
import { deliverPending, type PendingDependencies } from '../../lambda/rule-evaluator/open-judge.ts';
import { silentLogger } from '../http/invoke.ts';

const NOW = new Date('2026-11-20T16:30:00.000Z');
const MINUTE_MS = 60_000;
const alert = (alertId: string) => ({ alertId }) as Alert;

const setUp = (dependencies: Partial<PendingDependencies>) => {
  const logger = silentLogger();
  const run = deliverPending({
    deliveries: { async *undelivered() {} },
    deliver: async () => {},
    now: () => NOW,
    logger,
    ...dependencies,
  });
  return { run, logger };
};

const mailed: ReadonlySet<string> = new Set();

it('delivers what is due in its own round, goes on where one fails, and logs what failed by its id', async () => {
  const deliver = jest.fn<PendingDependencies['deliver']>().mockResolvedValue();
  deliver.mockRejectedValueOnce(new Error('throttled'));
  const { run, logger } = setUp({
    deliver,
    deliveries: {
      async *undelivered(shard) {
        if (shard === 0)
          yield* [
            { outgoing: alert('a'), round: 4, mailed },
            { outgoing: alert('b'), round: 1, mailed },
          ];
        if (shard === 1) throw new Error('index throttled');
        if (shard === 2) yield { outgoing: alert('c'), round: 2, mailed };
      },
    },
  });
  expect(await run(() => 5 * MINUTE_MS)).toEqual({ failures: 2 });
  expect(deliver.mock.calls.map(([outgoing, round]) => [(outgoing as Alert).alertId, round]).sort()).toEqual([
    ['a', 4],
    ['b', 1],
    ['c', 2],
  ]);
  expect(logger.error.mock.calls.map(([what]) => what).sort()).toEqual(['not delivered', 'pending alerts not read']);
});

it('stops before its time is over', async () => {
  let remainingMs = 5 * MINUTE_MS;
  const deliver = jest.fn<PendingDependencies['deliver']>().mockImplementation(async () => {
    remainingMs -= MINUTE_MS / 2;
  });
  const { run } = setUp({
    deliver,
    deliveries: {
      async *undelivered() {
        for (let i = 0; i < 100; i++) yield { outgoing: alert('due'), round: 1, mailed };
      },
    },
  });
  await run(() => remainingMs);
  expect(deliver).toHaveBeenCalledTimes(9);
});

it('begins each minute with another shard, so that none waits for the others', async () => {
  const begun: number[] = [];
  for (const minute of [0, 1]) {
    let looks = 1;
    const { run } = setUp({
      now: () => new Date(NOW.getTime() + minute * MINUTE_MS),
      deliveries: {
        async *undelivered(shard) {
          begun.push(shard);
          yield* [];
        },
      },
    });
    await run(() => (looks-- > 0 ? 5 * MINUTE_MS : 0));
  }
  expect(begun).toHaveLength(2);
  expect(new Set(begun).size).toBe(2);
});
