import type { Dimension } from '../api/responses.ts';
import { dimensions, type Filters, filtersOf } from '../spend/filters.ts';
import { type RangeSearch, rangeSearch } from '../spend/ranges.ts';

export type OverviewSearch = RangeSearch & Filters & { readonly by?: Dimension | undefined };

export const overviewSearch = (search: Record<string, unknown>): OverviewSearch => ({
  ...rangeSearch(search),
  ...filtersOf(search),
  by: dimensions.find((dimension) => dimension === search['by']),
});
