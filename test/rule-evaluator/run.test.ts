import { describe, expect, it, jest } from '@jest/globals';
import type { ShardProgress } from '../../lambda/data/alerts/evaluation-progress.ts';
import type { Rule } from '../../lambda/data/alerts/rules.ts';
import type { Alert } from '../../lambda/domain/alert-rules/alert.ts';
import { type RunDependencies, runEvaluator } from '../../lambda/rule-evaluator/run.ts';
import { silentLogger } from '../http/invoke.ts';

const NOW = new Date('2026-11-20T16:30:00.000Z');
const MINUTE_MS = 60_000;
const SHARDS = 8;
const rule = (accountId: string, ruleId: string) => ({ accountId, ruleId }) as Rule;
const alert = (alertId: string) => ({ alertId }) as Alert;
const nothing = { fired: [], failures: [] };

/** Progress in memory, as the table has it. Shard 0 is the first. */
const memoryProgress = () => {
  const shards = new Map<number, ShardProgress>();
  let turn = 0;
  return {
    shards,
    claimShard: async () => {
      const shard = turn++ % SHARDS;
      return { judgedUntil: null, stopped: null, ...shards.get(shard), shard };
    },
    save: async (shard: number, progress: ShardProgress) => {
      shards.set(shard, progress);
    },
  };
};

const setUp = (dependencies: Partial<RunDependencies>) => {
  const logger = silentLogger();
  const run = runEvaluator({
    rules: { async *activeInShard() {} },
    deliveries: { async *undelivered() {} },
    progress: memoryProgress(),
    evaluate: async () => nothing,
    deliver: async () => {},
    now: () => NOW,
    logger,
    ...dependencies,
  });
  return { run, logger };
};

const run = async (dependencies: Partial<RunDependencies>) => {
  const { run: once, logger } = setUp(dependencies);
  return { report: await once(() => 5 * MINUTE_MS), errors: logger.error.mock.calls };
};

/** The rules of shards, one for each account, as the index has them. */
const accountsIn = (shards: readonly (readonly string[])[]): RunDependencies['rules'] => ({
  async *activeInShard(shard, after = '') {
    for (const accountId of shards[shard] ?? []) if (accountId > after) yield rule(accountId, `of ${accountId}`);
  },
});

