import { ActionIcon, Box, Group, Skeleton } from '@mantine/core';
import { CalendarOff, ChartColumnStacked, Table2 } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { SpendChange, SpendReport } from '../api/responses.ts';
import { useMe } from '../app.ts';
import chartClasses from '../chart/chart.module.css';
import { MetricValue, StackedBars } from '../chart/stacked-bars.tsx';
import { Count } from '../components/amount.tsx';
import { later } from '../components/later.tsx';
import { type Empty, EmptyState, PageActions, TextLink } from '../components/page.tsx';
import { Name } from '../components/table.tsx';
import { formatDuration, formatMoney, plural } from '../format/numbers.ts';
import { formatPeriod } from '../format/time.ts';
import { Against } from '../spend/change.tsx';
import { type Filters, groupByOf, groupWord, hasFilters, limitFiltersOf } from '../spend/filters.ts';
import {
  groupColors,
  groupFilters,
  groupKey,
  groupName,
  type KeyNames,
  latencyTrendOf,
  trendOf,
} from '../spend/groups.ts';
import { type MetricName, metrics } from '../spend/metrics.ts';
import { REST_COLOR } from '../spend/palette.ts';
import { ExportButton, type OverviewView, RangePicker, TrendControls } from './controls.tsx';
import classes from './overview.module.css';
import { Figure } from './tiles.tsx';

const figuresOf = ({ tokens, ...sums }: SpendReport['totals']) => ({
  ...sums,
  tokens: tokens.inputTokens + tokens.outputTokens,
});

const totalText = (totals: SpendReport['totals'], metric: MetricName, code: string | undefined): string =>
  code !== undefined && totals.displayCost
    ? formatMoney(Number(totals.displayCost) * 1e9, 'sum', code)
    : metrics[metric].format(metrics[metric].of(figuresOf(totals)), undefined);

const latencySeries = [
  { key: 'p50', name: 'p50', color: 'var(--accent-ink)' },
  { key: 'p95', name: 'p95', color: 'var(--ink)' },
];

/** The opacity of figures while newer ones load. */
const STALE = 0.55;

const TrendTable = later(() => import('./trend-table.tsx'), <Skeleton className={chartClasses['chart']} />);

const NoChart = (why: Omit<Empty, 'icon'>) => (
  <div className={chartClasses['chart']}>
    <EmptyState icon={CalendarOff} {...why} />
  </div>
);

interface TrendProps {
  readonly view: OverviewView;
  readonly report: SpendReport | undefined;
  /** Without a report: it could not be loaded. */
  readonly hasFailed: boolean;
  readonly keyNames: KeyNames;
  readonly isStale: boolean;
  readonly comparison: SpendChange | undefined;
  /** A bar was chosen, and one of its groups; no values for the segment of all others. */
  readonly onPick: (time: string, values: Filters) => void;
}

