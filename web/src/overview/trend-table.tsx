import { MetricValue, type Series } from '../chart/stacked-bars.tsx';
import { type Column, Table } from '../components/table.tsx';
import { formatWhole } from '../format/numbers.ts';
import { formatBucketLong } from '../format/time.ts';
import type { TrendPoint, trendOf } from '../spend/groups.ts';
import type { MetricName } from '../spend/metrics.ts';
import classes from './overview.module.css';

interface TrendTableProps {
  readonly zone: string;
  readonly trend: ReturnType<typeof trendOf>;
  readonly metric: MetricName;
  readonly series: readonly Series[];
}

const TrendTable = ({ zone, trend, metric, series }: TrendTableProps) => {
  const value = (of: number | null) => <MetricValue value={of} metric={metric} code={trend.code} />;
  const total: Column<TrendPoint> = { head: 'Total', className: 'right', cell: (point) => value(point.value) };
  return (
    <Table
      label="The figures of the chart"
      frame={classes['trend-table']}
      columns={[
        { head: 'Time', cell: ({ time }) => formatBucketLong(time, zone) },
        ...(metric === 'latency' ? [] : [total]),
        { head: 'Requests', className: 'right num', cell: ({ requests }) => formatWhole(requests) },
        ...series.map(({ key, name }, index) => ({
          key,
          head: name,
          className: 'right',
          cell: ({ values }: TrendPoint) => (values[index] ? value(values[index]) : <span className="dim">–</span>),
        })),
      ]}
      items={trend.points.toReversed()}
      keyOf={({ time }) => time}
    />
  );
};

export default TrendTable;
