import { Money } from '../components/amount.tsx';
import { type MetricName, metrics } from '../spend/metrics.ts';

interface MetricValueProps {
  readonly value: number | null;
  readonly metric: MetricName;
  readonly code?: string | undefined;
}

/** A value of a metric: an amount of money in 1e-9 of US dollars or of the currency `code`, or a number. */
export const MetricValue = ({ value, metric, code }: MetricValueProps) =>
  metric === 'cost' && code === undefined ? (
    <Money nano={value} />
  ) : (
    <span className="num">{metrics[metric].format(value, code)}</span>
  );
