import { bucketsOf } from '../calendar/range.ts';
import type { Granularity } from '../calendar/utc.ts';
import { addCounters, type Counters, type SpendCounter } from '../spend/counters.ts';
import type { SpendDimensions } from '../spend/dimensions.ts';
import { sumMap } from '../spend/sum-map.ts';

/** Which requests a rule counts. A missing member matches all. */
export interface RuleFilter {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly tag?: string | undefined;
}

export const passesRule = (dimensions: SpendDimensions, filter: RuleFilter | undefined): boolean =>
  (filter?.provider === undefined || dimensions.provider === filter.provider) &&
  (filter?.model === undefined || dimensions.model === filter.model) &&
  (filter?.tag === undefined || dimensions.tag === filter.tag);

/** One rule's spend by hour or by day. */
export interface SpendSeries {
  /** @param from and `to` are instants at the start of an hour (or day), ISO 8601; `to` is not included */
  sum(from: string, to: string): Counters;
}

interface SeriesOptions {
  readonly granularity: Granularity;
  readonly filter: RuleFilter | undefined;
}

/** A series that adds counters up as they are read: an account may have a million of them, so none is kept. */
export const spendSeries = ({ granularity, filter }: SeriesOptions) => {
  const { sums, add } = sumMap();
  return {
    add: ({ time, dimensions, counters }: SpendCounter): void => {
      if (passesRule(dimensions, filter)) add(time, counters);
    },
    sum: (from: string, to: string): Counters =>
      bucketsOf({ granularity, from, to }).reduce((sum, bucket) => addCounters(sum, sums.get(bucket) ?? {}), {}),
  };
};
