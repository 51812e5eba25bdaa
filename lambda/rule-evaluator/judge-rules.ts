import type { Logger } from '@aws-lambda-powertools/logger';
import pMap from 'p-map';
import type { EvaluationProgress } from '../data/alerts/evaluation-progress.ts';
import type { MeasureStore } from '../data/alerts/measures.ts';
import type { Rule, Rules, UnreadableRule } from '../data/alerts/rules.ts';
import type { Alert } from '../domain/alerts/alert.ts';
import type { AccountJob } from '../domain/limits/account-job.ts';
import type { Evaluation } from './evaluate-account.ts';

export interface RuleJudging {
  readonly evaluate: (accountId: string, rules: readonly Rule[], now: Date, judgedUntil: Date) => Promise<Evaluation>;
  readonly deliver: (alert: Alert, round: number) => Promise<void>;
  readonly now: () => Date;
  readonly logger: Pick<Logger, 'error'>;
}

/** The counts of a worker's run. `shards` are those whose rules were all judged. */
export interface JudgeReport {
  shards: number;
  accounts: number;
  rules: number;
  alerts: number;
  failures: number;
}

export const emptyReport = (): JudgeReport => ({ shards: 0, accounts: 0, rules: 0, alerts: 0, failures: 0 });

/** An account may have fifty alerts, each with a slow webhook: they must not fill the whole run. */
const ALERTS_AT_ONCE = 10;

/** Counts and logs a failure. */
export const failIn =
  (report: Pick<JudgeReport, 'failures'>, logger: Pick<Logger, 'error'>) =>
  (what: string, facts: Record<string, unknown>, error: unknown): void => {
    report.failures += 1;
    logger.error(what, { ...facts, error: error as Error });
  };

/**
 * Judges rules of one account, and delivers the alerts that fire. What it did is added to the report.
 *
 * @param judgedUntil when they were judged before; now by default
 */
export const judgeRules =
  ({ evaluate, deliver, now, logger }: RuleJudging) =>
  async (
    report: JudgeReport,
    accountId: string,
    found: readonly (Rule | UnreadableRule)[],
    judgedUntil?: Date,
  ): Promise<void> => {
    const fail = failIn(report, logger);
    const rules = found.flatMap((rule) => ('error' in rule ? [] : rule));
    for (const rule of found) if ('error' in rule) fail('rule not read', { ruleId: rule.ruleId }, rule.error);
    report.accounts += 1;
    report.rules += rules.length;
    const at = now();
    const { fired, failures } = await evaluate(accountId, rules, at, judgedUntil ?? at);
    report.alerts += fired.length;
    for (const { ruleId, error } of failures) fail('rule not judged', { ruleId }, error);
    await pMap(
      fired,
      (alert) => deliver(alert, 0).catch((error) => fail('alert not delivered', { alertId: alert.alertId }, error)),
      { concurrency: ALERTS_AT_ONCE },
    );
  };

export interface AccountJudgeDependencies extends RuleJudging {
  readonly rules: Pick<Rules, 'active'>;
  readonly progress: Pick<EvaluationProgress, 'claimAccount'>;
  readonly measures: Pick<MeasureStore, 'note'>;
}

/**
 * Judges the rules of one account soon after its spend changed, so that a budget stops requests within seconds. Many recorders send such
 * jobs at the same time: an account that was judged since then is left out.
 */
export const judgeAccount = ({ rules, progress, measures, ...judging }: AccountJudgeDependencies) => {
  const judge = judgeRules(judging);
  return async ({ accountId, since, oldest }: AccountJob): Promise<JudgeReport> => {
    const report = emptyReport();
    const isClaimed = await progress.claimAccount(accountId, since, judging.now());
    const active = isClaimed ? await rules.active(accountId) : [];
    if (active.length > 0) await judge(report, accountId, active);
    const now = judging.now();
    if (oldest !== undefined) await measures.note(accountId, [], now, now.getTime() - Date.parse(oldest));
    return report;
  };
};
