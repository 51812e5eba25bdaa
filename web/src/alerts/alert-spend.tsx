import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import type { Alert } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { useBudgets } from '../budgets/use-budgets.ts';
import { AnchorLink } from '../components/links.tsx';
import { utcDate } from '../format/time.ts';
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

/** Opens the overview at the days of an alert, with its filter: a day by the hour. Nothing where the rule is gone. */
export const AlertSpend = ({ alert }: { readonly alert: Alert }) => {
  const filters = useAlertFilters(alert);
  if (!filters) return null;
  const [from, to] = [new Date(alert.period.start), new Date(Date.parse(alert.period.end) - 1)];
  const last = Math.min(to.getTime(), Date.now());
  return (
    <AnchorLink
      size="xs"
      to="/"
      search={{
        ...filters,
        range: 'custom',
        from: utcDate(from),
        to: utcDate(new Date(last)),
        per: last - from.getTime() <= 2 * DAY_MS ? 'hour' : 'day',
      }}
    >
      View its spend
    </AnchorLink>
  );
};
