import type { BlockStore } from '../data/alerts/blocks.ts';
import type { MeasureStore } from '../data/alerts/measures.ts';
import type { Rule } from '../data/alerts/rules.ts';
import type { Reservations } from '../data/ledger/reservations.ts';
import type { KeyInProject } from '../domain/accounts/project.ts';
import { useOf } from '../domain/limits/budget.ts';
import {
  type BudgetState,
  concernsGateway,
  reservedPeriods,
  usedByBudget,
  useSamples,
  withBudgets,
} from '../domain/limits/budget-blocks.ts';
import type { BoundEvaluator } from '../domain/limits/rule.ts';
import type { SpendSeries } from '../domain/limits/spend-series.ts';
import { CounterOverflowError } from '../domain/spend/counters.ts';

interface Judged {
  readonly rule: Rule;
  readonly evaluator: BoundEvaluator;
  readonly series: SpendSeries;
}

/**
 * Prepares what an account's budgets stop, before their spend is read. The returned function writes it afterwards, and returns the budgets
 * whose use is no longer exact, with the errors.
 */
export const stopByBudgets =
  (
    blocks: Pick<BlockStore, 'change'>,
    reservations: Pick<Reservations, 'compare'>,
    measures: Pick<MeasureStore, 'note'>,
  ) =>
  async (
    accountId: string,
    { judged, keys, now }: { judged: readonly Judged[]; keys: readonly KeyInProject[]; now: Date },
  ): Promise<() => Promise<Map<string, unknown>>> => {
    const isConcerned = judged.some(
      ({ rule: { condition } }) => condition.type === 'budget' && concernsGateway(condition.config),
    );
    const current = judged.flatMap(({ rule: { ruleId, name, condition }, evaluator, series }) => {
      const [period] = evaluator.periodsToJudge(now);
      if (condition.type !== 'budget' || period === undefined || period.end <= now.toISOString()) return [];
      const { config } = condition;
      return concernsGateway(config) ? [{ budgetId: ruleId, name, config, period, series }] : [];
    });
    const adjustReservations = await reservations.compare(accountId, reservedPeriods(current));

    return async () => {
      const failures = new Map<string, unknown>();
      const states: BudgetState[] = [];
      for (const { series, ...budget } of current)
        try {
          const { start, end } = budget.period;
          states.push({ ...budget, use: useOf(budget.config, series.sum(start, end)) });
        } catch (error) {
          if (!(error instanceof CounterOverflowError)) throw error;
          failures.set(budget.budgetId, error);
        }
      await adjustReservations(usedByBudget(states));
      if (isConcerned)
        await blocks.change(accountId, (before) => withBudgets(before, states, new Set(failures.keys()), keys));
      const samples = useSamples(states);
      if (samples.length > 0) await measures.note(accountId, samples, now);
      return failures;
    };
  };
