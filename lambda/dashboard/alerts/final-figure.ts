import type { Rules } from '../../data/alerts/rules.ts';
import type { Alert } from '../../domain/alerts/alert.ts';
import { coveringRange, isKept } from '../../domain/calendar/range.ts';
import { DAY_MS } from '../../domain/calendar/units.ts';
import { NotFoundError } from '../../domain/errors.ts';
import { evaluatorOf } from '../../domain/limits/rule.ts';
import { spendSeries, splitDimension } from '../../domain/limits/spend-series.ts';
import { CounterOverflowError } from '../../domain/spend/counters.ts';
import type { ReadCounters } from '../../domain/spend/spend-question.ts';
import { usdOf } from '../../domain/spend/spend-report.ts';

export interface FinalDependencies {
  readonly rules: Pick<Rules, 'find'>;
  readonly readCounters: ReadCounters;
  readonly now: () => Date;
}

/** The rule that an alert came from, if it still judges as it did. */
const sameRule = async ({ rules }: Pick<FinalDependencies, 'rules'>, { accountId, ruleId, triggeredAt }: Alert) => {
  if (ruleId === null) return undefined;
  try {
    const rule = await rules.find(accountId, ruleId);
    return rule.effectiveFrom <= triggeredAt ? rule : undefined;
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    return undefined;
  }
};

/**
 * Final sum of an alert's period, from the counters that GET /spend adds up: with usage that was recorded late, and prices that changed.
 * Null while the period lasts, where the rule was changed or deleted, and where the counters are gone.
 */
export const finalFigure =
  ({ readCounters, now, ...dependencies }: FinalDependencies) =>
  async (alert: Alert) => {
    const { period, of, accountId } = alert;
    // Sessions' counters are kept by day, and by no dimension of spend.
    if (period.end > now().toISOString() || of?.dimension === 'session') return null;
    const rule = await sameRule(dependencies, alert);
    if (rule === undefined) return null;
    const evaluator = evaluatorOf(rule.condition);
    const dimension = splitDimension(of?.dimension);
    const filter = dimension && of ? { ...evaluator.filter, [dimension]: of.value } : evaluator.filter;
    const { granularity, lookbackDays, readBy } = evaluator;
    const from = new Date(Date.parse(period.start) - lookbackDays * DAY_MS);
    const range = coveringRange(granularity, from, new Date(period.end));
    if (!isKept(range, now())) return null;
    const series = spendSeries({ granularity, filter });
    for await (const counter of readCounters({ accountId, range, groupBy: readBy })) series.add(counter);
    try {
      // The history of a value has no part in what it came to.
      const judged = evaluator.judge({ period, now: now(), series, usual: 0 });
      if (judged === null) return null;
      const { observed, unit, unpricedRequests } = judged;
      return { observed, observedUsd: unit === 'nanoUsd' ? usdOf(observed) : null, unpricedRequests };
    } catch (error) {
      if (!(error instanceof CounterOverflowError)) throw error;
      return null;
    }
  };
