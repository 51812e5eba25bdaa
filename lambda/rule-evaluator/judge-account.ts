import type { Logger } from '@aws-lambda-powertools/logger';
import pMap from 'p-map';
import type { EvaluationProgress } from '../data/alerts/evaluation-progress.ts';
import type { Rule, Rules } from '../data/alerts/rules.ts';
import type { AccountJob } from '../domain/alert-rules/account-job.ts';
import type { Alert } from '../domain/alert-rules/alert.ts';
import type { Evaluation } from './evaluate-account.ts';
import type { JudgeReport } from './judge-shards.ts';

export interface AccountJudgeDependencies {
  readonly rules: Pick<Rules, 'list'>;
  readonly progress: Pick<EvaluationProgress, 'claimAccount'>;
  readonly evaluate: (accountId: string, rules: readonly Rule[], now: Date) => Promise<Evaluation>;
  readonly deliver: (alert: Alert, round: number) => Promise<void>;
  readonly now: () => Date;
  readonly logger: Pick<Logger, 'error'>;
}

/** An account may have fifty alerts, each with a slow webhook: they must not fill the whole run. */
const AT_ONCE = 10;

/**
 * Judges the rules of one account soon after its spend changed, so that a budget stops requests within seconds. Many recorders send such
 * jobs at the same time: an account that was judged since then is left out.
 */
export const judgeAccount =
  ({ rules, progress, evaluate, deliver, now, logger }: AccountJudgeDependencies) =>
  async ({ accountId, since }: AccountJob): Promise<JudgeReport> => {
    const report: JudgeReport = { shards: 0, accounts: 0, rules: 0, alerts: 0, failures: 0 };
    if (!(await progress.claimAccount(accountId, since, now()))) return report;
    const active = (await rules.list(accountId)).filter(({ isActive }) => isActive);
    if (active.length === 0) return report;
    const { fired, failures } = await evaluate(accountId, active, now());
    for (const { ruleId, error } of failures) logger.error('rule not judged', { ruleId, error: error as Error });
    let undelivered = 0;
    await pMap(
      fired,
      async (alert) => {
        try {
          await deliver(alert, 0);
        } catch (error) {
          undelivered += 1;
          logger.error('alert not delivered', { alertId: alert.alertId, error: error as Error });
        }
      },
      { concurrency: AT_ONCE },
    );
    return {
      ...report,
      accounts: 1,
      rules: active.length,
      alerts: fired.length,
      failures: failures.length + undelivered,
    };
  };
