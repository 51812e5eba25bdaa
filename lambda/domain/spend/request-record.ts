import * as z from 'zod/mini';
import { providerLabels } from '../providers.ts';
import { type PriceLine, provenances, type Usage, unitNames } from '../usage/usage.ts';
import { closeEventSchema, outcomes } from '../usage/usage-event.ts';

const count = z._default(z.int().check(z.nonnegative()), 0);
const countOrNull = z._default(z.nullable(z.int().check(z.nonnegative())), null);

/** The stored form of a usage: zeros and nulls may be left out. */
const usageSchema: z.ZodMiniType<Usage> = z.object({
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  cacheWrite1hTokens: count,
  reasoningTokens: count,
  inputAudioTokens: count,
  outputAudioTokens: count,
  inputImageTokens: count,
  outputImageTokens: count,
  inputVideoTokens: count,
  outputVideoTokens: count,
  cacheReadAudioTokens: count,
  cacheReadImageTokens: count,
  billedInputTokens: countOrNull,
  billedOutputTokens: countOrNull,
  units: z._default(z.partialRecord(z.enum(unitNames), z.number().check(z.nonnegative())), {}),
  providerCostNanoUsd: countOrNull,
});

const priceLineSchema: z.ZodMiniType<PriceLine> = z.object({
  kind: z.string(),
  quantity: z.number(),
  rateNanoUsdPerUnit: z.number(),
});

/**
 * One tracked request as it stands in the ledger. The sums of the spend cells are the sums of what records contribute
 * (contribution.ts), always.
 */
export const requestRecordSchema = z.object({
  /** Counts the writes of this record, from 1: who changes a record says which revision was read. */
  revision: z.int().check(z.positive()),
  requestId: z.string(),
  accountId: z.string(),
  /** Id of the service key used, never the key. */
  keyId: z._default(z.nullable(z.string()), null),
  provider: z.enum(providerLabels),
  /** Keyed fingerprint of the provider credential. */
  providerKey: z._default(z.nullable(z.string()), null),
  tag: z._default(z.nullable(z.string()), null),
  tagTruncated: z._default(z.boolean(), false),
  method: z.string(),
  path: z.string(),
  /** ISO 8601 UTC. Its day and hour are those the request is counted in. */
  startedAt: z.iso.datetime(),
  outcome: z.enum(outcomes),
  /** Null while the outcome is `unknown`, as are the next five. */
  route: z._default(z.nullable(z.enum(['governed', 'bypassed'])), null),
  /** Also null when the provider never answered. */
  status: z._default(z.nullable(z.int()), null),
  ttfbMs: z._default(z.nullable(z.number()), null),
  totalMs: z._default(z.nullable(z.number()), null),
  requestBytes: z._default(z.nullable(z.int()), null),
  responseBytes: z._default(z.nullable(z.int()), null),
  /** What the meter read, the provider's raw usage included: enough to price the request again. */
  reading: z._default(z.nullable(closeEventSchema.shape.reading), null),
  /** The reading was larger than a record may hold: the provider's raw usage and billableItems were left out. */
  readingTruncated: z._default(z.boolean(), false),
  usage: z._default(z.nullable(usageSchema), null),
  costNanoUsd: z._default(z.nullable(z.int().check(z.nonnegative())), null),
  provenance: z.enum(provenances),
  priceSource: z._default(z.nullable(z.string()), null),
  lines: z._default(z.array(priceLineSchema), []),
  reason: z._default(z.nullable(z.string()), null),
  /** The request that an answer fetched again was counted with: this one is then free. */
  repeatOf: z._default(z.nullable(z.string()), null),
  /** How far the dimensions were folded when it was counted: see dimensions.ts. 0 is not at all. */
  overflowLevel: z._default(z.int().check(z.nonnegative()), 0),
  recordedAt: z.iso.datetime(),
  /** Epoch seconds after which the record may be gone. */
  expiresAt: z.int(),
});

export type RequestRecord = z.infer<typeof requestRecordSchema>;

/**
 * The model a request is billed under: the one that answered, since that is what providers bill by (`gpt-4o-2024-08-06`
 * for `gpt-4o` asked), else the one asked for. The record keeps both.
 */
export const modelOf = (record: Pick<RequestRecord, 'reading'>): string | null =>
  record.reading?.modelServed ?? record.reading?.modelRequested ?? null;

/** The provider refused, failed, or broke off. A client that leaves is no error of the provider's, and a lost end is not known to be one. */
export const isError = (record: Pick<RequestRecord, 'outcome' | 'status'>): boolean =>
  (record.status !== null && record.status >= 400) ||
  record.outcome === 'upstream_aborted' ||
  record.outcome === 'unreachable';
