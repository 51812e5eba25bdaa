import { type Counters, knownCostNanoUsd } from '../spend/counters.ts';
import type { SpendDimensionName } from '../spend/dimensions.ts';
import type { ReportCounter } from '../spend/spend-report.ts';
import type { Driver } from './alert.ts';
import type { BoundEvaluator } from './rule.ts';
import { passesRule } from './spend-series.ts';

const measures: Record<BoundEvaluator['drivenBy'], (counters: Counters) => number> = {
  cost: knownCostNanoUsd,
  errors: ({ errors = 0 }) => errors,
  unpricedRequests: ({ unpricedRequests = 0 }) => unpricedRequests,
};

const names: Record<Driver['dimension'], SpendDimensionName> = {
  provider: 'provider',
  model: 'model',
  tag: 'tag',
  key: 'keyId',
};

/** The dimensions that drivers are looked for in. */
export const driverDimensions = Object.values(names);

const TOP = 3;

/**
 * What an observation mostly came from: the top values of each dimension that the rule does not fix itself.
 *
 * @param cells of the period, told apart by all of driverDimensions
 */
export const driversOf = (cells: readonly ReportCounter[], { filter, drivenBy }: BoundEvaluator): Driver[] => {
  const measure = measures[drivenBy];
  const counted = cells.filter(({ dimensions }) => passesRule(dimensions, filter));
  const total = counted.reduce((sum, { counters }) => sum + measure(counters), 0);
  if (total === 0) return [];
  return (Object.keys(names) as Driver['dimension'][])
    .filter((dimension) => filter?.[dimension as keyof typeof filter] === undefined)
    .flatMap((dimension) => {
      const sums = new Map<string | null, number>();
      for (const { dimensions, counters } of counted) {
        const value = dimensions[names[dimension]];
        sums.set(value, (sums.get(value) ?? 0) + measure(counters));
      }
      return [...sums]
        .filter(([, sum]) => sum > 0)
        .sort(([, left], [, right]) => right - left)
        .slice(0, TOP)
        .map(([value, sum]): Driver => ({ dimension, value, label: null, share: sum / total }));
    });
};
