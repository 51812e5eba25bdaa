import { describe, expect, it, jest } from '@jest/globals';
import type { Rule } from '../../lambda/data/alerts/rules.ts';
import type { Alert } from '../../lambda/domain/alert-rules/alert.ts';
import { type RunDependencies, runEvaluator } from '../../lambda/rule-evaluator/run.ts';
import { silentLogger } from '../http/invoke.ts';

const NOW = new Date('2026-11-20T16:30:00.000Z');
const rule = (accountId: string, ruleId: string) => ({ accountId, ruleId }) as Rule;
const alert = (alertId: string) => ({ alertId }) as Alert;

const run = async (dependencies: Partial<RunDependencies>) => {
  const logger = silentLogger();
  const report = await runEvaluator({
    rules: { async *activeInShard() {} },
    deliveries: { async *undelivered() {} },
    evaluate: async () => [],
    deliver: async () => {},
    now: () => NOW,
    logger,
    ...dependencies,
  })();
  return { report, errors: logger.error.mock.calls };
};

describe('runEvaluator', () => {
  it("evaluates each account of each shard once, with all of the account's rules", async () => {
    const shards = [[rule('a', '1'), rule('a', '2'), rule('b', '3'), rule('c', '4'), rule('c', '5')], [rule('d', '6')]];
    const evaluate = jest.fn<RunDependencies['evaluate']>().mockResolvedValue([]);
    const { report } = await run({
      rules: {
        async *activeInShard(shard) {
          yield* shards[shard] ?? [];
        },
      },
      evaluate,
    });
    expect(report).toEqual({ accounts: 4, rules: 6, alerts: 0, failures: 0 });
    expect(
      evaluate.mock.calls.map(([accountId, rules, at]) => [accountId, rules.map(({ ruleId }) => ruleId), at]),
    ).toEqual([
      ['a', ['1', '2'], NOW],
      ['b', ['3'], NOW],
      ['c', ['4', '5'], NOW],
      ['d', ['6'], NOW],
    ]);
  });

  it('delivers what fired in round 0 and what is due in its own round, and logs what fails by its id', async () => {
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
        return [alert('fired')];
      },
      deliver,
    });
    expect(deliver.mock.calls).toEqual([
      [alert('fired'), 0],
      [alert('due'), 4],
    ]);
    expect(report).toEqual({ accounts: 2, rules: 2, alerts: 1, failures: 2 });
    expect(errors).toHaveLength(2);
    expect(errors).toContainEqual(['alert not delivered', { alertId: 'fired', error: failure }]);
    expect(errors).toContainEqual(['rules not judged', { ruleId: '2', error: failure }]);
  });
});
