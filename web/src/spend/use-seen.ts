import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import { UNKNOWN } from '../../../lambda/domain/spend/dimensions.ts';
import { useApi } from '../app.ts';
import { utcDate } from '../format/time.ts';
import type { Dimension } from './filters.ts';
import { groupValue } from './groups.ts';

const DAYS = 30;

/** The names of a dimension with most spend lately, as suggestions. */
export const useSeen = (dimension: Dimension | undefined): string[] => {
  const from = utcDate(new Date(Date.now() - DAYS * DAY_MS));
  const { data } = useApi().useQuery(
    'get',
    '/spend',
    { params: { query: { from, granularity: 'day', groupBy: dimension ? [dimension] : [], limit: 100 } } },
    { enabled: dimension !== undefined },
  );
  if (!data || !dimension) return [];
  return data.groups.map((group) => groupValue(group, dimension)).filter((name) => name !== '' && name !== UNKNOWN);
};