/** Spend over time, stacked by the chosen dimension: as a chart, or as a table of the same figures. */
export const Trend = ({ view, report, hasFailed, keyNames, isStale, comparison, onPick }: TrendProps) => {
  const { range, by, metric, filters } = view;
  const { may } = useMe();
  const [asTable, setAsTable] = useState(false);
  // While a new report loads, the previous one is shown with its own dimensions.
  const shownBy = useMemo(() => groupByOf(report?.groupBy, by), [report?.groupBy, by]);
  const isLatency = metric === 'latency';
  const trend = useMemo(() => {
    // A report that is shown meanwhile may be one without latency.
    if (!report || (isLatency && report.totals.latency === undefined)) return undefined;
    return isLatency ? latencyTrendOf(report) : trendOf(report, shownBy, metric);
  }, [report, shownBy, metric, isLatency]);
  const groups = trend?.shown ?? [];
  const colors = groupColors(groups, shownBy);
  const groupSeries = groups.map((group) => {
    const key = groupKey(group, shownBy);
    return { key, name: groupName(group, shownBy, keyNames), color: colors.get(key) ?? REST_COLOR };
  });
  const rest = trend?.hasRest ? [{ key: '', name: 'everything else', color: REST_COLOR }] : [];
  const series = isLatency ? latencySeries : [...groupSeries, ...rest];
  const pick = (time: string, index: number) => {
    const group = groups[index];
    onPick(time, group ? groupFilters(group, shownBy) : {});
  };
  const totals = report?.totals;
  const code = report?.displayCurrency?.code;
  const gaps = report?.untracked.gaps ?? [];
  const title = isLatency ? metrics.latency.title : `${metrics[metric].title} by ${groupWord(by)}`;
  return (
    <section className={`card card-pad ${classes['trend']}`} aria-labelledby="trend" aria-busy={isStale}>
      <Group justify="space-between" gap="8px 20px" mb={10}>
        <Box flex="1 1 280px" miw={0}>
          <Box component="h2" id="trend" className="label">
            {title}
          </Box>
          <Group h={34} gap={0} fz={22} fw={640} lts="-0.02em" opacity={isStale ? STALE : 1}>
            {totals ? (
              metric === 'cost' ? (
                <Figure of={totals} code={code} />
              ) : (
                <MetricValue value={metrics[metric].of(figuresOf(totals))} metric={metric} />
              )
            ) : hasFailed ? (
              '–'
            ) : (
              <Skeleton height={22} width={130} />
            )}
          </Group>
        </Box>
        <RangePicker range={range} />
      </Group>
      <Group justify="space-between" gap="8px 20px" mb={10}>
        <div className={`dim small ${classes['facts-of-total']}`}>
          {totals ? (
            <>
              {metric === 'cost' && comparison && comparison.totals.costBeforeNanoUsd !== null && (
                <span>
                  <Against of={comparison} shownNano={totals.costNanoUsd} code={code}>
                    in {formatPeriod(comparison.before.from, comparison.before.to, range.timeZone)}
                  </Against>{' '}
                  ·{' '}
                  <TextLink
                    to="/compare"
                    search={{
                      ...filters,
                      by: by[0],
                      and: by[1],
                      from: comparison.from,
                      to: comparison.to,
                      compareFrom: comparison.before.from,
                      compareTo: comparison.before.to,
                    }}
                  >
                    Why?
                  </TextLink>
                </span>
              )}
              {may('rules:write') && (
                <span>
                  <TextLink to="/limits/new" search={{ ...limitFiltersOf(filters), type: 'spend_anomaly' }}>
                    Alert me of unusual days
                  </TextLink>
                </span>
              )}
              <span>
                <Count of={totals.requests} unit="requests" /> requests ·{' '}
                <Count of={totals.tokens.inputTokens + totals.tokens.outputTokens} unit="tokens" /> tokens
              </span>
            </>
          ) : (
            !hasFailed && <Skeleton height={14} width={320} />
          )}
        </div>
        <PageActions>
          <TrendControls {...view} />
          <ExportButton {...view} />
          <ActionIcon
            variant="default"
            size={30}
            aria-label={asTable ? 'Show as chart' : 'Show as table'}
            title={asTable ? 'Show as chart' : 'Show as table'}
            onClick={() => setAsTable(!asTable)}
          >
            {asTable ? <ChartColumnStacked size={16} /> : <Table2 size={16} />}
          </ActionIcon>
        </PageActions>
      </Group>
      <Box opacity={isStale ? STALE : 1}>
        {hasFailed ? (
          <NoChart title="The figures of this range are not loaded" />
        ) : !trend ? (
          <Skeleton className={chartClasses['chart']} />
        ) : isLatency && totals?.latency === null ? (
          <NoChart
            title="No duration is known in this range"
            text="Unfinished requests have no duration, and neither have requests from before durations were counted."
          />
        ) : totals?.requests === 0 ? (
          <NoChart
            title="No requests in this range"
            text={hasFilters(filters) ? 'No request matches the filters above.' : 'Choose a longer range.'}
          />
        ) : asTable ? (
          <TrendTable zone={report?.timeZone ?? 'UTC'} trend={trend} metric={metric} series={series} />
        ) : (
          <StackedBars
            points={trend.points}
            series={series}
            gaps={gaps}
            zone={report?.timeZone ?? 'UTC'}
            metric={metric}
            code={trend.code}
            onPick={pick}
            label={
              isLatency
                ? `p50 and p95 of latency as lines with ${trend.points.length} points. The table has the same figures.`
                : `${metrics[metric].title} by ${groupWord(shownBy)} in ${trend.points.length} bars, ${totals ? totalText(totals, metric, trend.code) : ''} in all. The table has the same figures.`
            }
          />
        )}
      </Box>
      <ul className={chartClasses['legend']}>
        {series.map(({ key, name, color }) => (
          <li key={key}>
            <span className="swatch" style={{ background: color }} />
            <Name of={name} />
          </li>
        ))}
        {isLatency && totals?.latency && (
          <li>
            p95 ≈ {formatDuration(totals.latency.p95Ms)} of {plural(totals.latency.requests, 'request')}
          </li>
        )}
        {metric === 'cost' && totals && totals.unpricedRequests > 0 && (
          <li>
            <span className={`painted ${chartClasses['diamond']}`} />
            has requests of unknown cost
          </li>
        )}
        {metric === 'cost' && report?.displayCurrency && trend?.code === undefined && (
          <li>in US dollars: some days have no rate</li>
        )}
        {gaps.length > 0 && (
          <li>
            <span className={`swatch ${chartClasses['gap']}`} />
            has untracked requests
          </li>
        )}
      </ul>
    </section>
  );
};
