import { Money } from '../components/amount.tsx';
import { Name } from '../components/name.tsx';
import { plural } from '../format/quantity.ts';
import { formatBucketLong } from '../format/time.ts';
import type { TrendPoint } from '../spend/groups.ts';
import classes from './chart.module.css';
import type { Series } from './series.ts';

const MAX_ROWS = 8;
const GAP_PX = 26;

/** The figures of the bucket under the pointer. */
export const BarTip = ({
  point,
  series,
  x,
  width,
}: {
  readonly point: TrendPoint;
  readonly series: readonly Series[];
  readonly x: number;
  readonly width: number;
}) => {
  const rows = series
    .map((each, index) => ({ ...each, nano: point.values[index] ?? 0 }))
    .filter(({ nano }) => nano !== 0)
    .slice(0, MAX_ROWS);
  // Next to the bar, on the side with more room.
  const place = x < width / 2 ? { left: x + GAP_PX } : { right: width - x + GAP_PX };
  return (
    <div className={classes['tip']} style={place} role="presentation">
      <div className={classes['tip-head']}>
        <span>{formatBucketLong(point.time)}</span>
        <Money nano={point.costNanoUsd} />
      </div>
      {rows.map(({ name, color, nano }) => (
        <div key={name} className={classes['tip-row']}>
          <span className={classes['swatch']} style={{ background: color }} />
          <Name of={name} />
          <Money nano={nano} />
        </div>
      ))}
      <div className={classes['tip-foot']}>
        {plural(point.requests, 'request')}
        {point.unpricedRequests > 0 && (
          <span className="unknown"> · {plural(point.unpricedRequests, 'cost')} unknown</span>
        )}
      </div>
    </div>
  );
};
