import type { SpendPoint } from '../api/responses.ts';
import { formatAxisMoney, formatCompact, formatDuration, formatMoney, formatWhole } from '../format/numbers.ts';

type Sums = Pick<SpendPoint, 'costNanoUsd' | 'displayCost' | 'requests' | 'tokens' | 'errors' | 'latency'>;

interface Metric {
  readonly label: string;
  /** In a title: `Spend by model`. */
  readonly title: string;
  /** Null where it is not known. */
  readonly of: (sums: Sums) => number | null;
  readonly format: (value: number | null, code?: string) => string;
  /** Formats with a currency, where it is money. */
  readonly formatAxis: (value: number, code?: string) => string;
}

const counted = (label: string, name: 'requests' | 'tokens' | 'errors', title = label): Metric => ({
  label,
  title,
  of: (sums) => sums[name],
  format: (value) => formatWhole(value ?? 0),
  formatAxis: formatCompact,
});

/** Measures of the overview's chart. Latency is shown as two lines, since percentiles do not add up. */
export const metrics = {
  cost: {
    label: 'Cost',
    title: 'Spend',
    of: ({ costNanoUsd }) => costNanoUsd,
    format: (value, code) => formatMoney(value, 'sum', code),
    formatAxis: formatAxisMoney,
  },
  requests: counted('Requests', 'requests'),
  tokens: counted('Tokens', 'tokens'),
  errors: counted('Errors', 'errors', 'Failed requests'),
  latency: {
    label: 'Latency',
    title: 'Median latency',
    of: ({ latency }) => latency?.p50Ms ?? null,
    format: formatDuration,
    formatAxis: formatDuration,
  },
} as const satisfies Record<string, Metric>;
export type MetricName = keyof typeof metrics;

export const metricNames = Object.keys(metrics) as MetricName[];
