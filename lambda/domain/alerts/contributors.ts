import type { BoundEvaluator } from '../limits/rule.ts';
import { filteredBy, passesRule } from '../limits/spend-series.ts';
import { type Counters, knownCostNanoUsd, type SpendCounter } from '../spend/counters.ts';
import { allocationCrossNames, allocationIn, keyDimensionNames, type SpendDimensionName } from '../spend/dimensions.ts';
import type { Contributor } from './alert.ts';

const measures: Record<BoundEvaluator['rankedBy'], (counters: Counters) => number> = {
  cost: knownCostNanoUsd,
  errors: ({ errors = 0 }) => errors,
  unpricedRequests: ({ unpricedRequests = 0 }) => unpricedRequests,
};

const names: Record<Contributor['dimension'], SpendDimensionName> = {
  provider: 'provider',
  model: 'model',
  tag: 'tag',
  key: 'keyId',
};

/** The dimensions to read an alert's spend by. Spend by an allocation dimension cannot be split by tag: such a rule has none by tag. */
export const contributorDimensionsOf = ({ filter }: Pick<BoundEvaluator, 'filter'>): SpendDimensionName[] => {
  const allocation = allocationIn(filteredBy(filter));
  const counted = allocation === undefined ? Object.values(names) : [allocation, ...allocationCrossNames];
  return [...counted, ...keyDimensionNames.filter((name) => filter?.[name] !== undefined)];
};

const TOP = 3;

/**
 * The names that most of a figure came from: the top values of each dimension that the rule does not filter by.
 *
 * @param counters of the period, by all of contributorDimensionsOf
 */
export const contributorsOf = (counters: readonly SpendCounter[], evaluator: BoundEvaluator): Contributor[] => {
  const { filter, rankedBy } = evaluator;
  const readBy = contributorDimensionsOf(evaluator);
  const measure = measures[rankedBy];
  const counted = counters.filter(({ dimensions }) => passesRule(dimensions, filter));
  const total = counted.reduce((sum, each) => sum + measure(each.counters), 0);
  return (Object.keys(names) as Contributor['dimension'][])
    .filter((dimension) => readBy.includes(names[dimension]) && filter?.[names[dimension]] === undefined)
    .flatMap((dimension) => {
      const sums = new Map<string | null, number>();
      for (const { dimensions, counters: each } of counted) {
        const value = dimensions[names[dimension]] ?? null;
        sums.set(value, (sums.get(value) ?? 0) + measure(each));
      }
      return [...sums]
        .filter(([, sum]) => sum > 0)
        .sort(([, left], [, right]) => right - left)
        .slice(0, TOP)
        .map(([value, sum]): Contributor => ({ dimension, value, label: null, share: sum / total }));
    });
};
