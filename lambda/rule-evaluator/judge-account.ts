import type { EvaluationProgress } from '../data/alerts/evaluation-progress.ts';
import type { MeasureStore } from '../data/alerts/measures.ts';
import type { Rules } from '../data/alerts/rules.ts';
import type { AccountJob } from '../domain/limits/account-job.ts';
import { emptyReport, type JudgeReport, judgeRules, type RuleJudging } from './judge-rules.ts';

export interface AccountJudgeDependencies extends RuleJudging {
  readonly rules: Pick<Rules, 'list'>;
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
    if (!(await progress.claimAccount(accountId, since, judging.now()))) return report;
    const active = (await rules.list(accountId)).filter(({ isActive }) => isActive);
    if (active.length === 0) return report;
    await judge(report, accountId, active);
    const now = judging.now();
    if (oldest !== undefined) await measures.note(accountId, [], now, now.getTime() - Date.parse(oldest));
    return report;
  };
};
