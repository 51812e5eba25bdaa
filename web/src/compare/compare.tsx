import { Group, NativeSelect, Stack } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { MINUTE_MS } from '../../../lambda/domain/calendar/units.ts';
import { useApi } from '../app.ts';
import { Loaded, Page } from '../components/page.tsx';
import { useEvery } from '../components/use-every.ts';
import { usePageSearch } from '../components/use-page-search.ts';
import { choicesOf } from '../forms/fields.ts';
import { CustomDays } from '../spend/custom-days.tsx';
import { FilterPills } from '../spend/filter-pills.tsx';
import { type Filters, filtersOf, groupByIn, groupByOf, parametersOf, picked } from '../spend/filters.ts';
import { GroupBySelects } from '../spend/group-by.tsx';
import { useKeyNames } from '../spend/use-key-names.ts';
import { useZone } from '../spend/use-spend.ts';
import { ViewsButton } from '../views/views-button.tsx';
import { ChangedGroups, Summary } from './change.tsx';
import { type CompareSearch, periodLabels, periodsOf } from './search.ts';

const GROUPS = 50;

export const Compare = () => {
  const { search, change } = usePageSearch('/members/compare');
  const keyNames = useKeyNames();
  const filters: Filters = filtersOf(search as Record<string, unknown>);
  const by = groupByIn(search);
  useEvery(MINUTE_MS);
  const { name, periods, zone } = periodsOf(search, new Date(), useZone());
  const changePeriod = (part: CompareSearch) =>
    change({ ...periods, periods: undefined, zone: zone === 'UTC' ? undefined : zone, ...part });
  const query = useApi().useQuery(
    'get',
    '/spend/compare',
    { params: { query: { ...periods, groupBy: [...by], limit: GROUPS, ...parametersOf(filters) } } },
    { placeholderData: keepPreviousData },
  );
  const { data, isPlaceholderData } = query;
  return (
    <Page
      title="Compare"
      actions={
        <>
          <NativeSelect
            size="xs"
            aria-label="Periods"
            data={[...choicesOf(periodLabels), ...(name ? [] : [{ value: '', label: 'Other periods' }])]}
            value={name ?? ''}
            onChange={({ target }) =>
              change({
                periods: target.value as CompareSearch['periods'],
                ...{ from: undefined, to: undefined, compareFrom: undefined, compareTo: undefined, zone: undefined },
              })
            }
          />
          <GroupBySelects by={by} filters={filters} onChange={change} />
          <ViewsButton page="compare" />
        </>
      }
    >
      {data && (
        <Group gap="8px 14px">
          <CustomDays of="the period" days={data} zone={zone} onChange={({ from, to }) => changePeriod({ from, to })} />
          <span className="dim small">compared with</span>
          <CustomDays
            of="the period before"
            days={data.before}
            zone={zone}
            onChange={({ from, to }) => changePeriod({ compareFrom: from, compareTo: to })}
          />
        </Group>
      )}
      <FilterPills filters={filters} keyNames={keyNames} onChange={change} />
      <Loaded query={query} title="The periods could not be compared" height={320}>
        {(compared) => (
          <Stack gap={20} opacity={isPlaceholderData ? 0.55 : 1} aria-busy={isPlaceholderData}>
            <Summary change={compared} zone={zone} />
            <ChangedGroups
              change={compared}
              by={groupByOf(compared.groupBy, by)}
              onPick={(values) => change(picked(values, by, filters))}
            />
          </Stack>
        )}
      </Loaded>
    </Page>
  );
};
