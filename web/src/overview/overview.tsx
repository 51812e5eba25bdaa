import { Box, Stack } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { lastDayOf } from '../../../lambda/domain/calendar/utc.ts';
import { useMe } from '../app.ts';
import { AtRate, rateOf } from '../components/amount.tsx';
import { later } from '../components/later.tsx';
import { LoadProblem, Page } from '../components/page.tsx';
import { usePageSearch } from '../components/use-page-search.ts';
import { shownIn } from '../format/numbers.ts';
import { bucketEnd, bucketStart } from '../format/time.ts';
import { useBudgets } from '../limits/use-limits.ts';
import { FilterPills } from '../spend/filter-pills.tsx';
import { type Filters, filtersOf, firstOfEach, groupByIn, groupByOf, hasFilters, picked } from '../spend/filters.ts';
import { SERIES_SHOWN } from '../spend/groups.ts';
import { rangeOf } from '../spend/ranges.ts';
import { useKeyNames } from '../spend/use-key-names.ts';
import { live, reportQuery, useSpend, useZone } from '../spend/use-spend.ts';
import { ViewsButton } from '../views/views-button.tsx';
import { Budgets, Coverage, MayAlsoMatch, NewPrices, Provenance, TopGroups, Untracked } from './cards.tsx';
import { NO_OTHER_PERIOD } from './controls.tsx';
import { Tiles } from './tiles.tsx';
import { Trend } from './trend.tsx';
import { useComparison, useHeadline } from './use-overview.ts';

const FirstRun = later(() => import('./first-run.tsx'));

/** Dimensions whose values are ids. */
const NAMED_BY_ID: ReadonlySet<string> = new Set(['key', 'project', 'member']);

/** Groups in the table; the chart shows the first ones. */
const GROUPS = 50;

/** A bar of an hour: `2026-11-20T16`. */
const HOUR_LENGTH = 13;

export const Overview = () => {
  const { search, change } = usePageSearch('/members/');
  const navigate = useNavigate();
  const filters = filtersOf(search as Record<string, unknown>);
  const budgets = useBudgets();
  const { may } = useMe();
  const { by: first, and } = search;
  const by = useMemo(() => groupByIn({ by: first, and }), [first, and]);
  const keyNames = useKeyNames([...by, ...Object.keys(filters)].some((name) => NAMED_BY_ID.has(name)));
  const zone = useZone();
  const range = rangeOf(search, new Date(), zone);
  const headline = useHeadline(filters, zone);
  const asked = reportQuery(range, by, filters, search.show === 'latency');
  const report = useSpend({ ...asked, limit: GROUPS, seriesLimit: SERIES_SHOWN }, live);
  const comparison = useComparison(range.compared, filters);
  /** A click on a bar shows its day by hour or its month by day, of one group; that on an hour the requests. */
  const open = (time: string, values: Filters) => {
    const shownZone = report.data?.timeZone ?? 'UTC';
    if (time.length === HOUR_LENGTH) {
      const [from, to] = [bucketStart(time), bucketEnd(time)];
      const selected = { ...firstOfEach({ ...filters, ...values }), from: from.toISOString(), to: to.toISOString() };
      void navigate({ to: '/requests', search: selected });
      return;
    }
    const days = {
      range: 'custom',
      per: undefined,
      from: time.padEnd(10, '-01'),
      to: time.length === 10 ? time : lastDayOf(time),
      zone: shownZone === 'UTC' ? undefined : shownZone,
      ...NO_OTHER_PERIOD,
    } as const;
    change({ ...days, ...(hasFilters(values) && picked(values, by, filters)) });
  };
  if (headline.neverUsed) return <FirstRun />;
  const error = report.error ?? headline.error;
  // Hidden until the account is known to have traffic: a new account would see an empty chart for a moment.
  const isUsed = headline.neverUsed === false || error !== null;
  const shown = isUsed ? report.data : undefined;
  const { data, dataUpdatedAt } = report;
  const loaded = data ? { data, dataUpdatedAt } : headline.loaded;
  const shownBy = groupByOf(shown?.groupBy, by);
  return (
    <Page title="Overview" actions={<ViewsButton page="overview" />}>
      <FilterPills filters={filters} keyNames={keyNames} onChange={change} />
      <LoadProblem query={{ error, ...loaded }} title="The figures could not be loaded" />
      {(!error || headline.today || headline.month) && (
        <Tiles
          today={isUsed ? headline.today : undefined}
          month={isUsed ? headline.month : undefined}
          hasFailed={error !== null}
          currency={headline.currency}
          zone={zone}
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
      {shown && may('spend:read-all') && <NewPrices />}
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
            {budgets.data && (
              <>
                <LoadProblem query={budgets} title="The budgets could not be loaded" />
                <Budgets budgets={budgets.data.items} />
              </>
            )}
            <AtRate value={rateOf(shown.totals.costNanoUsd, shownIn(shown.totals, shown.displayCurrency?.code))}>
              <Provenance totals={shown.totals} />
            </AtRate>
            <Coverage totals={shown.totals} untracked={shown.untracked} />
          </Stack>
        </Box>
      )}
    </Page>
  );
};
