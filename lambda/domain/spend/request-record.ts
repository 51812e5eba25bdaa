import * as z from 'zod';
import { providerLabels } from '../providers.ts';
import { type PriceLine, provenances, type Usage, unitNames } from '../usage.ts';
import { closeEventSchema, outcomes } from '../usage-event.ts';

const count = z.number().int().nonnegative().default(0);
const countOrNull = z.number().int().nonnegative().nullable().default(null);

/** The stored form of a usage: zeros and nulls may be left out. */
const usageSchema: z.ZodType<Usage> = z.object({
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
  units: z.partialRecord(z.enum(unitNames), z.number().nonnegative()).default({}),
  providerCostNanoUsd: countOrNull,
});

const priceLineSchema: z.ZodType<PriceLine> = z.object({
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
  revision: z.number().int().positive(),
  requestId: z.string(),
  accountId: z.string(),
  /** Id of the service key used, never the key. */
  keyId: z.string().nullable().default(null),
  provider: z.enum(providerLabels),
  /** Keyed fingerprint of the provider credential. */
  providerKey: z.string().nullable().default(null),
  tag: z.string().nullable().default(null),
  tagTruncated: z.boolean().default(false),
  method: z.string(),
  path: z.string(),
  /** ISO 8601 UTC. Its day and hour are those the request is counted in. */
  startedAt: z.iso.datetime(),
  outcome: z.enum(outcomes),
  /** Null while the outcome is `unknown`, as are the next five. */
  route: z.enum(['governed', 'bypassed']).nullable().default(null),
  /** Also null when the provider never answered. */
  status: z.number().int().nullable().default(null),
  ttfbMs: z.number().nullable().default(null),
  totalMs: z.number().nullable().default(null),
  requestBytes: z.number().int().nullable().default(null),
  responseBytes: z.number().int().nullable().default(null),
  /** What the meter read, the provider's raw usage included: enough to price the request again. */
  reading: closeEventSchema.shape.reading.nullable().default(null),
  /** The reading was larger than a record may hold: the provider's raw usage and extras were left out. */
  readingTruncated: z.boolean().default(false),
  usage: usageSchema.nullable().default(null),
  costNanoUsd: z.number().int().nonnegative().nullable().default(null),
  provenance: z.enum(provenances),
  priceSource: z.string().nullable().default(null),
  lines: z.array(priceLineSchema).default([]),
  reason: z.string().nullable().default(null),
  /** The request that an answer fetched again was counted with: this one is then free. */
  repeatOf: z.string().nullable().default(null),
  /** How far the dimensions were folded when it was counted: see dimensions.ts. 0 is not at all. */
  foldLevel: z.number().int().nonnegative().default(0),
  recordedAt: z.iso.datetime(),
  /** Epoch seconds after which the record may be gone. */
  expiresAt: z.number().int(),
});

export type RequestRecord = z.infer<typeof requestRecordSchema>;

/**
 * The model a request is billed under: the one that answered, since that is what providers bill by (`gpt-4o-2024-08-06`
 * for `gpt-4o` asked), else the one asked for. The record keeps both.
 */
export const modelOf = (record: Pick<RequestRecord, 'reading'>): string | null =>
  record.reading?.modelAnswered ?? record.reading?.modelRequested ?? null;

/** The provider refused, failed, or broke off. A client that leaves is no error of the provider's, and a lost end is not known to be one. */
export const isError = (record: Pick<RequestRecord, 'outcome' | 'status'>): boolean =>
  (record.status !== null && record.status >= 400) ||
  record.outcome === 'upstream_aborted' ||
  record.outcome === 'unreachable';
