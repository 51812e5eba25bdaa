import type { Logger } from '@aws-lambda-powertools/logger';
import pMap from 'p-map';
import type { AlertDeliveries } from '../data/alerts/alert-deliveries.ts';
import type { EvaluationProgress } from '../data/alerts/evaluation-progress.ts';
import type { Rule, Rules } from '../data/alerts/rules.ts';
import { ACTIVE_RULE_SHARDS, UNDELIVERED_SHARDS } from '../data/table/keys.ts';
import type { Alert } from '../domain/alert-rules/alert.ts';
import { CATCH_UP_MS } from '../domain/calendar/periods.ts';
import { MINUTE_MS } from '../domain/calendar/units.ts';
import type { Evaluation } from './evaluate-account.ts';

export interface RunDependencies {
  readonly rules: Pick<Rules, 'activeInShard'>;
  readonly deliveries: Pick<AlertDeliveries, 'undelivered'>;
  readonly progress: EvaluationProgress;
  readonly evaluate: (accountId: string, rules: readonly Rule[], now: Date, judgedUntil: Date) => Promise<Evaluation>;
  readonly deliver: (alert: Alert, round: number) => Promise<void>;
  readonly now: () => Date;
  readonly logger: Pick<Logger, 'error' | 'warn'>;
}

/** What one run did. `shards` are those whose rules were all judged. */
export interface RunReport {
  shards: number;
  accounts: number;
  rules: number;
  alerts: number;
  failures: number;
}

const AT_ONCE = 32;
/** An account may have fifty alerts, each with a slow webhook: they must not fill the whole run. */
const OF_ONE_ACCOUNT_AT_ONCE = 10;
/** The longest time that one account takes: fifty alerts, each with a webhook that takes five seconds. */
const ACCOUNT_MS = MINUTE_MS;
/** Alerts that are pending are delivered first, for at most this share of the run. */
const PENDING_SHARE = 0.4;
/** Rules that were not judged for this long are reported: runs last five minutes at most. */
const OUTAGE_MS = 15 * MINUTE_MS;

type AccountRules = readonly [Rule, ...Rule[]];

/** Groups rules by account. The index has an account's rules next to each other. */
async function* groupByAccount(rules: AsyncIterable<Rule>): AsyncGenerator<AccountRules> {
  let account: Rule[] = [];
  for await (const rule of rules) {
    if (account[0] && account[0].accountId !== rule.accountId) {
      yield account as unknown as AccountRules;
      account = [];
    }
    account.push(rule);
  }
  if (account.length > 0) yield account as unknown as AccountRules;
}

/** The values until it is late; `isCut` is true where values were left out. */
const takeUntil = <T>(values: AsyncIterable<T>, isLate: () => boolean) => {
  let isCut = false;
  return {
    isCut: () => isCut,
    async *[Symbol.asyncIterator](): AsyncGenerator<T> {
      for await (const value of values) {
        isCut = isLate();
        if (isCut) return;
        yield value;
      }
    },
  };
};

/**
 * One run: delivers the alerts that are pending, then judges the active rules, shard by shard, from where the last run stopped, and
 * delivers the alerts that fire.
 *
 * The returned function takes `remainingMs`, which returns the time left for the run.
 */
export const runEvaluator =
  ({ rules, deliveries, progress, evaluate, deliver, now, logger }: RunDependencies) =>
  async (remainingMs: () => number): Promise<RunReport> => {
    const report: RunReport = { shards: 0, accounts: 0, rules: 0, alerts: 0, failures: 0 };
    const runMs = remainingMs();
    const isLate = () => remainingMs() < ACCOUNT_MS;
    const fail = (what: string, facts: Record<string, unknown>, error: unknown): void => {
      report.failures += 1;
      logger.error(what, { ...facts, error: error as Error });
    };
    const tryToDeliver = async (alert: Alert, round: number): Promise<void> => {
      try {
        await deliver(alert, round);
      } catch (error) {
        fail('alert not delivered', { alertId: alert.alertId }, error);
      }
    };

    /** @returns false where the rules of the account must be judged again */
    const judgeAccount = async (accountRules: AccountRules, judgedUntil: Date): Promise<boolean> => {
      const [{ accountId, ruleId }] = accountRules;
      report.accounts += 1;
      report.rules += accountRules.length;
      try {
        const { fired, failures } = await evaluate(accountId, accountRules, now(), judgedUntil);
        report.alerts += fired.length;
        for (const failure of failures) fail('rule not judged', { ruleId: failure.ruleId }, failure.error);
        await pMap(fired, (alert) => tryToDeliver(alert, 0), { concurrency: OF_ONE_ACCOUNT_AT_ONCE });
        return true;
      } catch (error) {
        fail('rules not judged', { ruleId }, error);
        return false;
      }
    };

    const deliverPending = async (): Promise<void> => {
      const isLong = () => remainingMs() < (1 - PENDING_SHARE) * runMs;
      // Each run begins with another shard, so that none waits for the others.
      const first = Math.floor(now().getTime() / MINUTE_MS);
      for (let i = 0; i < UNDELIVERED_SHARDS && !isLong(); i++) {
        const shard = (first + i) % UNDELIVERED_SHARDS;
        const due = takeUntil(deliveries.undelivered(shard, now()), isLong);
        try {
          await pMap(due, ({ alert, round }) => tryToDeliver(alert, round), { concurrency: AT_ONCE });
        } catch (error) {
          fail('pending alerts not read', { shard }, error);
        }
      }
    };

    const judgeShard = async (): Promise<void> => {
      const { shard, judgedUntil, stopped } = await progress.claimShard();
      const startedAt = now();
      const judgedBefore = judgedUntil === null ? startedAt : new Date(judgedUntil);
      if (startedAt.getTime() - judgedBefore.getTime() > OUTAGE_MS) {
        const judgedAgainFrom = new Date(Math.max(judgedBefore.getTime(), startedAt.getTime() - CATCH_UP_MS));
        logger.warn('rules were not judged for a while', { shard, judgedUntil, judgedAgainFrom });
      }
      let last = stopped?.after;
      let isWhole = true;
      const accounts = takeUntil(groupByAccount(rules.activeInShard(shard, last)), isLate);
      const judge = async (accountRules: AccountRules): Promise<void> => {
        last = accountRules[0].accountId;
        if (!(await judgeAccount(accountRules, judgedBefore))) isWhole = false;
      };
      try {
        // pMap takes the next account when one is done, so a long stream is never held whole. Only reading the shard can reject here.
        await pMap(accounts, judge, { concurrency: AT_ONCE });
      } catch (error) {
        return fail('rules not read', { shard }, error);
      }
      // Where an account failed, the next round catches up from where this one had to.
      const since = isWhole ? (stopped?.since ?? startedAt.toISOString()) : judgedBefore.toISOString();
      if (!accounts.isCut()) {
        await progress.save(shard, { judgedUntil: since, stopped: null });
        report.shards += 1;
      } else if (last !== undefined) await progress.save(shard, { judgedUntil, stopped: { after: last, since } });
    };

    await deliverPending();
    for (let i = 0; i < ACTIVE_RULE_SHARDS && !isLate(); i++) await judgeShard();
    return report;
  };
