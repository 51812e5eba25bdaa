import * as z from 'zod/mini';
import type { Period } from '../calendar/compared-periods.ts';
import { anyPeriodNames } from '../calendar/periods.ts';
import { DAY_MS } from '../calendar/units.ts';
import { percentUsed } from '../limits/each.ts';
import { limitStates } from '../limits/limit-states.ts';
import type { BudgetCondition } from '../limits/rule.ts';
import { findingScope } from '../savings/decision.ts';
import { findingKinds } from '../savings/finding-kinds.ts';
import type { Finding } from '../savings/findings.ts';
import { dimensionOf } from '../spend/dimensions.ts';
import { type DisplayCurrency, describeCurrency } from '../spend/display-currency.ts';
import { type Grouping, grouping } from '../spend/grouping.ts';
import { periodSums, spendChange } from '../spend/spend-change.ts';
import type { ReadCounters } from '../spend/spend-question.ts';
import { sumsOf } from '../spend/spend-report.ts';
import { type ReadTrackingGaps, trackingGaps } from '../spend/tracking-gaps.ts';
import type { Report } from './report.ts';
import { periodBefore, type ReportCalendar, type ReportPeriod, reportFrequencies } from './report-period.ts';

const count = z.int();
const nanoUsd = z.nullable(z.int());

const shownCost = z.optional(z.nullable(z.string()));

/** Two sums and their difference, and the sums in the account's currency: see spendChange. Null is not known. */
const change = {
  costBeforeNanoUsd: nanoUsd,
  costNanoUsd: nanoUsd,
  costChangeNanoUsd: nanoUsd,
  requestsBefore: count,
  requests: count,
  unpricedRequestsBefore: count,
  unpricedRequests: count,
  displayCostBefore: shownCost,
  displayCost: shownCost,
};

const breakdownSchema = z.object({
  by: grouping,
  /** The costliest, and those that changed most: costliest first. */
  groups: z.array(
    z.object({
      /** Null: requests without one. */
      value: z.nullable(z.string()),
      /** The name of what `value` is the id of; null where it is a name itself. */
      label: z.nullable(z.string()),
      ...change,
    }),
  ),
  furtherGroups: count,
  /** False where some sums are lower bounds: see GET /spend. */
  isComplete: z.boolean(),
});

const range = z.object({ from: z.string(), to: z.string() });

/** Content of a report for a period. It is stored, so that every attempt to send it sends the same. */
export const reportContentSchema = z.object({
  every: z.enum(reportFrequencies),
  timeZone: z.string(),
  period: z.object({ firstDay: z.string(), lastDay: z.string(), ...range.shape }),
  before: range,
  /** The account's currency, with the rate of the last day; absent for US dollars. */
  currency: z.optional(z.object({ code: z.string(), perUsd: z.string() })),
  totals: z.object(change),
  /** Why the cost changed: see costEffects. Null where that is not known. */
  effects: z.nullable(z.object({ volumeNanoUsd: count, mixNanoUsd: count, priceNanoUsd: count })),
  breakdowns: z.array(breakdownSchema),
  /** How the numbers are known. */
  coverage: z.object({
    estimatedNanoUsd: count,
    bypassedRequests: count,
    unfinishedRequests: count,
    partialRequests: count,
    /** Forwarded and in no other number: an upper bound. */
    untrackedRequests: count,
  }),
  /** As they stand when the report is made: a budget has periods of its own. */
  budgets: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      period: z.enum(anyPeriodNames),
      amountNanoUsd: count,
      usedNanoUsd: count,
      percentUsed: count,
      projectedNanoUsd: nanoUsd,
      unpricedRequests: count,
    }),
  ),
  /** The largest savings that were not dismissed. Only weekly reports have them. */
  savings: z.optional(
    z.object({
      findings: z.array(
        z.object({
          kind: z.enum(findingKinds),
          scope: findingScope,
          nanoUsdPerMonth: count,
          /** In the account's currency. */
          perMonth: z.string(),
          arithmetic: z.string(),
        }),
      ),
      furtherFindings: count,
      isComplete: z.boolean(),
    }),
  ),
});
export type ReportContent = z.infer<typeof reportContentSchema>;
export type Breakdown = z.infer<typeof breakdownSchema>;
export type ReportChange = ReportContent['totals'];

/** Groups of either period that are compared. */
const MAX_COMPARED = 1_000;
const MAX_SHOWN = 10;
const MAX_DRIVERS = 3;
const MAX_FINDINGS = 5;
const FINDINGS_MS = 30 * DAY_MS;

export interface ContentDependencies {
  readonly readCounters: ReadCounters;
  readonly readTrackingGaps: ReadTrackingGaps;
  /** Names of the ids that are values of a dimension. */
  readonly namesOf: (accountId: string, by: Grouping) => Promise<ReadonlyMap<string, string>>;
  /** Active budgets. */
  readonly listBudgets: (accountId: string) => Promise<
    readonly {
      readonly ruleId: string;
      readonly name: string;
      readonly condition: BudgetCondition;
      readonly isActive: boolean;
      readonly effectiveFrom: string;
    }[]
  >;
  /** The largest savings that were not dismissed. */
  readonly readFindings: (
    accountId: string,
    period: Period,
  ) => Promise<{
    readonly findings: readonly Finding[];
    readonly isComplete: boolean;
    readonly money: (nanoUsd: number) => string;
  }>;
  /** Null for US dollars only. */
  readonly findCurrency: (accountId: string) => Promise<DisplayCurrency | null>;
  readonly now: () => Date;
}

