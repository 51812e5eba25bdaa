import type { KeyInProject } from '../accounts/project.ts';
import type { ReadCounters } from '../spend/spend-report.ts';
import { projectedNanoUsd, useOf } from './budget.ts';
import { type BudgetCondition, evaluatorOf } from './rule.ts';
import { readByProject } from './rule-counters.ts';
import { fillSeries } from './spend-query.ts';
import { spendSeries } from './spend-series.ts';

/** A budget as it is stored, as far as its state depends on it. */
interface JudgedBudget {
  readonly condition: BudgetCondition;
  readonly isActive: boolean;
  readonly effectiveFrom: string;
}

export interface SpendReading {
  readonly readCounters: ReadCounters;
  /** All keys of an account, also revoked ones: they say what belongs to a project. */
  readonly listKeys: (accountId: string) => Promise<readonly Pick<KeyInProject, 'keyId' | 'projectId'>[]>;
}

/** What budgets have used, in their order: the spend of their periods, read once for all of them. */
export const budgetStates = async <B extends JudgedBudget>(
  { readCounters, listKeys }: SpendReading,
  accountId: string,
  budgets: readonly B[],
  at: Date,
) => {
  const judged = budgets.map((budget) => {
    const evaluator = evaluatorOf(budget.condition);
    const [period] = evaluator.periodsToJudge(at);
    const isCurrent = period !== undefined && at.toISOString() < period.end;
    const series = spendSeries({ ...evaluator, effectiveFrom: budget.isActive ? budget.effectiveFrom : undefined });
    return { budget, evaluator, series, period: isCurrent ? period : null };
  });
  await fillSeries(readByProject(readCounters, listKeys), accountId, judged, at);
  return judged.map(({ budget, series, period }) => ({
    budget,
    period,
    use: useOf(budget.condition.config, period ? series.sum(period.start, period.end) : {}),
    projected: period && projectedNanoUsd(period, at, series),
    mayAlsoMatch: (period && series.mayAlsoMatch(period.start, period.end)) ?? null,
  }));
};
