import type { Provenance } from '../usage/usage.ts';
import { type CounterName, type Counters, tokenCounterNames, unitCounterName } from './counters.ts';
import { type AllocationName, overflowDimensions, type SpendDimensions } from './dimensions.ts';
import { durationCounterName } from './durations.ts';
import { type Allocation, isError, modelOf, type RequestRecord } from './request-record.ts';

/**
 * The dimensions that a record is counted under, before overflow. The table would store a lone surrogate as U+FFFD. Replacing it here
 * makes both spellings one key.
 */
export const dimensionsOf = (
  record: Pick<RequestRecord, 'provider' | 'reading' | 'tag' | 'keyId' | 'providerKey'>,
): SpendDimensions => ({
  provider: record.provider,
  model: modelOf(record)?.toWellFormed() ?? null,
  tag: record.tag?.toWellFormed() ?? null,
  keyId: record.keyId?.toWellFormed() ?? null,
  providerKey: record.providerKey?.toWellFormed() ?? null,
});

const costCounters: Record<Provenance, CounterName | null> = {
  provider: 'costProviderNanoUsd',
  computed: 'costComputedNanoUsd',
  estimated: 'costEstimatedNanoUsd',
  free: null,
  unknown: null,
};

const listDifferences: Partial<Record<Provenance, CounterName>> = {
  provider: 'listDifferenceProviderNanoUsd',
  computed: 'listDifferenceComputedNanoUsd',
  estimated: 'listDifferenceEstimatedNanoUsd',
};

/** False for a provenance of a later version: what such a record added cannot be taken back, so the record must not be changed. */
export const isContributionKnown = ({ provenance }: Pick<RequestRecord, 'provenance'>): boolean =>
  Object.hasOwn(costCounters, provenance);

/** A record with the usage that it was priced from. */
export type PriceableRecord = RequestRecord & { readonly reading: NonNullable<RequestRecord['reading']> };

/** A finished request whose usage is on record, and whose response was not counted with another request. */
export const isPriceable = (record: RequestRecord): record is PriceableRecord =>
  record.reading !== null && !record.readingTruncated && record.repeatOf === null && isContributionKnown(record);

/**
 * A record's value of an allocation dimension; null where it has none, or an empty one. The table would store a lone surrogate as U+FFFD.
 */
export const allocationValueOf = (
  { client, metadata }: Pick<RequestRecord, 'client' | 'metadata'>,
  name: AllocationName,
): string | null => {
  if (name === 'client') return client;
  const declared = name.slice('dim:'.length);
  return (Object.hasOwn(metadata, declared) && metadata[declared]?.toWellFormed()) || null;
};

/** The dimensions that a record is counted under by an allocation dimension, before overflow. */
export const allocationDimensionsOf = (
  record: Parameters<typeof dimensionsOf>[0],
  name: AllocationName,
  value: string | null,
): SpendDimensions => ({ ...dimensionsOf(record), tag: null, providerKey: null, [name]: value });

const countersOf = (record: RequestRecord, overflowLevel: number): Counters => {
  const counters: Partial<Record<CounterName, number>> = { requests: 1 };
  const add = (name: CounterName, value: number) => {
    if (value !== 0) counters[name] = value;
  };
  const costName = costCounters[record.provenance];
  if (costName) add(costName, record.costNanoUsd ?? 0);
  const listDifference = listDifferences[record.provenance];
  if (listDifference && record.listCostNanoUsd !== undefined) {
    add(listDifference, (record.listCostNanoUsd ?? 0) - (record.costNanoUsd ?? 0));
    add('listUnpricedRequests', Number(record.listCostNanoUsd === null));
  }
  add('markupNanoUsd', record.markupNanoUsd ?? 0);
  add('unpricedRequests', Number(record.provenance === 'unknown'));
  add('freeRequests', Number(record.provenance === 'free'));
  add('errors', Number(isError(record)));
  add('partialRequests', Number(record.reading?.complete === false));
  add('unfinishedRequests', Number(record.outcome === 'unknown'));
  add('bypassedRequests', Number(record.route === 'bypassed'));
  add('confirmedLateRequests', Number(record.isConfirmedLate === true));
  add('overflowRequests', Number(overflowLevel > 0));
  if (record.durationBucket !== undefined) add(durationCounterName(record.durationBucket), 1);
  // A response that is fetched again has the tokens of the request that it was counted with.
  if (record.usage && record.repeatOf === null) {
    for (const name of tokenCounterNames) add(name, record.usage[name]);
    for (const [kind, amount] of Object.entries(record.usage.units))
      add(unitCounterName(kind), Math.round(amount * 1_000));
  }
  return counters;
};

/** One record's addition to one counter: to which cross of dimensions, and which counters. */
export interface Contribution {
  readonly dimensions: SpendDimensions;
  readonly counters: Counters;
}

/** Sums that a record adds to the counters of crosses. */
export const contributionOf = (record: RequestRecord): Contribution => ({
  dimensions: overflowDimensions(dimensionsOf(record), record.overflowLevel, record.keptDimensions),
  counters: countersOf(record, record.overflowLevel),
});

/** Sums that a record adds to the counters of allocation dimensions. */
export const allocationContributionsOf = (
  record: RequestRecord,
): readonly (Contribution & { readonly allocation: AllocationName })[] =>
  (Object.entries(record.allocations) as [AllocationName, Allocation][]).map(
    ([allocation, { value, level, kept }]) => ({
      allocation,
      dimensions: overflowDimensions(allocationDimensionsOf(record, allocation, value), level, kept, allocation),
      counters: countersOf(record, level),
    }),
  );
