import { useComputedColorScheme } from '@mantine/core';
import { BarController, BarElement, CategoryScale, Chart, LinearScale, type Plugin, Tooltip } from 'chart.js';
import { useMemo } from 'react';
import { Bar } from 'react-chartjs-2';
import { barOptions } from '../chart/options.ts';
import { cssColor } from '../chart/palette.ts';
import { formatBucketLong } from '../format/time.ts';
import type { BacktestBar } from './backtest.ts';
import classes from './rules.module.css';

Chart.register(BarController, BarElement, CategoryScale, LinearScale, Tooltip);

const colorOf = ({ fired }: BacktestBar) => cssColor(fired ? 'var(--bad)' : 'var(--series-other)');

const limitLine = (limit: number | undefined): Plugin<'bar'> => ({
  id: 'limitLine',
  afterDatasetsDraw({ ctx, chartArea, scales: { y } }) {
    if (limit === undefined || !y) return;
    const at = y.getPixelForValue(limit);
    ctx.save();
    ctx.strokeStyle = cssColor('var(--ink)');
    ctx.lineWidth = 1.5;
    ctx.setLineDash([5, 4]);
    ctx.beginPath();
    ctx.moveTo(chartArea.left, at);
    ctx.lineTo(chartArea.right, at);
    ctx.stroke();
    ctx.restore();
  },
});

/** The last 30 days as the rule would have seen them, with its limit as a line. Red bars: it would have fired. */
const BacktestChart = ({
  bars,
  limit,
  formatValue,
  label,
}: {
  readonly bars: readonly BacktestBar[];
  readonly limit: number | undefined;
  readonly formatValue: (value: number) => string;
  readonly label: string;
}) => {
  const scheme = useComputedColorScheme('light');
  // biome-ignore lint/correctness/useExhaustiveDependencies: colours come from the style sheet and change with the scheme.
  const data = useMemo(
    () => ({
      labels: bars.map(({ time }) => time),
      datasets: [
        {
          data: bars.map(({ seen }) => seen),
          backgroundColor: bars.map(colorOf),
          hoverBackgroundColor: bars.map(colorOf),
          borderRadius: 2,
          categoryPercentage: 0.9,
          barPercentage: 0.9,
        },
      ],
    }),
    [bars, scheme],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above.
  const options = useMemo(() => {
    const base = barOptions({ animated: false, formatValue });
    return {
      ...base,
      plugins: {
        ...base.plugins,
        tooltip: {
          displayColors: false,
          callbacks: {
            title: ([item]: { label: string }[]) => (item ? formatBucketLong(item.label) : ''),
            label: ({ parsed }: { parsed: { y: number | null } }) => formatValue(parsed.y ?? 0),
          },
        },
      },
      scales: {
        ...base.scales,
        y: { ...base.scales?.['y'], ...(limit === undefined ? {} : { suggestedMax: limit * 1.12 }) },
      },
    };
  }, [formatValue, limit, scheme]);
  const plugins = useMemo(() => [limitLine(limit)], [limit]);
  return (
    <div className={classes['chart']}>
      <Bar
        key={`${scheme} ${limit} ${bars.length}`}
        data={data}
        options={options as never}
        plugins={plugins}
        role="img"
        aria-label={label}
      />
    </div>
  );
};

export default BacktestChart;
