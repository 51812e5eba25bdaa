import { queryOf } from '../../../lambda/domain/calendar/range.ts';
import { startOfNext } from '../../../lambda/domain/calendar/utc.ts';
import type { Alert } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { AnchorLink } from '../components/links.tsx';
import { useBudgets } from '../limits/use-budgets.ts';
import { spendFiltersOf } from '../scope/scope.ts';
import type { Filters } from '../spend/filters.ts';

/** The filter of an alert's rule and the value that it is about, as the overview has them; undefined until the rule is known. */
const useAlertFilters = ({ ruleId, type, of }: Alert): Filters | undefined => {
  const rules = useApi().useQuery('get', '/alert-rules', {}, { enabled: ruleId !== null && type !== 'budget' });
  const { data: budgets } = useBudgets();
  const rule = rules.data?.items.find(({ id }) => id === ruleId);
  const budget = budgets?.items.find(({ id }) => id === ruleId);
  if (ruleId !== null && !rule && !budget) return undefined;
  return {
    ...spendFiltersOf(budget ? budget.filter : rule?.config['filter']),
    ...(of && { [of.dimension]: [of.value] }),
  };
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