/**
 * A report of a period has the sums of `GET /spend` for it and for the period before, and what made the difference.
 *
 * @throws CounterOverflowError, ValidationError where a sum is not exact any more, or there are too many groups
 */
export const readContent = (dependencies: ContentDependencies) => {
  const { readCounters, readTrackingGaps, namesOf, listBudgets, readFindings, findCurrency, now } = dependencies;

  const readSums = (accountId: string, by: Grouping, period: Period, currency: DisplayCurrency | null) => {
    const dimension = dimensionOf(by);
    const counters = readCounters({
      accountId,
      range: { granularity: 'day', ...period },
      groupBy: [dimension, 'provider', 'model'],
      currency,
    });
    return periodSums(counters, { groupBy: [dimension], filter: {} });
  };

  const readBreakdown = async (
    accountId: string,
    by: Grouping,
    [period, periodBefore]: readonly [Period, Period],
    currency: DisplayCurrency | null,
  ) => {
    const [current, before] = await Promise.all([
      readSums(accountId, by, period, currency),
      readSums(accountId, by, periodBefore, currency),
    ]);
    const dimension = dimensionOf(by);
    const { totals, effects, groups, otherGroups, isComplete } = spendChange(
      before,
      current,
      [dimension],
      MAX_COMPARED,
      currency,
    );
    const names = await namesOf(accountId, by);
    const costliest = groups.toSorted((left, right) => (right.costNanoUsd ?? 0) - (left.costNanoUsd ?? 0));
    const shown = new Set([...costliest.slice(0, MAX_SHOWN), ...groups.slice(0, MAX_DRIVERS)]);
    const breakdown: Breakdown = {
      by,
      groups: costliest
        .filter((group) => shown.has(group))
        .map(({ [dimension]: value = null, ...group }) => ({
          ...group,
          value,
          label: (value !== null && names.get(value)) || null,
        })),
      furtherGroups: groups.length - shown.size + (otherGroups?.groups ?? 0),
      isComplete,
    };
    return { breakdown, totals, effects, sums: sumsOf(current.total, current.mayLack) };
  };

  const readBudgets = async (accountId: string): Promise<ReportContent['budgets']> => {
    const states = await limitStates(readCounters, accountId, await listBudgets(accountId), now());
    return states.flatMap(({ rule, limit: { amountNanoUsd, each }, period, use, projectedNanoUsd }) => {
      // The amount of each value says nothing about all of them together.
      if (period === null || each) return [];
      return {
        id: rule.ruleId,
        name: rule.name,
        period: period.name,
        amountNanoUsd,
        usedNanoUsd: use.usedNanoUsd,
        percentUsed: percentUsed(use.usedNanoUsd, amountNanoUsd),
        projectedNanoUsd,
        unpricedRequests: use.unpricedRequests,
      };
    });
  };

  /** Findings are counted by the month: they are those of the 30 days until the end of a period. */
  const readSavings = async (accountId: string, { to }: Period): Promise<ReportContent['savings']> => {
    const from = new Date(Date.parse(to) - FINDINGS_MS).toISOString();
    const { findings, isComplete, money } = await readFindings(accountId, { from, to });
    const shown = findings.slice(0, MAX_FINDINGS).map((finding) => ({
      ...finding,
      perMonth: money(finding.nanoUsdPerMonth),
    }));
    return { findings: shown, furtherFindings: findings.length - shown.length, isComplete };
  };

  return async (
    { accountId, schedule: { every }, groupBy }: Pick<Report, 'accountId' | 'schedule' | 'groupBy'>,
    period: ReportPeriod,
    calendar: ReportCalendar,
  ): Promise<ReportContent> => {
    const before = periodBefore(every, period, calendar);
    const currency = await findCurrency(accountId);
    const perUsd = currency && describeCurrency(currency, { ...period, granularity: 'day' }).perUsd;
    const [gaps, budgets, savings, ...breakdowns] = await Promise.all([
      readTrackingGaps(accountId, period),
      readBudgets(accountId),
      every === 'weekly' ? readSavings(accountId, period) : undefined,
      ...groupBy.map((by) => readBreakdown(accountId, by, [period, before], currency)),
    ]);
    const [first] = breakdowns;
    if (first === undefined) throw new TypeError('a report has a grouping');
    const { sums, totals, effects } = first;
    return reportContentSchema.parse({
      every,
      timeZone: calendar.timeZone,
      period,
      before: { from: before.from, to: before.to },
      currency: currency && perUsd ? { code: currency.code, perUsd } : undefined,
      totals,
      effects,
      breakdowns: breakdowns.map(({ breakdown }) => breakdown),
      coverage: {
        estimatedNanoUsd: sums.costByProvenance.estimated.costNanoUsd ?? 0,
        bypassedRequests: sums.bypassedRequests,
        unfinishedRequests: sums.unfinishedRequests,
        partialRequests: sums.partialRequests,
        untrackedRequests: trackingGaps(gaps).requests,
      },
      budgets,
      savings,
    });
  };
};
