import type { Reservation } from '../domain/limits/reservation.ts';
import { withoutOther, withoutReserved } from '../domain/spend/dimensions.ts';
import { durationBucketOf } from '../domain/spend/durations.ts';
import { type RequestRecord, requestRecordSchema } from '../domain/spend/request-record.ts';
import { withoutPath } from '../domain/usage/dialect.ts';
import { MAX_RAW_USAGE_BYTES } from '../domain/usage/limits.ts';
import { type PricedUsage, provenances, unknownPrice } from '../domain/usage/usage.ts';
import type { AccountCloseEvent, AccountOpenEvent, AccountRequestEvent } from './attribute-events.ts';

/** The members of a record that do not come from its event. */
export interface RecordContext {
  readonly revision: number;
  readonly overflowLevel: number;
  /** ISO 8601 UTC. */
  readonly recordedAt: string;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

/**
 * The most that one request may add to a counter: 90,000 USD in nano-USD. One transaction adds at most a hundred of them to a
 * counter, and their sum is a safe integer. A request that reports more is wrong, so its cost is unknown.
 */
const MAX_COUNT = 9e13;
const UNITS_SCALE = 1_000;

const isPlausibleCost = (nanoUsd: number | null): boolean =>
  nanoUsd === null || (Number.isInteger(nanoUsd) && nanoUsd >= 0 && nanoUsd <= MAX_COUNT);

/** The same price; unknown where a number is too large for the counters, negative, or not whole. */
export const plausible = (priced: PricedUsage): PricedUsage => {
  const { units = {}, ...tokens } = priced.usage ?? {};
  const isPlausible =
    provenances.includes(priced.provenance) &&
    Object.values(tokens).every(
      (value) => value === null || (Number.isInteger(value) && value >= 0 && value <= MAX_COUNT),
    ) &&
    Object.values(units).every((value) => value >= 0 && value * UNITS_SCALE <= MAX_COUNT) &&
    isPlausibleCost(priced.costNanoUsd) &&
    isPlausibleCost(priced.listCostNanoUsd ?? null);
  return isPlausible ? priced : unknownPrice('The numbers reported for this request cannot be true.');
};

/** The name that a model is counted by: the gateway's limits know it by the same. */
const countedAs = (provider: string, model: string | null): string | null =>
  withoutOther(model && withoutPath(provider, model));

/**
 * A reading that fits an item (400 KB) and a transaction of 100 records (4 MB). The gateway keeps readings below this limit, so only
 * an event of a foreign or broken sender is truncated.
 */
const bounded = ({ provider, reading: read }: AccountCloseEvent) => {
  const reading = {
    ...read,
    modelRequested: countedAs(provider, read.modelRequested),
    modelServed: countedAs(provider, read.modelServed),
  };
  const { usage, billableItems } = reading;
  const fits = Buffer.byteLength(JSON.stringify({ usage, billableItems })) <= 2 * MAX_RAW_USAGE_BYTES;
  return fits
    ? { reading, readingTruncated: false }
    : { reading: { ...reading, usage: null, billableItems: {} }, readingTruncated: true };
};

const facts = (event: AccountRequestEvent) => ({
  requestId: event.requestId,
  accountId: event.accountId,
  keyId: event.keyId,
  provider: event.provider,
  providerKey: event.providerKey,
  ...(event.credentialKind && { credentialKind: event.credentialKind }),
  tag: withoutOther(event.tag),
  tagTruncated: event.tagTruncated,
  metadata: Object.fromEntries(
    Object.entries(event.metadata ?? {}).map(([name, value]) => [name, withoutReserved(value)]),
  ),
  metadataTruncated: event.metadataTruncated ?? false,
  client: event.client ?? null,
  session: event.session ?? null,
  ...(event.trace && { trace: event.trace }),
  blocksUnread: event.blocksUnread ?? false,
  method: event.method,
  path: event.path,
  startedAt: event.startedAt,
  allocations: {},
  countedFor: [],
});

/** A request with no close event yet: counted, with unknown cost. */
export const recordOfOpen = (event: AccountOpenEvent, context: RecordContext): RequestRecord =>
  requestRecordSchema.parse({
    ...facts(event),
    ...context,
    outcome: 'unknown',
    ...unknownPrice('The gateway lost sight of this request before its end.'),
  });

/** False of a reservation for one value. */
const isOfAll = ({ value }: Reservation): boolean => value === undefined;

/**
 * All members of a record that come from its price, also those that this price does not have.
 *
 * @param repeatOf the request that this response was already counted with; null where this request is the first
 */
export const priceMembers = (priced: PricedUsage, repeatOf: string | null) => {
  const price: PricedUsage =
    repeatOf === null
      ? priced
      : {
          ...unknownPrice('This response was already counted with the request that first returned it.', priced.usage),
          costNanoUsd: 0,
          provenance: 'free',
        };
  return {
    ...price,
    listCostNanoUsd: price.listCostNanoUsd,
    markupNanoUsd: price.markupNanoUsd,
    ownPrices: price.ownPrices,
    priceEvidence: price.priceEvidence,
    estimateRange: price.estimateRange,
    lines: [...price.lines],
    repeatOf,
  };
};

/** @param repeatOf see priceMembers */
export const recordOfClose = (
  event: AccountCloseEvent,
  priced: PricedUsage,
  repeatOf: string | null,
  context: RecordContext,
): RequestRecord => ({
  ...facts(event),
  ...context,
  outcome: event.outcome,
  blockedBy: event.blockedBy ?? null,
  route: event.route,
  ...(event.isConfirmedLate && { isConfirmedLate: true as const }),
  status: event.status,
  ttfbMs: event.ttfbMs,
  totalMs: event.totalMs,
  // Requests that were not forwarded took no time of a provider.
  ...(event.outcome !== 'refused' && { durationBucket: durationBucketOf(event.totalMs) }),
  requestBytes: event.requestBytes,
  responseBytes: event.responseBytes,
  ...bounded(event),
  ...(event.reservations?.some(isOfAll) && {
    reservations: event.reservations.filter(isOfAll).map(({ budgetId, nanoUsd }) => ({ budgetId, nanoUsd })),
  }),
  ...priceMembers(priced, repeatOf),
});
