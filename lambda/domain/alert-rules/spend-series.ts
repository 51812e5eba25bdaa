import { addCounters, type Counters } from '../spend/counters.ts';
import type { SpendDimensions } from '../spend/dimensions.ts';
import type { ReportCell } from '../spend-report.ts';

/** Which requests a rule looks at; a member left out lets all pass. */
export interface RuleFilter {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly tag?: string | undefined;
}

export const passesRule = (dimensions: SpendDimensions, filter: RuleFilter | undefined): boolean =>
  (filter?.provider === undefined || dimensions.provider === filter.provider) &&
  (filter?.model === undefined || dimensions.model === filter.model) &&
  (filter?.tag === undefined || dimensions.tag === filter.tag);

/** Sums of one rule's requests by hour or by day: what evaluators look at. */
export interface SpendSeries {
  /** @param from and `to` are instants at the start of an hour (or day); `to` is not included */
  sum(from: string, to: string): Counters;
}

/** `2026-11-20T16` and `2026-11-20` are prefixes of the instants they begin at, and sort with them. */
export const spendSeries = (cells: readonly ReportCell[], filter: RuleFilter | undefined): SpendSeries => {
  const sums = new Map<string, Counters>();
  for (const { time, dimensions, counters } of cells) {
    if (passesRule(dimensions, filter)) sums.set(time, addCounters(sums.get(time) ?? {}, counters));
  }
  const timeLength = cells[0]?.time.length ?? 0;
  return {
    sum: (from, to) => {
      const [first, end] = [from.slice(0, timeLength), to.slice(0, timeLength)];
      let sum: Counters = {};
      for (const [time, counters] of sums) if (time >= first && time < end) sum = addCounters(sum, counters);
      return sum;
    },
  };
};
