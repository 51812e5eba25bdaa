import { openMeasures } from '../../data/alerts/measures.ts';
import type { Rule } from '../../data/alerts/rules.ts';
import { openReservations } from '../../data/ledger/reservations.ts';
import type { Table } from '../../data/table/table.ts';
import { isReserved } from '../../domain/alert-rules/budget-blocks.ts';
import type { BudgetCondition } from '../../domain/alert-rules/rule.ts';
import { boundOf } from '../../domain/budgets/bound.ts';
import { periodId } from '../../domain/budgets/reservation.ts';
import type { Period } from '../../domain/calendar/periods.ts';
import { usdOf } from '../../domain/spend/spend-report.ts';

/** Cached keys are read again after 60 s, and the account's blocks after 5 s. */
const ENFORCED_AFTER_MS = 65_000;

interface Bound {
  readonly nanoUsd: number | null;
  readonly because: string;
}

const seconds = (ms: number): string => `${Math.ceil(ms / 1_000)} s`;

interface Enforcement {
  readonly bound: Bound;
  readonly enforcedFrom: string;
}

/** What may be spent past budgets that stop requests, by id, and since when they do. Nothing for a budget that stops none. */
export type ReadBounds = (
  accountId: string,
  budgets: readonly { readonly budget: Rule<BudgetCondition>; readonly period: Period | null }[],
) => Promise<ReadonlyMap<string, Enforcement>>;

export const openBounds = (table: Table): ReadBounds => {
  const measures = openMeasures(table);
  const reservations = openReservations(table);
  return async (accountId, budgets) => {
    const stopping = budgets.filter(({ budget }) => budget.isActive && budget.condition.config.block !== null);
    if (stopping.length === 0) return new Map();
    const measured = await measures.read(accountId);
    const entries = stopping.map(async ({ budget, period }) => {
      const lagging = boundOf(measured, budget.ruleId);
      const measure = lagging
        ? `What was spent in the busiest minute of the last day ($${usdOf(lagging.peakNanoUsdPerMinute)}), for the ${seconds(lagging.lagMs)} from a request’s start until gateways know its cost, in whole minutes and one more.`
        : 'Nothing was spent since the budget is measured, so its rate is not known.';
      const boundOfReserved = async (current: Period): Promise<Bound> => {
        const item = await reservations.read(accountId, { budgetId: budget.ruleId, periodId: periodId(current) });
        const unreserved = item.unreservedNanoUsd - item.initialNanoUsd;
        if (unreserved <= 0 && item.excessNanoUsd === 0)
          return { nanoUsd: 0, because: 'Each request of the period reserved the most that it may cost.' };
        const parts = [
          ...(unreserved > 0 ? [`$${usdOf(unreserved)} of the period had no reservation. ${measure}`] : []),
          ...(item.excessNanoUsd > 0
            ? [`Requests cost $${usdOf(item.excessNanoUsd)} more than they had reserved.`]
            : []),
        ];
        const ofUnreserved = unreserved > 0 ? (lagging?.nanoUsd ?? null) : 0;
        return { nanoUsd: ofUnreserved === null ? null : ofUnreserved + item.excessNanoUsd, because: parts.join(' ') };
      };
      const bound =
        period !== null && isReserved(budget.condition.config)
          ? await boundOfReserved(period)
          : { nanoUsd: lagging?.nanoUsd ?? null, because: measure };
      const enforcedFrom = new Date(Date.parse(budget.updatedAt) + ENFORCED_AFTER_MS).toISOString();
      return [budget.ruleId, { bound, enforcedFrom }] as const;
    });
    return new Map(await Promise.all(entries));
  };
};
