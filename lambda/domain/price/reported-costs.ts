import { modelOf, type RequestRecord } from '../spend/request-record.ts';
import { priceRequest } from './price-request.ts';
import type { PriceBook } from './rates.ts';
import type { PriceableRequest } from './request-rates.ts';

/** Costs of a model over some time: those that its provider reported, and those by the price book. */
export interface ReportedCosts {
  readonly provider: string;
  readonly model: string;
  readonly requests: number;
  readonly reportedNanoUsd: number;
  readonly bookNanoUsd: number;
}

/** The cost of a request that its provider reported, next to the cost by the book; null where there is no such pair. */
export const reportedCostsOf = (record: RequestRecord, findPrice: PriceBook): ReportedCosts | null => {
  const { provider, provenance, usage, reading, outcome } = record;
  const model = modelOf(record);
  const reportedNanoUsd = usage?.providerCostNanoUsd;
  if (provenance !== 'provider' || !reading || model === null || !reportedNanoUsd || outcome !== 'completed')
    return null;
  const { cost: _cost, cost_in_usd_ticks: _ticks, ...byTokens } = reading.usage ?? {};
  const silent = { ...record, reading: { ...reading, usage: byTokens } } as PriceableRequest;
  const { costNanoUsd } = priceRequest(silent, findPrice);
  return costNanoUsd === null
    ? null
    : { provider, model: model.toLowerCase(), requests: 1, reportedNanoUsd, bookNanoUsd: costNanoUsd };
};

const MAX_DRIFT = 0.01;
/** Fewer requests, or less money, prove nothing, because providers round. */
const MIN_REQUESTS = 10;
const MIN_NANO_USD = 1e7;

/** How far the book is from what the provider charged, as a share of the latter; null where it is near, or too little is known. */
export const driftOf = ({ requests, reportedNanoUsd, bookNanoUsd }: ReportedCosts): number | null => {
  if (requests < MIN_REQUESTS || reportedNanoUsd < MIN_NANO_USD) return null;
  const drift = (bookNanoUsd - reportedNanoUsd) / reportedNanoUsd;
  return Math.abs(drift) > MAX_DRIFT ? drift : null;
};
