import type { Dimension, SpendGroup, SpendPoint, SpendReport } from '../api/responses.ts';
import { providerName } from '../providers/providers.ts';

const NONE: Readonly<Record<Dimension, string>> = {
  provider: 'no provider',
  model: 'no model',
  tag: 'untagged',
  key: 'no key',
  providerKey: 'no provider key',
};

/** Names of service keys by their ids. */
export type KeyNames = ReadonlyMap<string, string>;

/** Fingerprints are long, and their ends tell them apart. */
export const providerKeyName = (providerKey: string): string =>
  /^[0-9a-f]{16,}$/.test(providerKey) ? `…${providerKey.slice(-8)}` : providerKey;

/** What a value of a dimension is called. */
export const valueName = (dimension: Dimension, value: string | null, keyNames: KeyNames): string => {
  if (value === null || value === '') return NONE[dimension];
  if (dimension === 'provider') return providerName(value);
  if (dimension === 'key') return keyNames.get(value) ?? value;
  return dimension === 'providerKey' ? providerKeyName(value) : value;
};

/** A group's value of the one dimension grouped by; the empty string for none. */
export const groupValue = (group: Partial<Record<Dimension, string | null>>, dimension: Dimension): string =>
  group[dimension] ?? '';

export const SERIES_SHOWN = 7;

export interface TrendPoint {
  readonly time: string;
  /** Null: there were requests, and no cost of them is known. */
  readonly costNanoUsd: number | null;
  readonly requests: number;
  readonly unpricedRequests: number;
  /** In nano-USD: of each series in their order, and of everything else. */
  readonly values: readonly number[];
}

/** The costliest groups through time, and the rest of each bucket as one more series. */
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
