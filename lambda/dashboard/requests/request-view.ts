import { listCostOf, modelOf, type RequestRecord } from '../../domain/spend/request-record.ts';
import { listMoneyOf, moneyOf } from '../../domain/spend/spend-report.ts';
import type { AppliedPrices, PriceLine } from '../../domain/usage/usage.ts';

/** A request as lists show it. */
export const requestSummary = (record: RequestRecord) => ({
  requestId: record.requestId,
  startedAt: record.startedAt,
  provider: record.provider,
  model: modelOf(record),
  tag: record.tag,
  key: record.keyId,
  providerKey: record.providerKey,
  method: record.method,
  path: record.path,
  route: record.route,
  isConfirmedLate: record.isConfirmedLate === true,
  outcome: record.outcome,
  blockedBy: record.blockedBy,
  status: record.status,
  streamed: record.reading?.streamed ?? null,
  ttfbMs: record.ttfbMs,
  totalMs: record.totalMs,
  inputTokens: record.usage?.inputTokens ?? null,
  outputTokens: record.usage?.outputTokens ?? null,
  ...moneyOf(record.costNanoUsd),
  ...listMoneyOf(listCostOf(record)),
  provenance: record.provenance,
  client: record.client,
  session: record.session && { ...record.session },
  metadata: record.metadata,
});

/** How own prices led to the cost, step by step and line by line. */
const appliedView = ({ steps, lines, isProvisional }: AppliedPrices, listLines: readonly PriceLine[]) => {
  const factor = steps.reduce((product, step) => product * Number(step.factor ?? 1), 1);
  return {
    steps: steps.map(({ priceId, kind, factor }) => ({ priceId, kind, factor: factor ?? null })),
    lines: (lines ?? listLines).map(({ rateNanoUsdPerUnit, ...line }) => ({
      ...line,
      rateNanoUsdPerUnit: rateNanoUsdPerUnit * factor,
    })),
    isProvisional: isProvisional ?? false,
  };
};

/** A request with all its details. */
export const requestView = (record: RequestRecord) => ({
  ...requestSummary(record),
  modelRequested: record.reading?.modelRequested ?? null,
  modelServed: record.reading?.modelServed ?? null,
  serviceTier: record.reading?.serviceTier ?? null,
  tagTruncated: record.tagTruncated,
  metadataTruncated: record.metadataTruncated,
  requestBytes: record.requestBytes,
  responseBytes: record.responseBytes,
  usageSource: record.reading?.usageSource ?? null,
  usageComplete: record.reading?.complete ?? null,
  usage: record.usage && { ...record.usage },
  rawUsage: record.reading?.usage ?? null,
  priceSource: record.priceSource,
  priceVersion: record.priceVersion,
  priceEvidence: record.priceEvidence ?? null,
  estimateRange: record.estimateRange ?? null,
  lines: [...record.lines],
  ownPrices: record.ownPrices ? appliedView(record.ownPrices, record.lines) : null,
  reason: record.reason,
  repeatOf: record.repeatOf,
  recordedAt: record.recordedAt,
});
