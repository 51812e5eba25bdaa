import type { SpendCounter } from '../spend/counters.ts';
import { OTHER, UNKNOWN } from '../spend/dimensions.ts';
import { type RuleFilter, spendSeries } from './spend-series.ts';

/** What a rule can judge value by value. */
export const splitNames = ['key', 'tag', 'project', 'session'] as const;
export type SplitName = (typeof splitNames)[number];

/** A value that a rule judges by itself. The label is its name, if it has one. */
export interface JudgedValue {
  readonly dimension: SplitName;
  readonly value: string;
  readonly label: string | null;
}

/** The dimension that spend is read by for it; undefined for sessions, which have counters of their own. */
export const splitDimension = (name: SplitName | undefined): 'keyId' | 'tag' | 'project' | undefined =>
  name === 'key' ? 'keyId' : name === 'session' ? undefined : name;

interface SplitOptions {
  readonly granularity: 'hour' | 'day';
  readonly filter: RuleFilter | undefined;
  readonly splitBy: SplitName | undefined;
}

type Series = ReturnType<typeof spendSeries>;

/** The series of each value of a dimension. Requests without a value, and those counted under `(other)`, belong to none. */
export const splitSeries = (evaluator: SplitOptions) => {
  const ofValues = new Map<string, Series>();
  const dimension = splitDimension(evaluator.splitBy);
  const addTo = (value: string, counter: SpendCounter): void => {
    let series = ofValues.get(value);
    if (series === undefined) {
      series = spendSeries(evaluator);
      ofValues.set(value, series);
    }
    series.add(counter);
  };
  return {
    addTo,
    add: (counter: SpendCounter): void => {
      const value = dimension && counter.dimensions[dimension];
      if (value && value !== OTHER && value !== UNKNOWN) addTo(value, counter);
    },
    ofValues: ofValues as ReadonlyMap<string, Series>,
  };
};
