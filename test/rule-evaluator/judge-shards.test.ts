import { describe, expect, it, jest } from '@jest/globals';
import type { Rule } from '../../lambda/data/alerts/rules.ts';
import type { Alert } from '../../lambda/domain/alerts/alert.ts';
import type { Job, ShardToJudge } from '../../lambda/rule-evaluator/job.ts';
import { type JudgeDependencies, judgeShards } from '../../lambda/rule-evaluator/judge-shards.ts';
import { silentLogger } from '../http/invoke.ts';
import { memoryProgress } from './memory-progress.ts';

const NOW = new Date('2026-11-20T16:30:20.000Z');
const DUE = '2026-11-20T16:30:00.000Z';
const BEFORE = '2026-11-20T16:29:00.000Z';
const MINUTE_MS = 60_000;
const rule = (accountId: string, ruleId: string) => ({ accountId, ruleId }) as Rule;
const alert = (alertId: string) => ({ alertId }) as Alert;
const nothing = { fired: [], failures: [] };

const shardToJudge = (shard: number, change: Partial<ShardToJudge> = {}): ShardToJudge => ({
  shard,
  judgedUntil: BEFORE,
  after: null,
  rules: 0,
  isWhole: true,
  ...change,
});
const jobOf = (...shards: readonly number[]): Job => ({ due: DUE, shards: shards.map((shard) => shardToJudge(shard)) });

const setUp = (dependencies: Partial<JudgeDependencies>) => {
  const logger = silentLogger();
  const progress = memoryProgress({ judgedUntil: BEFORE, due: DUE });
  const sent: Job[] = [];
  const judge = judgeShards({
    rules: { async *activeInShard() {} },
    progress,
    evaluate: async () => nothing,
    deliver: async () => {},
    send: async (job) => void sent.push(job),
    now: () => NOW,
    logger,
    ...dependencies,
  });
  return { judge, logger, progress, sent };
};

const always = () => 2 * MINUTE_MS;

/** The rules of shards, one for each account, as the index has them. */
const accountsIn = (shards: readonly (readonly string[])[]): JudgeDependencies['rules'] => ({
  async *activeInShard(shard, after = '') {
    for (const accountId of shards[shard] ?? []) if (accountId > after) yield rule(accountId, `of ${accountId}`);
  },
});