describe('runEvaluator', () => {
  it("evaluates each account of each shard once, with all of the account's rules", async () => {
    const shards = [[rule('a', '1'), rule('a', '2'), rule('b', '3'), rule('c', '4'), rule('c', '5')], [rule('d', '6')]];
    const evaluate = jest.fn<RunDependencies['evaluate']>().mockResolvedValue(nothing);
    const { report } = await run({
      rules: {
        async *activeInShard(shard) {
          yield* shards[shard] ?? [];
        },
      },
      evaluate,
    });
    expect(report).toEqual({ shards: 8, accounts: 4, rules: 6, alerts: 0, failures: 0 });
    expect(
      evaluate.mock.calls.map(([accountId, rules, at]) => [accountId, rules.map(({ ruleId }) => ruleId), at]),
    ).toEqual([
      ['a', ['1', '2'], NOW],
      ['b', ['3'], NOW],
      ['c', ['4', '5'], NOW],
      ['d', ['6'], NOW],
    ]);
  });

  it('delivers what is due in its own round, then what fires in round 0, and logs what fails by its id', async () => {
    const deliver = jest.fn<RunDependencies['deliver']>();
    const failure = new Error('table throttled');
    deliver.mockImplementation(async ({ alertId }) => {
      if (alertId === 'fired') throw failure;
    });
    const { report, errors } = await run({
      rules: {
        async *activeInShard(shard) {
          if (shard === 0) yield* [rule('a', '1'), rule('b', '2')];
        },
      },
      deliveries: {
        async *undelivered(shard) {
          if (shard === 0) yield { alert: alert('due'), round: 4 };
        },
      },
      evaluate: async (accountId) => {
        if (accountId === 'b') throw failure;
        return { fired: [alert('fired')], failures: [{ ruleId: '1', error: failure }] };
      },
      deliver,
    });
    expect(deliver.mock.calls).toEqual([
      [alert('due'), 4],
      [alert('fired'), 0],
    ]);
    expect(report).toEqual({ shards: 8, accounts: 2, rules: 2, alerts: 1, failures: 3 });
    expect(errors).toHaveLength(3);
    expect(errors).toContainEqual(['rule not judged', { ruleId: '1', error: failure }]);
    expect(errors).toContainEqual(['alert not delivered', { alertId: 'fired', error: failure }]);
    expect(errors).toContainEqual(['rules not judged', { ruleId: '2', error: failure }]);
  });

  it('stops before its time is over, and the next run goes on after the last account it judged', async () => {
    const judged: string[] = [];
    // Each account takes a minute, so a run of five minutes judges some and leaves the last minute free.
    let remainingMs = 0;
    const { run: once } = setUp({
      rules: accountsIn([['a', 'b', 'c'], [], ['d', 'e', 'f', 'g'], ['h']]),
      evaluate: async (accountId) => {
        judged.push(accountId);
        remainingMs -= MINUTE_MS;
        return nothing;
      },
    });
    const runs: (readonly string[])[] = [];
    for (let i = 0; i < 4; i++) {
      remainingMs = 5 * MINUTE_MS;
      await once(() => remainingMs);
      runs.push(judged.splice(0));
    }
    // A run claims each shard once. The turn of the one that is not done comes again after those of the others.
    expect(runs).toEqual([
      ['a', 'b', 'c', 'd', 'e'],
      ['h', 'a', 'b', 'c', 'f'],
      ['h', 'a', 'b', 'c', 'g'],
      ['h', 'a', 'b', 'c', 'd'],
    ]);
  });

  it('goes on with the other shards where one cannot be read, or where a run died in it', async () => {
    const evaluate = jest.fn<RunDependencies['evaluate']>().mockResolvedValue(nothing);
    const { report, errors } = await run({
      rules: {
        async *activeInShard(shard) {
          if (shard === 1) throw new Error('throttled');
          if (shard < 3) yield rule(`account ${shard}`, 'r');
        },
      },
      evaluate,
    });
    expect(evaluate.mock.calls.map(([accountId]) => accountId)).toEqual(['account 0', 'account 2']);
    expect(report).toMatchObject({ shards: 7, failures: 1 });
    expect(errors).toEqual([['rules not read', { shard: 1, error: new Error('throttled') }]]);

    const progress = memoryProgress();
    await progress.claimShard();
    const next = jest.fn<RunDependencies['evaluate']>().mockResolvedValue(nothing);
    await run({ progress, rules: accountsIn([['a'], ['b']]), evaluate: next });
    expect(next.mock.calls.map(([accountId]) => accountId)).toEqual(['b', 'a']);
  });

  it('judges from when all of a shard was judged last, says so after an outage, and goes back again where an account failed', async () => {
    const progress = memoryProgress();
    let now = NOW;
    const seen: string[] = [];
    let fails = false;
    const { run: once, logger } = setUp({
      progress,
      now: () => now,
      rules: accountsIn([['a', 'b']]),
      evaluate: async (accountId, _, at, judgedUntil) => {
        seen.push(`${accountId} ${at.toISOString().slice(11, 16)} ${judgedUntil.toISOString().slice(11, 16)}`);
        if (fails && accountId === 'a') throw new Error('throttled');
        return nothing;
      },
    });
    const at = async (time: string) => {
      now = new Date(`2026-11-20T${time}:00.000Z`);
      await once(() => 5 * MINUTE_MS);
      return seen.splice(0);
    };
    expect(await at('16:30')).toEqual(['a 16:30 16:30', 'b 16:30 16:30']);
    expect(await at('16:31')).toEqual(['a 16:31 16:30', 'b 16:31 16:30']);
    expect(logger.warn).not.toHaveBeenCalled();
    fails = true;
    expect(await at('21:00')).toEqual(['a 21:00 16:31', 'b 21:00 16:31']);
    expect(logger.warn.mock.calls[0]).toEqual([
      'rules were not judged for a while',
      { shard: 0, judgedUntil: '2026-11-20T16:31:00.000Z', judgedAgainFrom: new Date('2026-11-20T16:31:00.000Z') },
    ]);
    fails = false;
    expect(await at('21:01')).toEqual(['a 21:01 16:31', 'b 21:01 16:31']);
    expect(await at('21:02')).toEqual(['a 21:02 21:01', 'b 21:02 21:01']);
  });

  it('delivers what is pending before it judges, for at most two fifths of its time', async () => {
    const calls: string[] = [];
    let remainingMs = 5 * MINUTE_MS;
    const { run: once } = setUp({
      rules: accountsIn([['a']]),
      deliveries: {
        async *undelivered() {
          for (let i = 0; i < 100; i++) yield { alert: alert('due'), round: 1 };
        },
      },
      deliver: async () => {
        calls.push('deliver');
        remainingMs -= MINUTE_MS / 2;
      },
      evaluate: async () => {
        calls.push('judge');
        return nothing;
      },
    });
    await once(() => remainingMs);
    expect(calls).toEqual([...Array.from({ length: 5 }, () => 'deliver'), 'judge']);
  });

  it('lets runs at the same time share the shards', async () => {
    const progress = memoryProgress();
    const judged: string[] = [];
    const once = () =>
      run({
        progress,
        rules: accountsIn(Array.from({ length: SHARDS }, (_, shard) => [`account ${shard}`])),
        evaluate: async (accountId) => {
          judged.push(accountId);
          return nothing;
        },
      });
    await Promise.all([once(), once()]);
    expect(judged).toHaveLength(2 * SHARDS);
    // Neither goes through all shards before the other does: the first shards judged are all different.
    expect(new Set(judged.slice(0, SHARDS)).size).toBe(SHARDS);
  });
});
