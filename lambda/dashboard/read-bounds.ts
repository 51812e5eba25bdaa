import { openMeasures } from '../data/alerts/measures.ts';
import type { Rule } from '../data/alerts/rules.ts';
import { openReservations } from '../data/ledger/reservations.ts';
import type { Table } from '../data/table/table.ts';
import type { Period } from '../domain/calendar/periods.ts';
import { boundOf } from '../domain/limits/bound.ts';
import type { Limit } from '../domain/limits/limit.ts';
import { isReserved, KNOWN_ON_KEYS_MS } from '../domain/limits/limit-blocks.ts';
import { periodId } from '../domain/limits/reservation.ts';
import { usdOf } from '../domain/spend/spend-report.ts';

/** No request shows this in advance: it is in the bound once it is recorded. */
const NOT_RESERVED =
  'Not in it before they are recorded: tools that providers run, results of batches, a service tier, region or route that was not asked for, prices of your own or not in the table. Unknown prices follow unknownCost.';

const seconds = (ms: number): string => `${Math.ceil(ms / 1_000)} s`;

interface Enforcement {
  readonly bound: { readonly nanoUsd: number | null; readonly because: string };
  readonly enforcedFrom: string;
}

/** The most that may be spent past budgets that stop requests, by id, and since when they do. Nothing for a budget that stops none. */
export type ReadBounds = (
  accountId: string,
  budgets: readonly { readonly rule: Rule; readonly limit: Limit; readonly period: Period | null }[],
) => Promise<ReadonlyMap<string, Enforcement>>;

export const openBounds = (table: Table): ReadBounds => {
  const measures = openMeasures(table);
  const reservations = openReservations(table);
  return async (accountId, budgets) => {
    const stopping = budgets.filter(({ rule, limit }) => rule.isActive && limit.block !== null);
    if (stopping.length === 0) return new Map();
    const measured = await measures.read(accountId);
    const entries = stopping.map(async ({ rule, limit, period }) => {
      const lagging = boundOf(measured, rule.ruleId);
      const measure = lagging
        ? `What was spent in the busiest minute of the last day ($${usdOf(lagging.peakNanoUsdPerMinute)}), for the ${seconds(lagging.lagMs)} from a request’s start until gateways know its cost, in whole minutes and one more.`
        : 'Nothing was spent since the budget is measured, so its rate is not known.';
      const boundOfReserved = async (current: Period): Promise<Enforcement['bound']> => {
        const item = await reservations.read(accountId, { budgetId: rule.ruleId, periodId: periodId(current) });
        const { excessNanoUsd, uncertainNanoUsd } = item;
        const unreserved = item.unreservedNanoUsd - item.initialNanoUsd;
        const parts = [
          ...(unreserved > 0 ? [`$${usdOf(unreserved)} of the period had no reservation. ${measure}`] : []),
          ...(excessNanoUsd > 0 ? [`Requests cost $${usdOf(excessNanoUsd)} more than they had reserved.`] : []),
          ...(uncertainNanoUsd > 0
            ? [
                `Requests had reserved $${usdOf(uncertainNanoUsd)} whose cost is not known (they failed, or no result was fetched).`,
              ]
            : []),
        ];
        const ofUnreserved = unreserved > 0 ? (lagging?.nanoUsd ?? null) : 0;
        return {
          nanoUsd: ofUnreserved === null ? null : ofUnreserved + excessNanoUsd + uncertainNanoUsd,
          because: `${parts.join(' ') || 'Each request of the period reserved the most that it may cost.'} ${NOT_RESERVED}`,
        };
      };
      const bound =
        period !== null && isReserved(limit)
          ? await boundOfReserved(period)
          : { nanoUsd: lagging?.nanoUsd ?? null, because: measure };
      const enforcedFrom = new Date(Date.parse(rule.updatedAt) + KNOWN_ON_KEYS_MS).toISOString();
      return [rule.ruleId, { bound, enforcedFrom }] as const;
    });
    return new Map(await Promise.all(entries));
  };
};
