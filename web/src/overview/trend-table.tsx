import { ScrollRegion } from '../components/scroll-region.tsx';
import { formatWhole } from '../format/quantity.ts';
import { formatBucketLong } from '../format/time.ts';
import type { trendOf } from '../spend/groups.ts';
import { MetricValue } from '../spend/metric-value.tsx';
import type { MetricName } from '../spend/metrics.ts';
import classes from './overview.module.css';

/** The figures of the chart, the latest first. */
const TrendTable = ({
  trend,
  metric,
  names,
}: {
  readonly trend: ReturnType<typeof trendOf>;
  readonly metric: MetricName;
  readonly names: readonly string[];
}) => (
  <ScrollRegion className={classes['trend-table']} label="The figures of the chart">
    <table className="grid-table">
      <thead>
        <tr>
          <th>Time</th>
          {metric !== 'latency' && <th className="right">Total</th>}
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
            {metric !== 'latency' && (
              <td className="right">
                <MetricValue value={point.value} metric={metric} code={trend.code} />
              </td>
            )}
            <td className="right num">{formatWhole(point.requests)}</td>
            {names.map((name, index) => (
              <td key={name} className="right">
                {point.values[index] ? (
                  <MetricValue value={point.values[index]} metric={metric} code={trend.code} />
                ) : (
                  <span className="dim">–</span>
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </ScrollRegion>
);

export default TrendTable;
