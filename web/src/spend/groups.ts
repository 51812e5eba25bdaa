import { type CommonDimension, isKeyDimension, OTHER, UNKNOWN } from '../../../lambda/domain/spend/dimensions.ts';
import type { SpendGroup, SpendPoint, SpendReport } from '../api/responses.ts';
import { providerName } from '../providers/names.ts';
import { type Dimension, type Filters, type GroupBy, isDeclared, sentName } from './filters.ts';
import { type MetricName, metrics } from './metrics.ts';
import { colorsOf, neutral } from './palette.ts';

const NONE: Readonly<Record<CommonDimension, string>> = {
  provider: 'no provider',
  model: 'no model',
  tag: 'untagged',
  key: 'no key',
  providerKey: 'no provider key',
  client: 'other clients',
  project: 'no project',
  member: 'nobody',
};

/** Names of service keys, projects and members by id. */
export type KeyNames = ReadonlyMap<string, string>;

/** Shortens a fingerprint to its end, which is enough to distinguish keys. */
export const providerKeyName = (providerKey: string): string =>
  /^[0-9a-f]{16,}$/.test(providerKey) ? `…${providerKey.slice(-8)}` : providerKey;

export const valueName = (dimension: Dimension, value: string | null, keyNames: KeyNames): string => {
  if (value === null || value === '') return isDeclared(dimension) ? `no ${sentName(dimension)}` : NONE[dimension];
  if (value === UNKNOWN) return 'not known';
  if (dimension === 'provider') return providerName(value);
  if (dimension === 'key' || isKeyDimension(dimension)) return keyNames.get(value) ?? value;
  return dimension === 'providerKey' ? providerKeyName(value) : value;
};

/** A group's value of the dimension; the empty string for none. */
export const groupValue = (group: GroupValues, dimension: Dimension): string =>
  (isDeclared(dimension) ? group.dim?.[sentName(dimension)] : group[dimension]) ?? '';

/** A group of a report: its value of each dimension, where it is grouped by that. */
export type GroupValues = Partial<Pick<SpendGroup, CommonDimension | 'dim'>>;

/** The name of a group: `gpt-4o / extraction`. */
export const groupName = (group: GroupValues, by: GroupBy, keyNames: KeyNames): string =>
  by.map((dimension) => valueName(dimension, groupValue(group, dimension), keyNames)).join(' / ');

export const groupFilters = (group: GroupValues, by: GroupBy): Filters =>
  Object.fromEntries(by.map((dimension) => [dimension, [groupValue(group, dimension)]]));

/** Distinguishes the groups of a report. */
export const groupKey = (group: GroupValues, by: GroupBy): string =>
  JSON.stringify(by.map((dimension) => groupValue(group, dimension)));

export const SERIES_SHOWN = 7;

/** Groups without a name. Each has its grey. */
const UNNAMED: readonly string[] = ['', OTHER, UNKNOWN];

/** The colours of the groups that a chart shows, by `groupKey`. A provider's and its models' have one hue. */
export const groupColors = (groups: readonly GroupValues[], by: GroupBy): ReadonlyMap<string, string> => {
  const hueOf = by.find((dimension) => dimension === 'provider' || dimension === 'model');
  const colors = groups.slice(0, SERIES_SHOWN).map((group) => {
    const values = by.map((dimension) => groupValue(group, dimension));
    const shade = values.every((value) => UNNAMED.includes(value)) ? UNNAMED.indexOf(values[0] ?? '') : undefined;
    return { name: groupKey(group, by), shade, of: hueOf && groupValue(group, hueOf) };
  });
  return new Map([
    ...colorsOf(colors.filter(({ shade }) => shade === undefined)),
    ...colors.flatMap(({ name, shade }) => (shade === undefined ? [] : [[name, neutral(shade)] as const])),
  ]);
};

export interface TrendPoint {
  readonly time: string;
  readonly requests: number;
  readonly unpricedRequests: number;
  /** Sum of the bar; null if no part of it is known. */
  readonly value: number | null;
  /** In the unit of the metric: the series in their order, then everything else. Null where a percentile is not known. */
  readonly values: readonly (number | null)[];
}

type Measure = (typeof metrics)[MetricName]['of'];

/** The cost in 1e-9 of the display currency. */
const displayNano: Measure = ({ displayCost }) =>
  displayCost === undefined || displayCost === null ? null : Math.round(Number(displayCost) * 1e9);

/**
 * The most expensive groups over time, and the rest of each bucket as one more series. Costs are in 1e-9 of the display currency `code`;
 * in nano-USD without one, and where a cost has no rate.
 */
export const trendOf = ({ groups, series, displayCurrency }: SpendReport, by: GroupBy, metric: MetricName = 'cost') => {
  const shown = groups.slice(0, SERIES_SHOWN);
  const isConverted = series.every((point) => point.costNanoUsd === null || displayNano(point) !== null);
  const code = metric === 'cost' && isConverted ? displayCurrency?.code : undefined;
  const points = series.map((point) => trendPoint(point, shown, by, code ? displayNano : metrics[metric].of));
  return { shown, points, code, hasRest: points.some(({ values }) => (values.at(-1) ?? 0) !== 0) };
};

/** The percentiles of latency over time, p50 and p95, whatever the groups are. */
export const latencyTrendOf = ({ series }: SpendReport): ReturnType<typeof trendOf> => ({
  shown: [],
  hasRest: false,
  code: undefined,
  points: series.map(({ time, latency }) => ({
    time,
    // Those that the percentiles are of.
    requests: latency?.requests ?? 0,
    unpricedRequests: 0,
    value: latency?.p50Ms ?? null,
    values: [latency?.p50Ms ?? null, latency?.p95Ms ?? null],
  })),
});

const trendPoint = (point: SpendPoint, shown: readonly SpendGroup[], by: GroupBy, measure: Measure): TrendPoint => {
  const found = new Map(point.groups.map((group) => [groupKey(group, by), measure(group) ?? 0]));
  const values = shown.map((group) => found.get(groupKey(group, by)) ?? 0);
  const rest = (measure(point) ?? 0) - values.reduce((sum, value) => sum + value, 0);
  // Each converted amount is rounded.
  const isRounding = measure === displayNano && Math.abs(rest) <= values.length;
  return {
    time: point.time,
    requests: point.requests,
    unpricedRequests: point.unpricedRequests,
    value: measure(point),
    values: [...values, isRounding ? 0 : rest],
  };
};
