import { ActionIcon, Skeleton, Tooltip } from '@mantine/core';
import { CalendarOff, ChartColumnStacked, Table2 } from 'lucide-react';
import { lazy, Suspense, useMemo, useState } from 'react';
import type { SpendReport } from '../api/responses.ts';
import chartClasses from '../chart/chart.module.css';
import { REST_COLOR, seriesColor } from '../chart/palette.ts';
import { Count, Money } from '../components/amount.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Name } from '../components/name.tsx';
import { ScrollRegion } from '../components/scroll-region.tsx';
import { formatMoney, shownIn } from '../format/money.ts';
import { formatWhole } from '../format/quantity.ts';
import { formatBucketLong, formatPeriod } from '../format/time.ts';
import { type Dimension, dimensionWord, type Filters, hasFilters, isDimension } from '../spend/filters.ts';
import { groupValue, type KeyNames, trendOf, valueName } from '../spend/groups.ts';
import { changeOf } from '../spend/headline.ts';
import type { Range } from '../spend/ranges.ts';
import { ExportButton, RangePicker, TrendControls } from './controls.tsx';
import classes from './overview.module.css';
import { Change, Figure } from './tiles.tsx';
import type { useComparison } from './use-overview.ts';

const NO_GAPS: SpendReport['untracked']['gaps'] = [];

const StackedBars = lazy(() => import('../chart/stacked-bars.tsx'));

const TrendTable = ({
  trend,
  names,
}: {
  readonly trend: ReturnType<typeof trendOf>;
  readonly names: readonly string[];
}) => (
  <ScrollRegion className={classes['trend-table']} label="The figures of the chart">
    <table className="grid-table">
      <thead>
        <tr>
          <th>Time</th>
          <th className="right">Total</th>
          <th className="right">Requests</th>
          {names.map((name) => (
            <th key={name} className="right">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {trend.points.toReversed().map((point) => (
          <tr key={point.time}>
            <td>{formatBucketLong(point.time)}</td>
            <td className="right">
              <Money nano={point.costNanoUsd} />
            </td>
            <td className="right num">{formatWhole(point.requests)}</td>
            {names.map((name, index) => (
              <td key={name} className="right">
                {point.values[index] ? <Money nano={point.values[index]} /> : <span className="dim">–</span>}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </ScrollRegion>
);

/** Spend over time, stacked by the chosen dimension: as a chart, or as a table of the same figures. */
export const Trend = ({
  report,
  range,
  by,
  keyNames,
  isStale,
  filters,
  comparison,
  onPick,
}: {
  readonly report: SpendReport | undefined;
  readonly range: Range;
  readonly by: Dimension;
  readonly keyNames: KeyNames;
  readonly isStale: boolean;
  readonly filters: Filters;
  readonly comparison: ReturnType<typeof useComparison>;
  readonly onPick: (time: string) => void;
}) => {
  const [asTable, setAsTable] = useState(false);
  // While a new report loads, the previous one is shown with its own dimension.
  const shownBy = report?.groupBy[0];
  const dimension = isDimension(shownBy) ? shownBy : by;
  const trend = useMemo(() => report && trendOf(report, dimension), [report, dimension]);
  const series = useMemo(
    () => [
      ...(trend?.shown ?? []).map((group, index) => ({
        name: valueName(dimension, groupValue(group, dimension), keyNames),
        color: seriesColor(index),
      })),
      ...(trend?.hasRest ? [{ name: 'everything else', color: REST_COLOR }] : []),
    ],
    [trend, dimension, keyNames],
  );
  const totals = report?.totals;
  const gaps = report?.untracked.gaps ?? NO_GAPS;
  const hasUnpriced = (totals?.unpricedRequests ?? 0) > 0;
  return (
    <section className="card card-pad" aria-labelledby="trend" aria-busy={isStale}>
      <div className={classes['trend-head']}>
        <div>
          <h2 id="trend" className="label">
            Spend by {dimensionWord(by)}
          </h2>
          <div className={classes['total']}>
            {totals ? (
              <Figure of={totals} code={report?.displayCurrency?.code} />
            ) : (
              <Skeleton height={22} width={130} />
            )}
          </div>
        </div>
        <RangePicker range={range} />
        <div className={`dim small ${classes['facts-of-total']}`}>
          {totals ? (
            <>
              {comparison &&
                changeOf(comparison.totals.costNanoUsd, comparison.previous.totals.costNanoUsd) !== null && (
                  <span>
                    {formatPeriod(comparison.from, comparison.to)}{' '}
                    <Change now={comparison.totals.costNanoUsd} before={comparison.previous.totals.costNanoUsd} /> vs{' '}
                    <Money
                      nano={comparison.previous.totals.costNanoUsd}
                      shown={shownIn(comparison.previous.totals, report?.displayCurrency?.code)}
                    />{' '}
                    in {formatPeriod(comparison.previous.from, comparison.previous.to)}
                  </span>
                )}
              <span>
                <Count of={totals.requests} unit="requests" /> requests ·{' '}
                <Count of={totals.tokens.inputTokens + totals.tokens.outputTokens} unit="tokens" /> tokens
              </span>
            </>
          ) : (
            <Skeleton height={14} width={320} />
          )}
        </div>
        <div className="page-actions">
          <TrendControls range={range} by={by} filters={filters} />
          <ExportButton range={range} by={by} filters={filters} />
          <Tooltip label={asTable ? 'Show as chart' : 'Show as table'}>
            <ActionIcon
              variant="default"
              size={30}
              aria-label={asTable ? 'Show as chart' : 'Show as table'}
              onClick={() => setAsTable(!asTable)}
            >
              {asTable ? <ChartColumnStacked size={16} /> : <Table2 size={16} />}
            </ActionIcon>
          </Tooltip>
        </div>
      </div>
      <div className={isStale ? classes['stale'] : undefined}>
        {!trend ? (
          <Skeleton className={chartClasses['chart']} />
        ) : totals?.requests === 0 ? (
          <div className={chartClasses['chart']}>
            <EmptyState icon={CalendarOff} title="No requests in this range">
              {hasFilters(filters) ? 'No request matches the filters above.' : 'Choose a longer range.'}
            </EmptyState>
          </div>
        ) : asTable ? (
          <TrendTable trend={trend} names={series.map(({ name }) => name)} />
        ) : (
          <Suspense fallback={<Skeleton className={chartClasses['chart']} />}>
            <StackedBars
              points={trend.points}
              series={series}
              gaps={gaps}
              onPick={onPick}
              label={`Spend by ${dimensionWord(dimension)} in ${trend.points.length} bars, ${formatMoney(totals?.costNanoUsd ?? null)} in all. The table has the same figures.`}
            />
          </Suspense>
        )}
      </div>
      <ul className={`${chartClasses['legend']} ${classes['trend-legend']}`}>
        {series.map(({ name, color }) => (
          <li key={name}>
            <span className={chartClasses['swatch']} style={{ background: color }} />
            <Name of={name} />
          </li>
        ))}
        {hasUnpriced && (
          <li>
            <span className={chartClasses['diamond']} />
            has requests of unknown cost
          </li>
        )}
        {gaps.length > 0 && (
          <li>
            <span className={chartClasses['gap']} />
            has untracked requests
          </li>
        )}
      </ul>
    </section>
  );
};
