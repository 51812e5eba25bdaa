import * as z from 'zod/mini';
import { plans } from '../billing/plans.ts';
import { DAY_MS } from '../calendar/units.ts';
import type { HostLabel } from '../hosts.ts';
import type { AppliedPrices, PriceLine, Provenance, Usage } from '../usage/usage.ts';
import { type CloseEvent, closeEventSchema, type Outcome, type Reading, sessionSchema } from '../usage/usage-event.ts';
import { type TokenCounterName, tokenCounterNames } from './counters.ts';
import { type CountedDimensionName, crossDimensionNames } from './dimensions.ts';

const count = z._default(z.int().check(z.nonnegative()), 0);
const countOrNull = z._default(z.nullable(z.int().check(z.nonnegative())), null);

/**
 * One of some names. A name of a later version is kept as it is, so that both versions can run while one replaces the other. The type has
 * the names of this version: code that chooses by a name must allow for others.
 */
const oneOf = <T extends string>() => z.custom<T>((value) => typeof value === 'string');

/** The stored form of a usage: zeros and nulls may be left out. */
const usageSchema: z.ZodMiniType<Usage> = z.looseObject({
  ...(Object.fromEntries(tokenCounterNames.map((name) => [name, count])) as Record<TokenCounterName, typeof count>),
  cacheWrite12hTokens: count,
  cacheReadAudioTokens: count,
  cacheReadImageTokens: count,
  billedInputTokens: countOrNull,
  billedOutputTokens: countOrNull,
  units: z._default(z.record(z.string(), z.number().check(z.nonnegative())), {}),
  providerCostNanoUsd: countOrNull,
});

const priceLineSchema: z.ZodMiniType<PriceLine> = z.object({
  kind: z.string(),
  quantity: z.number(),
  rateNanoUsdPerUnit: z.number(),
});

const appliedPricesSchema: z.ZodMiniType<AppliedPrices> = z.looseObject({
  steps: z.array(z.looseObject({ priceId: z.string(), kind: z.string(), factor: z.optional(z.string()) })),
  lines: z.optional(z.array(priceLineSchema)),
  isProvisional: z.optional(z.boolean()),
});

const readingSchema = z.looseObject({
  ...closeEventSchema.shape.reading.shape,
  dialect: oneOf<Reading['dialect']>(),
  usageSource: oneOf<Reading['usageSource']>(),
});

/** How a request was counted under an allocation dimension. */
const allocationSchema = z.looseObject({
  /** Before overflow; null where the request has none. */
  value: z._default(z.nullable(z.string()), null),
  /** As `overflowLevel` and `keptDimensions`, of this dimension's own counters. */
  level: z._default(z.int().check(z.nonnegative()), 0),
  kept: z._default(z.array(z.custom<CountedDimensionName>((name) => typeof name === 'string')), []),
});

/**
 * One tracked request as the ledger holds it. At every moment the spend counters are the sums of what records contribute (contribution.ts).
 * Members that a later version added are kept.
 */
