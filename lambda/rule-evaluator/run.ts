import type { Logger } from '@aws-lambda-powertools/logger';
import pMap from 'p-map';
import type { AlertDeliveries } from '../data/alerts/alert-deliveries.ts';
import type { Rule, Rules } from '../data/alerts/rules.ts';
import { ACTIVE_RULE_SHARDS, UNDELIVERED_SHARDS } from '../data/table/keys.ts';
import type { Alert } from '../domain/alert-rules/alert.ts';

export interface RunDependencies {
  readonly rules: Pick<Rules, 'activeInShard'>;
  readonly deliveries: Pick<AlertDeliveries, 'undelivered'>;
  readonly evaluate: (accountId: string, rules: readonly Rule[], now: Date) => Promise<Alert[]>;
  readonly deliver: (alert: Alert, round: number) => Promise<void>;
  readonly now: () => Date;
  readonly logger: Pick<Logger, 'error'>;
}

/** What one run did. */
export interface RunReport {
  accounts: number;
  rules: number;
  alerts: number;
  failures: number;
}

const AT_ONCE = 32;
/** An account may have fifty alerts, each with a slow webhook: they must not fill the whole run. */
const OF_ONE_ACCOUNT_AT_ONCE = 10;

/** Groups rules by account. The index has an account's rules next to each other. */
async function* groupByAccount(rules: AsyncIterable<Rule>): AsyncGenerator<Rule[]> {
  let account: Rule[] = [];
  for await (const rule of rules) {
    if (account[0] && account[0].accountId !== rule.accountId) {
      yield account;
      account = [];
    }
    account.push(rule);
  }
  if (account.length > 0) yield account;
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

async function* inAllShards<T>(shards: number, read: (shard: number) => AsyncIterable<T>): AsyncGenerator<T> {
  for (const shard of numbers(shards)) yield* read(shard);
}

/** One run: judges every active rule, delivers the alerts that fired, and retries earlier deliveries that failed. */
export const runEvaluator =
  ({ rules, deliveries, evaluate, deliver, now, logger }: RunDependencies) =>
  async (): Promise<RunReport> => {
    const report: RunReport = { accounts: 0, rules: 0, alerts: 0, failures: 0 };
    /** A failure for one account or alert must not stop the others. */
    const logFailure = async (what: string, ids: Record<string, string>, work: () => Promise<void>): Promise<void> => {
      try {
        await work();
      } catch (error) {
        report.failures += 1;
        logger.error(what, { ...ids, error: error as Error });
      }
    };
    const tryToDeliver = (alert: Alert, round: number) =>
      logFailure('alert not delivered', { alertId: alert.alertId }, () => deliver(alert, round));

    const at = now();
    const accounts = inAllShards(ACTIVE_RULE_SHARDS, (shard) => groupByAccount(rules.activeInShard(shard)));
    // pMap takes the next account when one is done, so a long stream is never held whole. Only reading the shards can reject here: each
    // mapper catches its own errors. pMap then rejects at once, while evaluations under way go on.
    await pMap(
      accounts,
      async (accountRules) => {
        const [{ accountId, ruleId }] = accountRules as [Rule];
        report.accounts += 1;
        report.rules += accountRules.length;
        await logFailure('rules not judged', { ruleId }, async () => {
          const fired = await evaluate(accountId, accountRules, at);
          report.alerts += fired.length;
          await pMap(fired, (alert) => tryToDeliver(alert, 0), { concurrency: OF_ONE_ACCOUNT_AT_ONCE });
        });
      },
      { concurrency: AT_ONCE },
    );
    const due = inAllShards(UNDELIVERED_SHARDS, (shard) => deliveries.undelivered(shard, now()));
    await pMap(due, ({ alert, round }) => tryToDeliver(alert, round), { concurrency: AT_ONCE });
    return report;
  };
