import { Box, Group } from '@mantine/core';
import type { SpendReport } from '../api/responses.ts';
import { Money } from '../components/amount.tsx';
import { Name } from '../components/table.tsx';
import { plural } from '../format/numbers.ts';
import { bucketEnd, bucketStart, formatBucketLong } from '../format/time.ts';
import type { TrendPoint } from '../spend/groups.ts';
import { type MetricName, metrics } from '../spend/metrics.ts';
import { Bars } from './bars.tsx';
import classes from './chart.module.css';

const MAX_ROWS = 8;

interface MetricValueProps extends Pick<StackedBarsProps, 'metric' | 'code'> {
  readonly value: number | null;
}

/** A value of a metric: an amount of money in 1e-9 of US dollars or of the currency `code`, or a number. */
export const MetricValue = ({ value, metric, code }: MetricValueProps) =>
  metric === 'cost' && code === undefined ? (
    <Money nano={value} />
  ) : (
    <span className="num">{metrics[metric].format(value, code)}</span>
  );

export interface Series {
  /** Unlike the name, no other series has it. */
  readonly key: string;
  readonly name: string;
  /** That of the series on the whole page. */
  readonly color: string;
}

interface StackedBarsProps {
  readonly points: readonly TrendPoint[];
  readonly series: readonly Series[];
  /** Tracking gaps: periods in which requests went untracked. */
  readonly gaps: SpendReport['untracked']['gaps'];
  readonly metric: MetricName;
  /** Whose days the points are. */
  readonly zone: string;
  /** The currency of costs, ISO 4217; by default US dollars. */
  readonly code?: string | undefined;
  readonly label: string;
  /** @param index of the series under the pointer; -1 between them */
  readonly onPick?: (time: string, index: number) => void;
}

const BarTip = ({
  point,
  series,
  metric,
  zone,
  code,
}: Omit<StackedBarsProps, 'points'> & { readonly point: TrendPoint }) => (
  <>
    <Group justify="space-between" gap={10} mb={6} fw={620} wrap="nowrap">
      <span>{formatBucketLong(point.time, zone)}</span>
      {metric !== 'latency' && <MetricValue value={point.value} metric={metric} code={code} />}
    </Group>
    {series
      .map((each, index) => ({ ...each, value: point.values[index] ?? 0 }))
      .filter(({ value }) => value !== 0)
      .slice(0, MAX_ROWS)
      .map(({ key, name, color, value }) => (
        <div key={key} className={classes['tip-row']}>
          <span className="swatch" style={{ background: color }} />
          <Name of={name} />
          <MetricValue value={value} metric={metric} code={code} />
        </div>
      ))}
    <Box mt={6} c="dimmed">
      {plural(point.requests, 'request')}
      {point.unpricedRequests > 0 && (
        <span className="unknown"> · {plural(point.unpricedRequests, 'cost')} unknown</span>
      )}
    </Box>
  </>
);

/** Spend through time, stacked by series; percentiles of latency as lines. */
export const StackedBars = (props: StackedBarsProps) => {
  const { points, series, gaps, metric, zone, code, label, onPick } = props;
  const areLines = metric === 'latency';
  return (
    <Bars
      bars={points.map(({ time, values, unpricedRequests }) => {
        const [start, end] = [bucketStart(time, zone).getTime(), bucketEnd(time, zone).getTime()];
        return {
          time,
          values: areLines ? [] : values,
          isMarked: metric === 'cost' && unpricedRequests > 0,
          isShaded: gaps.some(({ from, to }) => Date.parse(from) < end && Date.parse(to) >= start),
        };
      })}
      colorOf={(_, segment) => series[segment]?.color ?? ''}
      lines={
        areLines
          ? series.map(({ color }, index) => ({ color, values: points.map(({ values }) => values[index] ?? null) }))
          : []
      }
      formatAxis={(value) => metrics[metric].formatAxis(value, code)}
      label={label}
      tip={(index) => points[index] && <BarTip {...props} point={points[index]} />}
      {...(onPick && { onPick })}
    />
  );
};
