import type { Period } from '../calendar/periods.ts';
import { ifExact } from '../spend/counters.ts';
import { knownCost } from '../spend/known-cost.ts';
import type { ReadCounters } from '../spend/spend-question.ts';
import type { EachLimit } from './block.ts';
import {
  type AmountInForce,
  amountFor,
  isAtLimit,
  type Override,
  overrideAt,
  percentUsed,
  type ValueUse,
} from './each.ts';
import { atOwnRate, forecastOf, useOf } from './limit.ts';
import { currentPeriod, evaluatorOf, type RuleCondition } from './rule.ts';
import { fillSeries } from './spend-query.ts';
import { spendSeries } from './spend-series.ts';

/** A rule or budget as it is stored, as far as its state depends on it. */
interface StoredRule {
  readonly condition: RuleCondition;
  readonly isActive: boolean;
  readonly effectiveFrom: string;
}

/** The use of the limits of rules, in their order: the spend of their periods, read once for all of them. */
export const limitStates = async <R extends StoredRule>(
  readCounters: ReadCounters,
  accountId: string,
  rules: readonly R[],
  at: Date,
) => {
  const judged = rules.flatMap((rule) => {
    const evaluator = evaluatorOf(rule.condition);
    const { limit } = evaluator;
    const series = spendSeries({ ...evaluator, effectiveFrom: rule.isActive ? rule.effectiveFrom : undefined });
    return limit ? [{ rule, limit, evaluator, series, period: currentPeriod(evaluator, at) }] : [];
  });
  await fillSeries(readCounters, accountId, judged, at);
  return judged.map(({ rule, limit, series, period }) => ({
    rule,
    limit,
    period,
    use: useOf(limit, period ? series.sum(period.start, period.end) : {}),
    projectedNanoUsd: (period && ifExact(() => forecastOf(period, at, series)?.nanoUsd)) ?? null,
    mayAlsoMatch: (period && ifExact(() => series.mayAlsoMatch(period.start, period.end))) ?? null,
  }));
};

/** One value of a limit of each, and what holds for it. */
export interface ValueState extends AmountInForce, ValueUse {
  readonly value: string | null;
  readonly reservedNanoUsd: number;
  /** The rest of the amount; below 0 where more was spent. Null without a limit. */
  readonly remainingNanoUsd: number | null;
  readonly percentUsed: number | null;
  /** The cost of the whole period at its rate so far; null where it is not known, or too early to say. */
  readonly projectedNanoUsd: number | null;
  readonly isAtLimit: boolean;
  readonly override: Override | null;
}

/** The state of one value. Nothing else computes what is left of it. */
export const valueState = (
  limit: EachLimit,
  counted: ValueUse & { readonly value: string | null; readonly reservedNanoUsd: number },
  override: Override | null,
  { period, now }: { readonly period: Period; readonly now: Date },
): ValueState => {
  const { value, usedNanoUsd, unpricedRequests, reservedNanoUsd } = counted;
  const amount = amountFor(limit, value, override, now);
  return {
    ...{ value, ...amount, usedNanoUsd, unpricedRequests, reservedNanoUsd },
    remainingNanoUsd: amount.nanoUsd === null ? null : amount.nanoUsd - usedNanoUsd,
    percentUsed: amount.nanoUsd === null ? null : percentUsed(usedNanoUsd, amount.nanoUsd),
    projectedNanoUsd: atOwnRate(period, now, knownCost(usedNanoUsd, unpricedRequests)),
    isAtLimit: isAtLimit(limit, counted, amount),
    override: overrideAt(override, now),
  };
};
