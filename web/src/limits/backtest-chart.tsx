import { BarController, BarElement, CategoryScale, Chart, LinearScale, type Plugin, Tooltip } from 'chart.js';
import { useMemo, useRef } from 'react';
import { Bar } from 'react-chartjs-2';
import type { BacktestPoint } from '../api/responses.ts';
import { barOptions, cssColor, useScheme } from '../chart/options.ts';
import { formatBucketLong } from '../format/time.ts';
import classes from './limits.module.css';

Chart.register(BarController, BarElement, CategoryScale, LinearScale, Tooltip);

const colorOf = ({ fired }: BacktestPoint) => cssColor(fired ? 'var(--bad)' : 'var(--series-other)');

const LINES = [
  { of: 'limit', color: 'var(--ink)', dash: [5, 4] },
  { of: 'usual', color: 'var(--ink)', dash: [1.5, 3] },
] as const;

/** The limit, and the median that it comes from: each hour or day has its own. */
const lines = (latest: { readonly current: readonly BacktestPoint[] }): Plugin<'bar'> => ({
  id: 'lines',
  afterDatasetsDraw({ ctx, scales: { x, y } }) {
    if (!x || !y) return;
    const points = latest.current;
    const half = x.width / Math.max(1, points.length) / 2;
    ctx.save();
    ctx.lineWidth = 1.5;
    for (const { of, color, dash } of LINES) {
      ctx.strokeStyle = cssColor(color);
      ctx.setLineDash([...dash]);
      ctx.beginPath();
      let drawn: number | null = null;
      points.forEach((point, index) => {
        const value = point[of];
        const at = x.getPixelForValue(index);
        // A level line is one stroke, so that its dashes are even.
        if (value !== null && drawn === null) ctx.moveTo(at - half, y.getPixelForValue(value));
        if (value !== null) {
          if (drawn !== null && drawn !== value) ctx.lineTo(at - half, y.getPixelForValue(value));
          ctx.lineTo(at + half, y.getPixelForValue(value));
        }
        drawn = value;
      });
      ctx.stroke();
    }
    ctx.restore();
  },
});

interface BacktestChartProps {
  readonly points: readonly BacktestPoint[];
  readonly formatAxis: (value: number) => string;
  readonly formatValue: (value: number) => string;
  readonly label: string;
}

/** The last 30 days as the rule would have seen them, with its limit as a line. Red bars: it would have fired. */
const BacktestChart = ({ points, formatAxis, formatValue, label }: BacktestChartProps) => {
  const scheme = useScheme();
  // biome-ignore lint/correctness/useExhaustiveDependencies: colours come from the style sheet and change with the scheme.
  const data = useMemo(
    () => ({
      labels: points.map(({ time }) => time),
      datasets: [
        {
          data: points.map(({ observed }) => observed),
          backgroundColor: points.map(colorOf),
          hoverBackgroundColor: points.map(colorOf),
          borderRadius: 2,
          categoryPercentage: 0.9,
          barPercentage: 0.9,
        },
      ],
    }),
    [points, scheme],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above.
  const options = useMemo(() => {
    const base = barOptions({
      formatValue: formatAxis,
      highest: Math.max(0, ...points.flatMap(({ observed, limit }) => [observed ?? 0, 1.12 * (limit ?? 0)])),
    });
    const textOf = (what: string, value: number | null | undefined) =>
      value === null || value === undefined ? [] : [`${what}${formatValue(value)}`];
    return {
      ...base,
      plugins: {
        ...base.plugins,
        tooltip: {
          displayColors: false,
          callbacks: {
            title: ([item]: { label: string }[]) => (item ? formatBucketLong(item.label) : ''),
            label: ({ dataIndex }: { dataIndex: number }) => {
              const { observed, limit, usual } = points[dataIndex] as BacktestPoint;
              return [...textOf('', observed), ...textOf('limit ', limit), ...textOf('median ', usual)];
            },
          },
        },
      },
    };
  }, [formatAxis, formatValue, points, scheme]);
  // The chart takes its plugins once.
  const latest = useRef(points);
  latest.current = points;
  const plugins = useMemo(() => [lines(latest)], []);
  return (
    <div className={classes['chart']}>
      <Bar key={scheme} data={data} options={options as never} plugins={plugins} role="img" aria-label={label} />
    </div>
  );
};

export default BacktestChart;
