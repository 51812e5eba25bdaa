import { queryOf } from '../../../lambda/domain/calendar/range.ts';
import { startOfNext } from '../../../lambda/domain/calendar/utc.ts';
import type { Alert } from '../api/responses.ts';
import { AnchorLink } from '../components/links.tsx';
import { filterOf } from '../limits/limit-form.ts';
import { useLimits } from '../limits/use-limits.ts';
import { spendFiltersOf } from '../scope/scope.ts';
import type { Filters } from '../spend/filters.ts';

/** The filter of an alert's limit and the value that it is about, as the overview has them; undefined until the limit is known. */
const useAlertFilters = ({ ruleId, of }: Alert): Filters | undefined => {
  const limit = useLimits().data?.items.find(({ id }) => id === ruleId);
  if (ruleId !== null && !limit) return undefined;
  return { ...(limit && spendFiltersOf(filterOf(limit))), ...(of && { [of.dimension]: [of.value] }) };
};

/** Opens the overview at the period of an alert, with its filter. Nothing where the rule is gone. */
export const AlertSpend = ({ alert }: { readonly alert: Alert }) => {
  const filters = useAlertFilters(alert);
  if (!filters) return null;
  const { start, end } = alert.period;
  const last = Math.min(Date.parse(end), startOfNext('day', new Date()).getTime());
  const period = queryOf({ from: start, to: new Date(last).toISOString() });
  return (
    <AnchorLink size="xs" to="/" search={{ ...filters, range: 'custom', ...period }}>
      View its spend
    </AnchorLink>
  );
};
