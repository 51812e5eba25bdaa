import { type Dimension, type Filters, filtersOf, isDimension } from '../spend/filters.ts';
import { isMetric, type MetricName } from '../spend/metrics.ts';
import { type RangeSearch, rangeSearch } from '../spend/ranges.ts';

export type OverviewSearch = RangeSearch &
  Filters & {
    readonly by?: Dimension | undefined;
    readonly and?: Dimension | undefined;
    readonly show?: MetricName | undefined;
  };

export const overviewSearch = (search: Record<string, unknown>): OverviewSearch => ({
  ...rangeSearch(search),
  ...filtersOf(search),
  by: isDimension(search['by']) ? search['by'] : undefined,
  show: isMetric(search['show']) ? search['show'] : undefined,
  and: isDimension(search['and']) ? search['and'] : undefined,
});