export const requestRecordSchema = z.looseObject({
  /** Counts the writes of this record, from 1. A writer that changes a record names the revision it read. */
  revision: z.int().check(z.positive()),
  requestId: z.string(),
  accountId: z.string(),
  /** Id of the service key used, never the key. */
  keyId: z._default(z.nullable(z.string()), null),
  provider: oneOf<HostLabel>(),
  /** Keyed fingerprint of the provider credential. */
  providerKey: z._default(z.nullable(z.string()), null),
  /** The credential was a token of a subscription. */
  credentialKind: z.optional(z.literal('subscription')),
  tag: z._default(z.nullable(z.string()), null),
  tagTruncated: z._default(z.boolean(), false),
  metadata: z._default(z.record(z.string(), z.string()), {}),
  metadataTruncated: z._default(z.boolean(), false),
  client: z._default(z.nullable(z.string()), null),
  session: z._default(z.nullable(z.looseObject(sessionSchema.shape)), null),
  /** See the event. Absent where the client named none. */
  trace: z.optional(z.string()),
  /** The gateway could not read whether a budget stops the request. */
  blocksUnread: z._default(z.boolean(), false),
  method: z.string(),
  path: z.string(),
  /** ISO 8601 UTC. The request is counted in the day and hour of this time. */
  startedAt: z.iso.datetime(),
  outcome: oneOf<Outcome>(),
  /** The budget, pause or access rule that stopped a refused request. */
  blockedBy: z._default(z.nullable(z.string()), null),
  /** Null while the outcome is `unknown`, as are the next five. */
  route: z._default(z.nullable(oneOf<CloseEvent['route']>()), null),
  /** See the close event. Absent in records of earlier versions. */
  isConfirmedLate: z.optional(z.literal(true)),
  /** Also null when the provider never responded. */
  status: z._default(z.nullable(z.int()), null),
  ttfbMs: z._default(z.nullable(z.number()), null),
  totalMs: z._default(z.nullable(z.number()), null),
  /** The bucket that `totalMs` was counted in: see durations.ts. Absent where it was not, as in records of before there were buckets. */
  durationBucket: z.optional(z.int()),
  requestBytes: z._default(z.nullable(z.int()), null),
  responseBytes: z._default(z.nullable(z.int()), null),
  /** The meter's reading, including the provider's raw usage: enough to price the request again. */
  reading: z._default(z.nullable(readingSchema), null),
  /** The reading was larger than a record may hold, so the provider's raw usage and billableItems were left out. */
  readingTruncated: z._default(z.boolean(), false),
  usage: z._default(z.nullable(usageSchema), null),
  costNanoUsd: z._default(z.nullable(z.int().check(z.nonnegative())), null),
  /** The cost at list prices where own prices make it another one; null where it is unknown. Absent: as `costNanoUsd`. See `listCostOf`. */
  listCostNanoUsd: z.optional(z.nullable(z.int().check(z.nonnegative()))),
  /** The part of the cost that no provider is paid: an own price of the kind `markup` added it. Absent: none. */
  markupNanoUsd: z.optional(z.int().check(z.nonnegative())),
  /** The own prices that led from the list price to the cost. */
  ownPrices: z.optional(appliedPricesSchema),
  provenance: oneOf<Provenance>(),
  priceSource: z._default(z.nullable(z.string()), null),
  /** Version of the price book: a number of the price feed, or `bundled`. Null where no book was used, and before records kept it. */
  priceVersion: z._default(z.nullable(z.string()), null),
  /** How sure the list price is. Absent where no book was used, and before records kept it. */
  priceEvidence: z.optional(
    z.object({ sources: z.record(z.string(), z.nullable(z.string())), agree: z.nullable(z.boolean()) }),
  ),
  /** Where the usage is estimated: the list prices between which it lies in nine of ten cases. Absent otherwise, and before records kept it. */
  estimateRange: z.optional(z.object({ leastNanoUsd: count, mostNanoUsd: count })),
  lines: z._default(z.array(priceLineSchema), []),
  reason: z._default(z.nullable(z.string()), null),
  /** The request that the same response was counted with, where it was fetched again. This request is then free. */
  repeatOf: z._default(z.nullable(z.string()), null),
  /** The overflow level that the request was counted at: see dimensions.ts. 0 keeps all dimensions. */
  overflowLevel: z._default(z.int().check(z.nonnegative()), 0),
  /** Dimensions that kept their value at this level, because an alert rule named them. */
  keptDimensions: z.optional(z.array(z.enum(crossDimensionNames))),
  /** By name, the allocation dimensions that the request was counted under. Its counters are corrected under these, whatever is declared by then. */
  allocations: z._default(z.record(z.string(), allocationSchema), {}),
  /** The limits of each, and their values, that the request counts under: see limits/each.ts. */
  countedFor: z._default(
    z.array(
      z.object({
        budgetId: z.string(),
        periodId: z.string(),
        value: z._default(z.nullable(z.string()), null),
        /** The limit counts this where the cost is unknown. */
        unknownNanoUsd: z._default(z.int(), 0),
      }),
    ),
    [],
  ),
  /** The amounts that limits (except those of each) reserved for it. Absent if none did, and in records of earlier versions. */
  reservations: z.optional(z.array(z.looseObject({ budgetId: z.string(), nanoUsd: z.int() }))),
  recordedAt: z.iso.datetime(),
  /** Epoch seconds after which the record may be gone. */
  expiresAt: z.int(),
  /** Which shard of its day holds it, in a sharded month; absent for shard 0. Part of its key. */
  shard: z.optional(z.int()),
});

/** How a request was counted under an allocation dimension. */
export type Allocation = z.infer<typeof allocationSchema>;
export type RequestRecord = z.infer<typeof requestRecordSchema>;

/**
 * The model that a request is billed under: the one that served it, since providers bill by that (`gpt-4o-2024-08-06` where the request
 * names `gpt-4o`), else the requested one. The record keeps both.
 */
export const modelOf = (record: Pick<RequestRecord, 'reading'>): string | null =>
  record.reading?.modelServed ?? record.reading?.modelRequested ?? null;

/** The cost of a request at list prices, in nano-USD; null where it is unknown. */
export const listCostOf = ({ costNanoUsd, listCostNanoUsd }: Pick<RequestRecord, 'costNanoUsd' | 'listCostNanoUsd'>) =>
  listCostNanoUsd === undefined ? costNanoUsd : listCostNanoUsd;

/** The provider refused, failed, or interrupted its response. A client that disconnects is no error, and neither is an unknown end. */
export const isError = (record: Pick<RequestRecord, 'outcome' | 'status'>): boolean =>
  (record.status !== null && record.status >= 400) ||
  record.outcome === 'upstream_aborted' ||
  record.outcome === 'unreachable';

/**
 * The request has a cost, or the provider accepted it and its cost is not known. Requests that are free, refused, or whose status nobody
 * saw cost their sender nothing.
 */
export const mayCost = ({
  costNanoUsd,
  listCostNanoUsd,
  provenance,
  status,
}: Pick<RequestRecord, 'costNanoUsd' | 'listCostNanoUsd' | 'provenance' | 'status'>): boolean =>
  (costNanoUsd ?? 0) > 0 || (listCostNanoUsd ?? 0) > 0 || (provenance === 'unknown' && status !== null && status < 400);

/** The retention of a record starts when it is recorded, which may be two weeks after the request. */
const LONGEST_KEPT_MS = (Math.max(...Object.values(plans).map((plan) => plan.requestRetentionDays)) + 15) * DAY_MS;

/** Cuts a range to the days that can have records. Each day costs a read, and a range may cover thousands of years. */
export const keptRange = ({ from, to }: { readonly from: string; readonly to: string }, now: Date) => {
  const iso = (ms: number) => new Date(ms).toISOString();
  const [earliest, latest] = [iso(now.getTime() - LONGEST_KEPT_MS), iso(now.getTime() + DAY_MS)];
  return { from: from < earliest ? earliest : from, to: to > latest ? latest : to };
};