describe('judgeShards', () => {
  it("evaluates each account of its shards once, with all of the account's rules, and notes how many there are", async () => {
    const shards = [
      [rule('a', '1'), rule('a', '2'), rule('b', '3'), rule('c', '4'), rule('c', '5')],
      [rule('d', '6')],
      [rule('of another job', '7')],
    ];
    const evaluate = jest.fn<JudgeDependencies['evaluate']>().mockResolvedValue(nothing);
    const { judge, progress, sent } = setUp({
      rules: {
        async *activeInShard(shard) {
          yield* shards[shard] ?? [];
        },
      },
      evaluate,
    });
    expect(await judge(jobOf(0, 1), always)).toEqual({ shards: 2, accounts: 4, rules: 6, alerts: 0, failures: 0 });
    expect(
      evaluate.mock.calls.map(([accountId, rules, ...times]) => [
        accountId,
        rules.map(({ ruleId }) => ruleId),
        ...times,
      ]),
    ).toEqual([
      ['a', ['1', '2'], NOW, new Date(BEFORE)],
      ['b', ['3'], NOW, new Date(BEFORE)],
      ['c', ['4', '5'], NOW, new Date(BEFORE)],
      ['d', ['6'], NOW, new Date(BEFORE)],
    ]);
    expect(progress.saved).toEqual([
      [
        { shard: 0, judgedUntil: DUE, due: null, rules: 5 },
        { shard: 1, judgedUntil: DUE, due: null, rules: 1 },
      ],
    ]);
    expect(sent).toEqual([]);
  });

  it('delivers what fires in round 0, and logs what fails by its id', async () => {
    const failure = new Error('table throttled');
    const deliver = jest.fn<JudgeDependencies['deliver']>().mockRejectedValue(failure);
    const { judge, logger, progress } = setUp({
      rules: accountsIn([['a', 'b']]),
      evaluate: async (accountId) => {
        if (accountId === 'b') throw failure;
        return { fired: [alert('fired')], failures: [{ ruleId: '1', error: failure }] };
      },
      deliver,
    });
    expect(await judge(jobOf(0), always)).toEqual({ shards: 1, accounts: 2, rules: 2, alerts: 1, failures: 3 });
    expect(deliver.mock.calls).toEqual([[alert('fired'), 0]]);
    expect(logger.error.mock.calls).toHaveLength(3);
    expect(logger.error.mock.calls).toContainEqual(['rule not judged', { ruleId: '1', error: failure }]);
    expect(logger.error.mock.calls).toContainEqual(['alert not delivered', { alertId: 'fired', error: failure }]);
    expect(logger.error.mock.calls).toContainEqual(['rules not judged', { ruleId: 'of b', error: failure }]);
    // The next round judges from where this one had to.
    expect(progress.saved).toEqual([[{ shard: 0, judgedUntil: BEFORE, due: null, rules: 2 }]]);
  });

  it('goes on with the other shards where one cannot be read, and leaves that one to the next round', async () => {
    const { judge, progress, logger } = setUp({
      rules: {
        async *activeInShard(shard) {
          if (shard === 1) throw new Error('throttled');
          yield rule(`account ${shard}`, 'r');
        },
      },
    });
    expect(await judge(jobOf(0, 1, 2), always)).toMatchObject({ shards: 3, accounts: 2, failures: 1 });
    expect(logger.error.mock.calls).toEqual([['rules not read', { shard: 1, error: new Error('throttled') }]]);
    expect(progress.saved.flat()).toEqual([
      { shard: 0, judgedUntil: DUE, due: null, rules: 1 },
      { shard: 1, judgedUntil: BEFORE, due: null, rules: 0 },
      { shard: 2, judgedUntil: DUE, due: null, rules: 1 },
    ]);
  });

  it('stops before its time is over, and sends the rest as a job that goes on after the last account', async () => {
    const judged: string[] = [];
    // Each account takes half a minute, so two minutes suffice for three of them.
    let remainingMs = 0;
    const { judge, progress, sent } = setUp({
      rules: accountsIn([['a'], ['b', 'c', 'd', 'e', 'f'], ['g']]),
      evaluate: async (accountId) => {
        judged.push(accountId);
        remainingMs -= MINUTE_MS / 2;
        if (accountId === 'b') throw new Error('throttled');
        return nothing;
      },
    });
    const runs: (readonly string[])[] = [];
    for (let job: Job | undefined = jobOf(0, 1, 2); job; job = sent.shift()) {
      remainingMs = 2 * MINUTE_MS;
      await judge(job, () => remainingMs);
      runs.push(judged.splice(0));
    }
    expect(runs).toEqual([['a', 'b', 'c'], ['d', 'e', 'f'], ['g']]);
    expect(progress.saved).toEqual([
      [{ shard: 0, judgedUntil: DUE, due: null, rules: 1 }],
      [{ shard: 1, judgedUntil: BEFORE, due: null, rules: 5 }],
      [{ shard: 2, judgedUntil: DUE, due: null, rules: 1 }],
    ]);
  });

  it('does nothing for a shard that has been judged, or was sent again in a later round', async () => {
    const evaluate = jest.fn<JudgeDependencies['evaluate']>().mockResolvedValue(nothing);
    const { judge, progress } = setUp({ rules: accountsIn([['a'], ['b'], ['c']]), evaluate });
    await progress.save([
      { shard: 0, judgedUntil: DUE, due: null, rules: 1 },
      { shard: 1, judgedUntil: BEFORE, due: '2026-11-20T16:40:00.000Z', rules: 1 },
    ]);
    expect(await judge(jobOf(0, 1, 2), always)).toMatchObject({ shards: 1 });
    expect(evaluate.mock.calls.map(([accountId]) => accountId)).toEqual(['c']);
    expect(progress.shards.get(1)).toMatchObject({ due: '2026-11-20T16:40:00.000Z' });
  });
});
