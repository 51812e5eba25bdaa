import { bucketsOf } from '../calendar/range.ts';
import { MINUTE_MS } from '../calendar/units.ts';
import { bucketOf, type Granularity } from '../calendar/utc.ts';
import { addCounters, type Counters, type SpendCounter, sumMap } from '../spend/counters.ts';
import { noDimensions, OTHER, type SpendDimensionName, type SpendDimensions, UNKNOWN } from '../spend/dimensions.ts';
import type { MayAlsoMatch } from '../spend/known-cost.ts';
import type { SessionCounter } from '../spend/sessions.ts';
import type { SpendFilter } from '../spend/spend-question.ts';
import { costOf, hasModel, matchOf } from '../spend/spend-report.ts';

/** Which requests a rule counts. A missing member matches all. */
export type RuleFilter = Readonly<Partial<Record<SpendDimensionName, string>>>;

export const filteredBy = (filter: RuleFilter | undefined): SpendDimensionName[] =>
  Object.keys(filter ?? {}) as SpendDimensionName[];

export const passesRule = (dimensions: SpendDimensions, filter: RuleFilter = {}): boolean =>
  filteredBy(filter).every(
    (name) => dimensions[name] === filter[name] || (name === 'model' && hasModel(dimensions, [filter[name] ?? null])),
  );

/**
 * The recorder keeps the names of active rules separate, from some minutes after a rule holds: see lambda/data/ledger/rule-filters.ts.
 */
const SEPARATE_AFTER_MS = 5 * MINUTE_MS;

/** One rule's spend by hour or by day. */
export interface SpendSeries {
  /** @param from and `to` are instants at the start of an hour (or day), ISO 8601; `to` is not included */
  sum(from: string, to: string): Counters;
}

interface SeriesOptions {
  readonly granularity: Granularity;
  readonly filter: RuleFilter | undefined;
  /** Since when an active rule has had this filter, ISO 8601; undefined where there is no such rule. */
  readonly effectiveFrom?: string | undefined;
}

/** A series that adds counters up as they are read: an account may have a million of them, so none is stored. */
export const spendSeries = ({ granularity, filter, effectiveFrom }: SeriesOptions) => {
  const wanted: SpendFilter = Object.fromEntries(filteredBy(filter).map((name) => [name, [filter?.[name] ?? null]]));
  const passing = sumMap();
  const mayPass = sumMap();
  const separateFrom =
    effectiveFrom && bucketOf(new Date(Date.parse(effectiveFrom) + SEPARATE_AFTER_MS).toISOString(), granularity);
  const sumOf = ({ sums }: typeof passing, from: string, to: string): Counters =>
    bucketsOf({ granularity, from, to }).reduce((sum, bucket) => addCounters(sum, sums.get(bucket) ?? {}), {});
  return {
    /** Those of hours (or days) with requests, by their name: `2026-11-20T16`. */
    sums: passing.sums,
    add: ({ time, dimensions, counters }: SpendCounter): void => {
      const bucket = bucketOf(time, granularity);
      const match = matchOf(dimensions, wanted);
      if (match === 'passes') passing.add(bucket, counters);
      // A value was unknown before its dimension was declared. In the bucket in which the rule began, its names were separate in part.
      else if (match === 'unknown' || (match === 'may' && (separateFrom === undefined || bucket <= separateFrom)))
        mayPass.add(bucket, counters);
    },
    sum: (from: string, to: string): Counters => sumOf(passing, from, to),
    /** The requests that `sum` of the same range may lack; undefined where it lacks none. */
    mayAlsoMatch: (from: string, to: string): MayAlsoMatch | undefined => {
      const counters = sumOf(mayPass, from, to);
      const { requests, unpricedRequests = 0 } = counters;
      return requests ? { requests, costNanoUsd: costOf(counters), unpricedRequests } : undefined;
    },
  };
};

/** The dimensions that a rule can judge value by value. */
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

export type Series = ReturnType<typeof spendSeries>;

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
    /** Sessions are judged by the day, and by nothing but themselves. */
    addSession: ({ sessionId, firstHour, counters }: SessionCounter): void =>
      addTo(sessionId, { time: firstHour.slice(0, 10), dimensions: noDimensions, counters }),
    add: (counter: SpendCounter): void => {
      const value = dimension && counter.dimensions[dimension];
      if (value && value !== OTHER && value !== UNKNOWN) addTo(value, counter);
    },
    ofValues: ofValues as ReadonlyMap<string, Series>,
  };
};
