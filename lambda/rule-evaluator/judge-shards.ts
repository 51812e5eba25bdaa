import pMap from 'p-map';
import type { EvaluationProgress, ShardProgress } from '../data/alerts/evaluation-progress.ts';
import type { Rule, Rules, UnreadableRule } from '../data/alerts/rules.ts';
import { inBatches } from '../data/table/batch.ts';
import { MINUTE_MS } from '../domain/calendar/units.ts';
import type { Job, SendJob, ShardToJudge } from './job.ts';
import { emptyReport, failIn, type JudgeReport, judgeRules, type RuleJudging } from './judge-rules.ts';

/** The longest time that one account takes: fifty alerts, ten at a time, each with a webhook that takes five seconds. */
const ACCOUNT_MS = MINUTE_MS;

/** True where an account that is begun now might not be done in time. */
export const isLate = (remainingMs: () => number): boolean => remainingMs() < ACCOUNT_MS;

/** The values until it is time to stop; `isCut` is true where values were left out. */
export const takeUntil = <T>(values: AsyncIterable<T>, isTime: () => boolean) => {
  let isCut = false;
  return {
    isCut: () => isCut,
    async *[Symbol.asyncIterator](): AsyncGenerator<T> {
      for await (const value of values) {
        isCut = isTime();
        if (isCut) return;
        yield value;
      }
    },
  };
};

export interface JudgeDependencies extends RuleJudging {
  readonly rules: Pick<Rules, 'activeInShard'>;
  readonly progress: EvaluationProgress;
  readonly send: SendJob;
}

const AT_ONCE = 32;

type FoundRule = Rule | UnreadableRule;
type AccountRules = readonly [FoundRule, ...FoundRule[]];

/** The rules of each account. The index has them next to each other. */
const byAccount = (rules: AsyncIterable<FoundRule>): AsyncIterable<AccountRules> =>
  inBatches(rules, 1, (last, next) => last.accountId !== next.accountId);

/**
 * Judges the active rules of a job's shards, and delivers the alerts that fire. What the time does not suffice for becomes another job.
 * A job may come twice, or after another took its place: shards that no longer belong to its round are left out, and an alert fires
 * once whoever judges.
 *
 * The returned function takes `remainingMs`, which returns the time left for the run.
 */
export const judgeShards = ({ rules, progress, send, ...judging }: JudgeDependencies) => {
  const judgeAll = judgeRules(judging);
  return async ({ due, shards }: Job, remainingMs: () => number): Promise<JudgeReport> => {
    const report = emptyReport();
    const fail = failIn(report, judging.logger);

    /** @returns false where the rules of the account must be judged again */
    const judgeAccount = async (accountRules: AccountRules, judgedUntil: Date): Promise<boolean> => {
      const [{ accountId, ruleId }] = accountRules;
      try {
        await judgeAll(report, accountId, accountRules, judgedUntil);
        return true;
      } catch (error) {
        fail('rules not judged', { ruleId }, error);
        return false;
      }
    };

    /** Judges a shard from where it stands. `isCut` is true where accounts are left. */
    const judgeShard = async (shard: ShardToJudge): Promise<ShardToJudge & { readonly isCut: boolean }> => {
      let { after, isWhole } = shard;
      const rulesBefore = report.rules;
      const accounts = takeUntil(byAccount(rules.activeInShard(shard.shard, after ?? undefined)), () =>
        isLate(remainingMs),
      );
      const judge = async (accountRules: AccountRules): Promise<void> => {
        after = accountRules[0].accountId;
        if (!(await judgeAccount(accountRules, new Date(shard.judgedUntil)))) isWhole = false;
      };
      try {
        // pMap takes the next account when one is done, so a long stream is never in memory as a whole. Only reading the shard can reject here.
        await pMap(accounts, judge, { concurrency: AT_ONCE });
      } catch (error) {
        fail('rules not read', { shard: shard.shard }, error);
        isWhole = false;
      }
      return { ...shard, after, isWhole, rules: shard.rules + report.rules - rulesBefore, isCut: accounts.isCut() };
    };

    const current = await progress.read();
    const judged: ShardProgress[] = [];
    const rest: ShardToJudge[] = [];
    for (const shard of shards.filter((each) => current[each.shard]?.due === due)) {
      const { isCut, ...result } = await judgeShard(shard);
      if (isCut) rest.push(result);
      else {
        // Where an account failed, the next round catches up from where this one had to.
        const judgedUntil = result.isWhole ? due : result.judgedUntil;
        judged.push({ shard: result.shard, judgedUntil, due: null, rules: result.rules });
      }
    }
    if (rest.length > 0) await send({ due, shards: rest });
    await progress.save(judged);
    report.shards = judged.length;
    return report;
  };
};
