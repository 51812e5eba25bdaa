import { Box, Stack } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useMemo } from 'react';
import { Heading } from '../components/page-head.tsx';
import { ProblemNote } from '../components/problem-note.tsx';
import { bucketEnd, bucketStart, utcDate } from '../format/time.ts';
import { useBudgets } from '../limits/use-limits.ts';
import { FilterPills } from '../spend/filter-pills.tsx';
import { type Filters, filtersOf, firstOfEach, groupByIn, groupByOf, hasFilters, picked } from '../spend/filters.ts';
import { rangeOf } from '../spend/ranges.ts';
import { useKeyNames } from '../spend/use-key-names.ts';
import { ViewsButton } from '../views/views-button.tsx';
import { Budgets } from './budgets.tsx';
import { NO_OTHER_PERIOD, useOverviewSearch } from './controls.tsx';
import { Coverage } from './coverage.tsx';
import { Provenance } from './provenance.tsx';
import { Tiles } from './tiles.tsx';
import { TopGroups } from './top-groups.tsx';
import { Trend } from './trend.tsx';
import { MayAlsoMatch, Untracked } from './untracked.tsx';
import { useComparison, useHeadline, useNeverUsed, useReport } from './use-overview.ts';

const FirstRun = lazy(() => import('./first-run.tsx'));
const NewPrices = lazy(() => import('../price-changes/new-prices.tsx'));

/** A bar of an hour: `2026-11-20T16`. */
const HOUR_LENGTH = 13;

const useFilters = (): Filters => {
  const search = getRouteApi('/members/').useSearch();
  const key = JSON.stringify(filtersOf(search as Record<string, unknown>));
  return useMemo(() => JSON.parse(key) as Filters, [key]);
};

export const Overview = () => {
  const { search, change } = useOverviewSearch();
  const navigate = useNavigate();
  const filters = useFilters();
  const keyNames = useKeyNames();
  const { data: budgets } = useBudgets();
  const { by: first, and } = search;
  const by = useMemo(() => groupByIn({ by: first, and }), [first, and]);
  const range = rangeOf(search, new Date());
  const headline = useHeadline(filters);
  const report = useReport(range, by, filters, search.show === 'latency');
  const comparison = useComparison(range.compared, filters);
  const neverUsed = useNeverUsed(headline.requests, hasFilters(filters));
  /** A click on a bar shows its day by hour or its month by day, of one group; that on an hour the requests. */
  const open = useCallback(
    (time: string, values: Filters) => {
      const [from, to] = [bucketStart(time), bucketEnd(time)];
      if (time.length === HOUR_LENGTH) {
        const selected = { ...firstOfEach({ ...filters, ...values }), from: from.toISOString(), to: to.toISOString() };
        void navigate({ to: '/requests', search: selected });
        return;
      }
      const days = {
        range: 'custom',
        per: undefined,
        from: utcDate(from),
        to: utcDate(new Date(to.getTime() - 1)),
        ...NO_OTHER_PERIOD,
      } as const;
      change({ ...days, ...(hasFilters(values) && picked(values, by, filters)) });
    },
    [navigate, filters, by, change],
  );
  if (neverUsed) {
    return (
      <Suspense>
        <FirstRun />
      </Suspense>
    );
  }
  // Hidden until the account is known to have traffic: a new account would see an empty chart for a moment.
  const isUsed = neverUsed === false;
  const shown = isUsed ? report.data : undefined;
  const error = report.error ?? headline.error;
  const retry = () => void Promise.all([headline.refetch(), report.isError && report.refetch()]);
  const shownBy = groupByOf(shown?.groupBy, by);
  return (
    <div className="page">
      <div className="page-head">
        <Heading>Overview</Heading>
        <div className="page-actions">
          <ViewsButton page="overview" />
        </div>
      </div>
      <FilterPills filters={filters} keyNames={keyNames} onChange={change} />
      {error && (
        <ProblemNote
          error={error}
          onRetry={retry}
          title="The figures could not be loaded"
          shownSinceMs={report.data === undefined ? headline.loadedAtMs : report.dataUpdatedAt}
        />
      )}
      {(!error || headline.today) && (
        <Tiles
          today={isUsed ? headline.today : undefined}
          month={isUsed ? headline.month : undefined}
          currency={headline.currency}
        />
      )}
      <Trend
        view={{ range, by, metric: search.show ?? 'cost', filters }}
        report={shown}
        hasFailed={report.isError && !report.data}
        keyNames={keyNames}
        isStale={report.isPlaceholderData}
        // The tile has the month's: one comparison, not two.
        comparison={range.name === 'month' ? undefined : comparison.change}
        onPick={open}
      />
      {shown && (
        <Suspense>
          <NewPrices />
        </Suspense>
      )}
      {shown?.displayCurrency?.problem && <p className="unknown small">{shown.displayCurrency.problem}</p>}
      {shown && <Untracked untracked={shown.untracked} />}
      {shown?.mayAlsoMatch && <MayAlsoMatch of={shown.mayAlsoMatch} />}
      {shown && shown.totals.requests > 0 && (
        <Box className="columns halves" __vars={{ '--columns': 'minmax(0, 1fr) minmax(300px, 0.46fr)' }}>
          <TopGroups
            report={shown}
            by={shownBy}
            keyNames={keyNames}
            onPick={(values) => change(picked(values, shownBy, filters))}
          />
          <Stack gap={20}>
            {budgets && <Budgets budgets={budgets.items} />}
            <Provenance totals={shown.totals} />
            <Coverage totals={shown.totals} untracked={shown.untracked} />
          </Stack>
        </Box>
      )}
    </div>
  );
};
