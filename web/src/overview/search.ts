import { type Dimension, type Filters, filtersOf, isDimension } from '../spend/filters.ts';
import { type RangeSearch, rangeSearch } from '../spend/ranges.ts';

export type OverviewSearch = RangeSearch & Filters & { readonly by?: Dimension | undefined };

export const overviewSearch = (search: Record<string, unknown>): OverviewSearch => ({
  ...rangeSearch(search),
  ...filtersOf(search),
  by: isDimension(search['by']) ? search['by'] : undefined,
});
