import { oneOf, searchOf } from '../search.ts';
import { groupsSearch } from '../spend/filters.ts';
import { metricNames } from '../spend/metrics.ts';
import { rangeSearch } from '../spend/ranges.ts';

const shown = searchOf({ show: oneOf(metricNames) });

export const overviewSearch = (search: Record<string, unknown>) => ({
  ...rangeSearch(search),
  ...groupsSearch(search),
  ...shown(search),
});
