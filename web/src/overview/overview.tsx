import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useMemo } from 'react';
import { Heading } from '../components/heading.tsx';
import { ProblemNote } from '../components/problem-note.tsx';
import { bucketEnd, bucketStart } from '../format/time.ts';
import {
  canGroupBy,
  type Filters,
  filterEntries,
  filtersOf,
  hasFilters,
  isDimension,
  nextDimension,
} from '../spend/filters.ts';
import { rangeOf } from '../spend/ranges.ts';
import { useKeyNames } from '../spend/use-key-names.ts';
import { FilterPills, useOverviewSearch } from './controls.tsx';
import { Coverage } from './coverage.tsx';
import { Drivers } from './drivers.tsx';
import { MayAlsoMatch } from './may-also-match.tsx';
import classes from './overview.module.css';
import { Provenance } from './provenance.tsx';
import { Tiles } from './tiles.tsx';
import { Trend } from './trend.tsx';
import { Untracked } from './untracked.tsx';
import { useComparison, useHeadline, useNeverUsed, useReport } from './use-overview.ts';

const FirstRun = lazy(() => import('./first-run.tsx'));
const PriceChangeNotice = lazy(() => import('../price-changes/notice.tsx'));

/** The request log filters by one value of each dimension. */
const firstOfEach = (filters: Filters) =>
  Object.fromEntries(filterEntries(filters).map(([dimension, values]) => [dimension, values[0]]));

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
  const by = search.by ?? 'model';
  const range = rangeOf(search, new Date());
  const headline = useHeadline(filters);
  const report = useReport(range, by, filters);
  const comparison = useComparison(range, filters);
  const neverUsed = useNeverUsed(headline.requests, hasFilters(filters));
  const toRequests = useCallback(
    (time: string) =>
      void navigate({
        to: '/requests',
        search: { ...firstOfEach(filters), from: bucketStart(time).toISOString(), to: bucketEnd(time).toISOString() },
      }),
    [navigate, filters],
  );
  if (neverUsed) {
    return (
      <Suspense>
        <FirstRun />
      </Suspense>
    );
  }
  // Hidden until the account is known to have traffic: a new account would see an empty chart for a moment.
  const shown = neverUsed === false ? report.data : undefined;
  const error = report.error ?? headline.error;
  const retry = () => void Promise.all([headline.refetch(), report.isError && report.refetch()]);
  const grouped = shown?.groupBy[0];
  const shownBy = isDimension(grouped) ? grouped : by;
  const pick = (value: string) => {
    const next = nextDimension(by);
    const picked: Filters = { [by]: [value] };
    change({ ...picked, by: canGroupBy(next, { ...filters, ...picked }) ? next : 'model' });
  };
  return (
    <div className="page">
      <div className="page-head">
        <Heading>Overview</Heading>
      </div>
      <FilterPills filters={filters} keyNames={keyNames} />
      {error && (
        <ProblemNote
          error={error}
          onRetry={retry}
          title="The figures could not be loaded"
          shownSinceMs={report.data === undefined ? 0 : report.dataUpdatedAt}
        />
      )}
      {(!error || headline.today) && (
        <Tiles today={shown && headline.today} month={shown && headline.month} currency={headline.currency} />
      )}
      {(!error || report.data) && (
        <>
          <Trend
            report={shown}
            range={range}
            by={by}
            keyNames={keyNames}
            isStale={report.isPlaceholderData}
            filters={filters}
            // The tile has the month's: one comparison, not two.
            comparison={range.name === 'month' ? undefined : comparison}
            onPick={toRequests}
          />
          {shown && (
            <Suspense>
              <PriceChangeNotice />
            </Suspense>
          )}
          {shown?.displayCurrency?.problem && <p className="unknown small">{shown.displayCurrency.problem}</p>}
          {shown && <Untracked untracked={shown.untracked} />}
          {shown && <MayAlsoMatch mayAlsoMatch={shown.mayAlsoMatch} />}
          {shown && shown.totals.requests > 0 && (
            <div className={classes['columns']}>
              <Drivers report={shown} by={shownBy} keyNames={keyNames} onPick={pick} />
              <div className={classes['aside']}>
                <Provenance totals={shown.totals} />
                <Coverage totals={shown.totals} untracked={shown.untracked} />
              </div>
            </div>
          )}
        </>
      )}
    </div>
  );
};
