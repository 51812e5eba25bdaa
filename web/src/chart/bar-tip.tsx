import { Box, Group } from '@mantine/core';
import { Name } from '../components/name.tsx';
import { plural } from '../format/quantity.ts';
import { formatBucketLong } from '../format/time.ts';
import type { TrendPoint } from '../spend/groups.ts';
import { MetricValue } from '../spend/metric-value.tsx';
import type { MetricName } from '../spend/metrics.ts';
import classes from './chart.module.css';
import type { Series } from './options.ts';

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
export const BarTip = ({ point, series, metric, code, x, width }: BarTipProps) => {
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
