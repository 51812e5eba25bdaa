import type { Dimension } from '../api/answers.ts';
import { dimensions, type Filters, filtersOf } from '../spend/filters.ts';
import { type SpanSearch, spanSearch } from '../spend/spans.ts';

export type OverviewSearch = SpanSearch & Filters & { readonly by?: Dimension | undefined };

export const overviewSearch = (search: Record<string, unknown>): OverviewSearch => ({
  ...spanSearch(search),
  ...filtersOf(search),
  by: dimensions.find((dimension) => dimension === search['by']),
});
