import { bucketsOf } from '../calendar/range.ts';
import { addCounters, type Counters } from '../spend/counters.ts';
import type { SpendDimensions } from '../spend/dimensions.ts';
import type { ReportCounter } from '../spend/spend-report.ts';
import { sumMap } from '../spend/sum-map.ts';

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

/** A series that cells are added to as they are read: an account may have a million of them, of which none is kept. */
export const spendSeries = (granularity: 'hour' | 'day', filter: RuleFilter | undefined) => {
  const { sums, add } = sumMap();
  return {
    add: ({ time, dimensions, counters }: ReportCounter): void => {
      if (passesRule(dimensions, filter)) add(time, counters);
    },
    sum: (from: string, to: string): Counters =>
      bucketsOf({ granularity, from, to }).reduce((sum, bucket) => addCounters(sum, sums.get(bucket) ?? {}), {}),
  };
};
