import { type DisplayCurrency, displayCostAt } from '../../domain/spend/display-currency.ts';
import { listCostOf, modelOf, type RequestRecord } from '../../domain/spend/request-record.ts';
import { listMoneyOf, moneyOf } from '../../domain/spend/spend-report.ts';
import type { AppliedPrices, PriceLine } from '../../domain/usage/usage.ts';

/** A request as lists show it. The schema leaves out what a list does not show. */
export const requestSummary = (record: RequestRecord, currency: DisplayCurrency | null) => ({
  ...record,
  model: modelOf(record),
  key: record.keyId,
  isConfirmedLate: record.isConfirmedLate === true,
  streamed: record.reading?.streamed ?? null,
  inputTokens: record.usage?.inputTokens ?? null,
  outputTokens: record.usage?.outputTokens ?? null,
  ...moneyOf(record.costNanoUsd),
  ...listMoneyOf(listCostOf(record)),
  ...(currency && {
    displayCost: displayCostAt(currency, record.startedAt, record.costNanoUsd),
    displayCurrency: currency.code,
  }),
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
export const requestView = (record: RequestRecord, currency: DisplayCurrency | null) => ({
  ...requestSummary(record, currency),
  modelRequested: record.reading?.modelRequested ?? null,
  modelServed: record.reading?.modelServed ?? null,
  serviceTier: record.reading?.serviceTier ?? null,
  usageSource: record.reading?.usageSource ?? null,
  usageComplete: record.reading?.complete ?? null,
  usage: record.usage && { ...record.usage },
  rawUsage: record.reading?.usage ?? null,
  priceEvidence: record.priceEvidence ?? null,
  estimateRange: record.estimateRange ?? null,
  lines: [...record.lines],
  ownPrices: record.ownPrices ? appliedView(record.ownPrices, record.lines) : null,
});
