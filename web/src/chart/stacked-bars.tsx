import { Box, Group } from '@mantine/core';
import {
  type ActiveElement,
  BarController,
  BarElement,
  CategoryScale,
  Chart,
  type ChartEvent,
  LinearScale,
  type Plugin,
  Tooltip,
} from 'chart.js';
import { type RefObject, useMemo, useRef, useState } from 'react';
import { Bar } from 'react-chartjs-2';
import type { SpendReport } from '../api/responses.ts';
import { Name } from '../components/name.tsx';
import { plural } from '../format/quantity.ts';
import { bucketEnd, bucketStart, formatBucketLong } from '../format/time.ts';
import type { TrendPoint } from '../spend/groups.ts';
import { MetricValue } from '../spend/metric-value.tsx';
import { type MetricName, metrics } from '../spend/metrics.ts';
import classes from './chart.module.css';
import { barOptions, cssColor, type Series, shadeActive, useScheme } from './options.ts';

const DOT_PX = 2.5;

/**
 * Draws each series as a line with a dot for each point, interrupted where a value is not known. The bars below are transparent: they have
 * the pointer. The line controller of chart.js would add 4 kB to the first load, since all charts share one chunk.
 */
const drawLines = (
  latest: RefObject<{ readonly points: readonly TrendPoint[]; readonly lines: readonly Series[] }>,
): Plugin<'bar'> => ({
  id: 'drawLines',
  afterDatasetsDraw({ ctx, scales: { x, y } }) {
    if (!x || !y) return;
    const { points, lines } = latest.current;
    ctx.save();
    ctx.lineWidth = 2;
    for (const [index, { color }] of lines.entries()) {
      ctx.strokeStyle = cssColor(color);
      ctx.fillStyle = ctx.strokeStyle;
      let isInterrupted = true;
      ctx.beginPath();
      const dots = new Path2D();
      for (const [at, { values }] of points.entries()) {
        const value = values[index] ?? null;
        if (value !== null) {
          const [left, top] = [x.getPixelForValue(at), y.getPixelForValue(value)];
          ctx[isInterrupted ? 'moveTo' : 'lineTo'](left, top);
          dots.moveTo(left, top);
          dots.arc(left, top, DOT_PX, 0, 2 * Math.PI);
        }
        isInterrupted = value === null;
      }
      ctx.stroke();
      ctx.fill(dots);
    }
    ctx.restore();
  },
});

const MAX_ROWS = 8;
const GAP_PX = 26;
const WIDTH_PX = 224;

interface BarTipProps {
  readonly point: TrendPoint;
  readonly series: readonly Series[];
  readonly metric: MetricName;
  readonly code: string | undefined;
  readonly x: number;
  readonly width: number;
}

