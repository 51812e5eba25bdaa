import { UNKNOWN } from '../../../lambda/domain/spend/dimensions.ts';
import type { SpendGroup, SpendPoint, SpendReport } from '../api/responses.ts';
import { providerName } from '../providers/names.ts';
import { type Dimension, isDeclared, sentName } from './filters.ts';

const NONE: Readonly<Record<string, string>> = {
  provider: 'no provider',
  model: 'no model',
  tag: 'untagged',
  key: 'no key',
  providerKey: 'no provider key',
  client: 'other clients',
  project: 'no project',
};

/** Names of service keys and projects by id. */
export type KeyNames = ReadonlyMap<string, string>;

/** Shortens a fingerprint to its end, which is enough to distinguish keys. */
export const providerKeyName = (providerKey: string): string =>
  /^[0-9a-f]{16,}$/.test(providerKey) ? `…${providerKey.slice(-8)}` : providerKey;

/** The display name of a dimension's value. */
export const valueName = (dimension: Dimension, value: string | null, keyNames: KeyNames): string => {
  if (value === null || value === '') return NONE[dimension] ?? `no ${dimension.slice('dim:'.length)}`;
  if (value === UNKNOWN) return 'not known';
  if (dimension === 'provider') return providerName(value);
  if (dimension === 'key' || dimension === 'project') return keyNames.get(value) ?? value;
  return dimension === 'providerKey' ? providerKeyName(value) : value;
};

/** A group's value of the dimension; the empty string for none. */
export const groupValue = (group: Partial<SpendPoint['groups'][number]>, dimension: Dimension): string =>
  (isDeclared(dimension) ? group.dim?.[sentName(dimension)] : group[dimension]) ?? '';

export const SERIES_SHOWN = 7;

export interface TrendPoint {
  readonly time: string;
  /** Null where nothing is known of the cost. */
  readonly costNanoUsd: number | null;
  readonly requests: number;
  readonly unpricedRequests: number;
  /** In nano-USD: the series in their order, then everything else. */
  readonly values: readonly number[];
}

/** The most expensive groups over time, and the rest of each bucket as one more series. */
export const trendOf = ({ groups, series }: SpendReport, dimension: Dimension) => {
  const shown = groups.slice(0, SERIES_SHOWN);
  const points = series.map((point) => trendPoint(point, shown, dimension));
  return { shown, points, hasRest: points.some(({ values }) => (values.at(-1) ?? 0) !== 0) };
};

const trendPoint = (point: SpendPoint, shown: readonly SpendGroup[], dimension: Dimension): TrendPoint => {
  const costs = new Map(point.groups.map((group) => [groupValue(group, dimension), group.costNanoUsd ?? 0]));
  const values = shown.map((group) => costs.get(groupValue(group, dimension)) ?? 0);
  const rest = (point.costNanoUsd ?? 0) - values.reduce((sum, value) => sum + value, 0);
  return {
    time: point.time,
    costNanoUsd: point.costNanoUsd,
    requests: point.requests,
    unpricedRequests: point.unpricedRequests,
    values: [...values, rest],
  };
};
