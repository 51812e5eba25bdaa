import { Group, NativeSelect, Skeleton, Stack } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useApi } from '../app.ts';
import { isChoosingByKey } from '../components/keyboard.ts';
import { Heading } from '../components/page-head.tsx';
import { ProblemNote } from '../components/problem-note.tsx';
import { CustomDays } from '../spend/custom-days.tsx';
import { FilterPills } from '../spend/filter-pills.tsx';
import { type Filters, filtersOf, groupByIn, groupByOf, parametersOf, picked } from '../spend/filters.ts';
import { GroupBySelects } from '../spend/group-by.tsx';
import { useKeyNames } from '../spend/use-key-names.ts';
import { ViewsButton } from '../views/views-button.tsx';
import { ChangedGroups } from './changed-groups.tsx';
import { type CompareSearch, periodLabels, periodsOf, shownDays } from './search.ts';
import { Summary } from './summary.tsx';

const GROUPS = 50;

/** Why spend changed between any two periods. All settings are in the URL. */
export const Compare = () => {
  const search = getRouteApi('/members/compare').useSearch();
  const navigate = useNavigate({ from: '/compare' });
  const change = (part: CompareSearch) =>
    void navigate({ search: (now) => ({ ...now, ...part }), resetScroll: false, replace: isChoosingByKey() });
  const keyNames = useKeyNames();
  const filters: Filters = filtersOf(search as Record<string, unknown>);
  const by = groupByIn(search);
  const now = useMemo(() => new Date(), []);
  const { name, periods } = periodsOf(search, now);
  const given = Object.fromEntries(Object.entries(periods).filter(([, time]) => time !== undefined));
  const { data, error, isPlaceholderData, refetch } = useApi().useQuery(
    'get',
    '/spend/compare',
    { params: { query: { ...given, groupBy: [...by], limit: GROUPS, ...parametersOf(filters) } } },
    { placeholderData: keepPreviousData },
  );
  return (
    <div className="page">
      <div className="page-head">
        <Heading>Compare</Heading>
        <div className="page-actions">
          <NativeSelect
            size="xs"
            aria-label="Periods"
            data={[
              ...Object.entries(periodLabels).map(([value, label]) => ({ value, label })),
              ...(name ? [] : [{ value: '', label: 'Other periods' }]),
            ]}
            value={name ?? ''}
            onChange={({ target }) =>
              change({
                periods: target.value as CompareSearch['periods'],
                ...{ from: undefined, to: undefined, compareFrom: undefined, compareTo: undefined },
              })
            }
          />
          <GroupBySelects by={by} filters={filters} onChange={change} />
          <ViewsButton page="compare" />
        </div>
      </div>
      {data && (
        <Group gap="8px 14px">
          <CustomDays
            key={`now ${data.from} ${data.to}`}
            of="the period"
            days={shownDays(data)}
            onChange={({ from, to }) => change({ ...periods, periods: undefined, from, to })}
          />
          <span className="dim small">compared with</span>
          <CustomDays
            key={`before ${data.before.from} ${data.before.to}`}
            of="the period before"
            days={shownDays(data.before)}
            onChange={({ from, to }) => change({ ...periods, periods: undefined, compareFrom: from, compareTo: to })}
          />
        </Group>
      )}
      <FilterPills filters={filters} keyNames={keyNames} onChange={change} />
      {error && <ProblemNote error={error} onRetry={() => refetch()} title="The periods could not be compared" />}
      {!data && !error && <Skeleton height={320} radius="lg" />}
      {data && (
        <Stack gap={20} opacity={isPlaceholderData ? 0.55 : 1} aria-busy={isPlaceholderData}>
          <Summary change={data} />
          <ChangedGroups
            change={data}
            by={groupByOf(data.groupBy, by)}
            keyNames={keyNames}
            onPick={(values) => change(picked(values, by, filters))}
          />
        </Stack>
      )}
    </div>
  );
};
