import { Money } from '../components/amount.tsx';
import { formatShown } from '../format/money.ts';
import { type MetricName, metrics } from './metrics.ts';

interface MetricValueProps {
  readonly value: number | null;
  readonly metric: MetricName;
  readonly code?: string | undefined;
}

/** A value of a metric: an amount of money in 1e-9 of US dollars or of the currency `code`, or a number. */
export const MetricValue = ({ value, metric, code }: MetricValueProps) =>
  metric !== 'cost' || (code !== undefined && value !== null) ? (
    <span className="num">
      {code === undefined || value === null ? metrics[metric].format(value) : formatShown(String(value / 1e9), code)}
    </span>
  ) : (
    <Money nano={value} />
  );
