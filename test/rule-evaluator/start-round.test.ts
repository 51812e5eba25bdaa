import { describe, expect, it } from '@jest/globals';
import type { ShardProgress } from '../../lambda/data/alerts/evaluation-progress.ts';
import type { Job } from '../../lambda/rule-evaluator/job.ts';
import { startRound } from '../../lambda/rule-evaluator/start-round.ts';
import { silentLogger } from '../http/invoke.ts';
import { allShards, memoryProgress } from './memory-progress.ts';

const DUE = '2026-11-20T16:30:00.000Z';
const BEFORE = '2026-11-20T16:29:00.000Z';

const setUp = (state: Partial<ShardProgress>) => {
  const progress = memoryProgress(state);
  const logger = silentLogger();
  const jobs: Job[] = [];
  let failing = (_job: Job): boolean => false;
  const round = (due: string, now = due) =>
    startRound({
      progress,
      send: async (job) => {
        if (failing(job)) throw new Error('queue down');
        jobs.push(job);
      },
      now: () => new Date(now),
      logger,
    })(due);
  return {
    round,
    progress,
    logger,
    jobs,
    failWhere: (where: typeof failing) => {
      failing = where;
    },
  };
};
const shardsOf = (job: Job | undefined) => job?.shards.map(({ shard }) => shard);
const judged = { judgedUntil: BEFORE };

describe('startRound', () => {
  it('sends one job with every shard where there are few rules', async () => {
    const { round, jobs, progress } = setUp({ ...judged, rules: 62 });
    expect(await round(DUE)).toEqual({ jobs: 1, failures: 0, oldestDue: null });
    expect(jobs).toEqual([
      {
        due: DUE,
        shards: allShards.map((shard) => ({ shard, judgedUntil: BEFORE, after: null, rules: 0, isWhole: true })),
      },
    ]);
    expect(progress.saved).toHaveLength(1);
    expect([...progress.shards.values()].every(({ due, judgedUntil }) => due === DUE && judgedUntil === BEFORE)).toBe(
      true,
    );
  });

  it.each([
    [2_000, 1],
    [2_001, 2],
    [20_000, 10],
    [64_000, 32],
    [1_000_000, 32],
  ])('spreads %d rules over %d jobs, each shard in one', async (rules, count) => {
    const { round, jobs, progress } = setUp(judged);
    await progress.save(allShards.map((shard) => ({ shard, ...judged, due: null, rules: shard === 0 ? rules : 0 })));
    await round(DUE);
    expect(jobs).toHaveLength(count);
    expect(jobs.flatMap((job) => shardsOf(job) ?? []).sort((a, b) => a - b)).toEqual(allShards);
    const sizes = jobs.map(({ shards }) => shards.length);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
  });

  it('sends a job for each shard before anybody has counted, judged from now on', async () => {
    const { round, jobs, logger } = setUp({});
    await round(DUE);
    expect(jobs).toHaveLength(allShards.length);
    expect(jobs[5]?.shards).toEqual([{ shard: 5, judgedUntil: DUE, after: null, rules: 0, isWhole: true }]);
    expect(logger.warn).not.toHaveBeenCalled();
  });

  it('leaves shards to the workers that have them, says since when, and sends a lost job again', async () => {
    const { round, jobs, progress } = setUp({ ...judged, rules: 1 });
    await progress.save([{ shard: 3, judgedUntil: BEFORE, due: BEFORE, rules: 1 }]);
    expect(await round(DUE)).toEqual({ jobs: 1, failures: 0, oldestDue: BEFORE });
    expect(shardsOf(jobs[0])).toEqual(allShards.filter((shard) => shard !== 3));
    expect(await round(DUE)).toEqual({ jobs: 0, failures: 0, oldestDue: BEFORE });
    expect(await round('2026-11-20T16:38:59.000Z')).toMatchObject({ jobs: 0 });
    expect(await round('2026-11-20T16:39:00.000Z')).toMatchObject({ jobs: 1, oldestDue: BEFORE });
    expect(jobs[1]).toMatchObject({ due: '2026-11-20T16:39:00.000Z', shards: [{ shard: 3, judgedUntil: BEFORE }] });
  });

  it('takes a due time far ahead, which a wrong clock wrote, for a lost job', async () => {
    const { round, jobs } = setUp({ ...judged, due: '2026-11-21T16:30:00.000Z', rules: 1 });
    await round(DUE);
    expect(jobs).toHaveLength(1);
  });

  it('offers shards whose job was not sent to the next round', async () => {
    const { round, jobs, failWhere, logger } = setUp({ ...judged, rules: 100 });
    failWhere(({ shards }) => shards.some(({ shard }) => shard === 1));
    expect(await round(DUE)).toEqual({ jobs: 1, failures: 1, oldestDue: null });
    expect(logger.error).toHaveBeenCalledWith('rules not sent to a worker', { error: new Error('queue down') });
    failWhere(() => false);
    await round('2026-11-20T16:31:00.000Z');
    expect(jobs.slice(1).flatMap((job) => shardsOf(job) ?? [])).toEqual(allShards.filter((shard) => shard % 2 === 1));
    expect(jobs[1]?.shards[0]).toMatchObject({ judgedUntil: BEFORE });
  });

  it('says so where rules were not judged for a while', async () => {
    const { round, logger, progress } = setUp({ ...judged, rules: 1 });
    await round('2026-11-20T16:44:00.000Z');
    expect(logger.warn).not.toHaveBeenCalled();
    await progress.save([{ shard: 7, judgedUntil: '2026-11-18T02:00:00.000Z', due: null, rules: 1 }]);
    await round('2026-11-20T16:45:00.000Z');
    expect(logger.warn.mock.calls).toEqual([
      [
        'rules were not judged for a while',
        { judgedUntil: '2026-11-18T02:00:00.000Z', judgedAgainFrom: new Date('2026-11-19T16:45:00.000Z') },
      ],
    ]);
  });
});