/** The figures of the bucket under the pointer. */
const BarTip = ({ point, series, metric, code, x, width }: BarTipProps) => {
  const rows = series
    .map((each, index) => ({ ...each, value: point.values[index] ?? 0 }))
    .filter(({ value }) => value !== 0)
    .slice(0, MAX_ROWS);
  // Next to the bar, on the side with more room, and within the chart.
  const wanted = x < width / 2 ? x + GAP_PX : x - GAP_PX - WIDTH_PX;
  const left = Math.max(0, Math.min(wanted, width - WIDTH_PX));
  return (
    <div className={classes['tip']} style={{ left, width: WIDTH_PX }} role="presentation">
      <Group justify="space-between" gap={10} mb={6} fw={620} wrap="nowrap">
        <span>{formatBucketLong(point.time)}</span>
        {metric !== 'latency' && <MetricValue value={point.value} metric={metric} code={code} />}
      </Group>
      {rows.map(({ name, color, value }) => (
        <div key={name} className={classes['tip-row']}>
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
    </div>
  );
};

Chart.register(BarController, BarElement, CategoryScale, LinearScale, Tooltip);

type Gaps = SpendReport['untracked']['gaps'];

interface StackedBarsProps {
  readonly points: readonly TrendPoint[];
  readonly series: readonly Series[];
  /** Tracking gaps: periods in which requests went untracked. */
  readonly gaps: Gaps;
  readonly metric: MetricName;
  /** The currency of costs, ISO 4217; by default US dollars. */
  readonly code?: string | undefined;
  /** Describes the chart to screen readers; the table has the figures. */
  readonly label: string;
  /** @param index of the series under the pointer; -1 between them */
  readonly onPick?: (time: string, index: number) => void;
}

/** Data of the plugins. Chart.js takes plugins only when a chart begins, so they look it up each time. */
type Latest = RefObject<{ readonly points: readonly TrendPoint[]; readonly gaps: Gaps; readonly metric: MetricName }>;

/** Marks buckets with requests of unknown cost: their bars are too low by an unknown amount. */
const markUnpriced = (latest: Latest): Plugin<'bar'> => ({
  id: 'markUnpriced',
  afterDatasetsDraw(chart) {
    const { points, metric } = latest.current;
    if (metric !== 'cost') return;
    const { x, y } = chart.scales;
    if (!x || !y) return;
    chart.ctx.save();
    chart.ctx.fillStyle = cssColor('var(--warn)');
    points.forEach((point, index) => {
      if (point.unpricedRequests === 0) return;
      const center = { x: x.getPixelForValue(index), y: y.getPixelForValue(point.value ?? 0) - 8 };
      chart.ctx.beginPath();
      chart.ctx.moveTo(center.x, center.y - 3.5);
      chart.ctx.lineTo(center.x + 3.5, center.y);
      chart.ctx.lineTo(center.x, center.y + 3.5);
      chart.ctx.lineTo(center.x - 3.5, center.y);
      chart.ctx.fill();
    });
    chart.ctx.restore();
  },
});

const hasGap = ({ time }: TrendPoint, gaps: Gaps): boolean => {
  const [start, end] = [bucketStart(time).getTime(), bucketEnd(time).getTime()];
  return gaps.some(({ from, to }) => Date.parse(from) < end && Date.parse(to) >= start);
};

/** Shades buckets with untracked requests, which no bar includes. */
const shadeGaps = (latest: Latest): Plugin<'bar'> => ({
  id: 'shadeGaps',
  beforeDatasetsDraw({ ctx, chartArea: { top, bottom }, scales: { x } }) {
    const { points, gaps } = latest.current;
    if (!x) return;
    const width = x.width / Math.max(1, points.length);
    ctx.save();
    points.forEach((point, index) => {
      if (!hasGap(point, gaps)) return;
      const left = x.getPixelForValue(index) - width / 2;
      ctx.fillStyle = cssColor('var(--warn-soft)');
      ctx.fillRect(left, top, width, bottom - top);
      ctx.fillStyle = cssColor('var(--warn)');
      ctx.fillRect(left, top, width, 2);
    });
    ctx.restore();
  },
});

/** Spend through time, stacked by series; percentiles of latency as lines. */
const StackedBars = ({ points, series, gaps, metric, code, label, onPick }: StackedBarsProps) => {
  const scheme = useScheme();
  const areLines = metric === 'latency';
  const [active, setActive] = useState<{ readonly index: number; readonly x: number; readonly width: number } | null>(
    null,
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: colours come from the style sheet and change with the scheme.
  const data = useMemo(
    () => ({
      labels: points.map(({ time }) => time),
      datasets: series.map(({ color }, index) => ({
        data: points.map(({ values }) => values[index] ?? 0),
        backgroundColor: areLines ? 'transparent' : cssColor(color),
        hoverBackgroundColor: areLines ? 'transparent' : cssColor(color),
        borderRadius: 3,
        borderSkipped: 'middle' as const,
        maxBarThickness: 44,
        categoryPercentage: 0.86,
        barPercentage: 0.92,
      })),
    }),
    [points, series, scheme, areLines],
  );
  const tapped = useRef<number>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above.
  const options = useMemo(() => {
    const follow = (_: ChartEvent, elements: ActiveElement[], { width }: Chart) => {
      const [first] = elements;
      setActive(first ? { index: first.index, x: first.element.x, width } : null);
    };
    const pick = ({ native, y }: ChartEvent, elements: ActiveElement[]) => {
      const index = elements[0]?.index;
      // Nothing hovers over a touch screen: the first tap shows the figures.
      const isFirstTap = native instanceof PointerEvent && native.pointerType === 'touch' && tapped.current !== index;
      tapped.current = index;
      if (isFirstTap) return;
      const time = points[index ?? -1]?.time;
      const segment = elements.find(({ element }) => {
        const { y: top, base } = element.getProps(['y', 'base']) as unknown as {
          readonly y: number;
          readonly base: number;
        };
        return y !== null && top <= y && y <= base;
      });
      if (time !== undefined) onPick?.(time, segment?.datasetIndex ?? -1);
    };
    const heights = points.map(({ values }) =>
      areLines
        ? Math.max(0, ...values.map((value) => value ?? 0))
        : values.reduce<number>((sum, value) => sum + (value ?? 0), 0),
    );
    return {
      ...barOptions({
        highest: Math.max(0, ...heights),
        formatValue: (value) => metrics[metric].formatAxis(value, code),
        stacked: !areLines,
      }),
      onHover: follow,
      onClick: pick,
    };
  }, [points, onPick, scheme, metric, code, areLines]);
  const current = { points, gaps, metric, lines: areLines ? series : [] };
  const latest = useRef(current);
  latest.current = current;
  const plugins = useMemo(() => [shadeActive, shadeGaps(latest), markUnpriced(latest), drawLines(latest)], []);
  const point = active && points[active.index];
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only a pointer opens the box; the table has the same figures.
    <div className={classes['chart']} onMouseLeave={() => setActive(null)}>
      <Bar key={scheme} data={data} options={options} plugins={plugins} role="img" aria-label={label} />
      {point && <BarTip point={point} series={series} metric={metric} code={code} x={active.x} width={active.width} />}
    </div>
  );
};

export default StackedBars;
