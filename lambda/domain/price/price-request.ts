import { costNanoUsd } from '../money.ts';
import { normalizeUsage } from '../usage/normalize.ts';
import type { PricedUsage, Usage } from '../usage.ts';
import type { CloseEvent } from '../usage-event.ts';
import { charge, lineOf } from './charge.ts';
import { genaiPrices } from './genai-prices.ts';
import type { PricedModel } from './rates.ts';

export type PriceableRequest = Pick<CloseEvent, 'provider' | 'method' | 'path' | 'status' | 'startedAt' | 'reading'>;

/** Why a cost is unknown or estimated: the whole list, for people. */
export const reasons = {
  noUsage: 'The provider reported no usage and none could be estimated.',
  noAnswer: 'The provider did not answer, and may have charged all the same.',
  cutWithoutUsage: 'The answer broke off before its usage was reported.',
  noModel: 'Neither the request nor the answer names a model.',
  noPrice: 'No price is known for this model.',
  noRate: 'Something this request used has no known price.',
  cut: 'The answer broke off: usage may be too low.',
  estimatedUsage: 'The provider reported no usage: it was counted from the visible text.',
} as const;

const unknown = (usage: Usage | null, reason: string): PricedUsage => ({
  usage,
  costNanoUsd: null,
  provenance: 'unknown',
  priceSource: null,
  lines: [],
  reason,
});

const free = (usage: Usage | null): PricedUsage => ({
  usage,
  costNanoUsd: 0,
  provenance: 'free',
  priceSource: null,
  lines: [],
  reason: null,
});

const findModel = (request: PriceableRequest, inputTokens: number): PricedModel | null => {
  const { modelAnswered, modelRequested } = request.reading;
  for (const model of [modelAnswered, modelRequested]) {
    if (!model) continue;
    const found = genaiPrices({
      provider: request.provider,
      model: model.toLowerCase().replace(/^models\//, ''),
      at: new Date(request.startedAt),
      inputTokens,
    });
    if (found) return found;
  }
  return null;
};

/** True where the provider charges nothing for such a call: by its kind, or because the provider refused it. */
const isFree = ({ method, status, reading }: PriceableRequest): boolean =>
  reading.dialect === 'free' || (status !== null && status >= 400) || (method !== 'POST' && reading.complete);

/**
 * The price of one request from what the meter read of it. Pure and synchronous; never throws: what lies is clamped, what is
 * missing makes the cost unknown.
 */
export const priceRequest = (request: PriceableRequest): PricedUsage => {
  const { reading } = request;
  const usage = normalizeUsage(request.provider, reading);
  if (!usage) {
    if (isFree(request)) return free(null);
    if (request.status === null) return unknown(null, reasons.noAnswer);
    return unknown(null, reading.complete ? reasons.noUsage : reasons.cutWithoutUsage);
  }
  if (usage.providerCostNanoUsd !== null) {
    return {
      usage,
      costNanoUsd: usage.providerCostNanoUsd,
      provenance: 'provider',
      priceSource: null,
      lines: [],
      reason: null,
    };
  }
  if (reading.dialect === 'free') return free(usage);
  if (!reading.modelAnswered && !reading.modelRequested) return unknown(usage, reasons.noModel);
  const model = findModel(request, usage.inputTokens);
  if (!model) return unknown(usage, reasons.noPrice);
  const { charges, unpriced } = charge(usage, model.rates);
  if (unpriced.length > 0) return unknown(usage, reasons.noRate);
  const isEstimate = reading.usageSource === 'estimated' || !reading.complete;
  return {
    usage,
    costNanoUsd: costNanoUsd(charges),
    provenance: isEstimate ? 'estimated' : 'computed',
    priceSource: model.source,
    lines: charges.map(lineOf),
    reason: !isEstimate ? null : reading.usageSource === 'estimated' ? reasons.estimatedUsage : reasons.cut,
  };
};
