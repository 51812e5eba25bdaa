import { usdToNanoUsd } from '../money.ts';
import { amountOf, at, type Raw } from './raw.ts';

/** 1 tick is 1e-10 USD. */
const TICKS_PER_NANO_USD = 10;

const xai = (raw: Raw): number | null => {
  const reported = raw['cost_in_usd_ticks'];
  // Not read by count(): a dollar has more ticks than its limit.
  const ticks = typeof reported === 'string' && /^\d{1,15}$/.test(reported) ? Number(reported) : reported;
  return typeof ticks === 'number' && Number.isFinite(ticks) && ticks >= 0
    ? Math.min(Math.round(ticks / TICKS_PER_NANO_USD), Number.MAX_SAFE_INTEGER)
    : null;
};

/**
 * `cost` is what OpenRouter charges. With the client's own provider key (BYOK) that is only its fee, mostly 0, and the provider
 * also charges `upstream_inference_cost`. Otherwise the two are the same and never added.
 * @see https://openrouter.ai/docs/use-cases/usage-accounting
 */
const openrouter = (raw: Raw): number | null => {
  const cost = amountOf(raw['cost']);
  const upstream = amountOf(at(raw, 'cost_details', 'upstream_inference_cost'));
  const isByok = raw['is_byok'] === true || (raw['is_byok'] === undefined && cost === 0 && (upstream ?? 0) > 0);
  if (isByok) return upstream === null ? null : usdToNanoUsd(upstream + (cost ?? 0));
  return cost === null ? null : usdToNanoUsd(cost);
};

/** Perplexity has no free calls: the first events of a stream have a total of 0, the last one has the cost. */
const perplexity = (raw: Raw): number | null => {
  const total = amountOf(at(raw, 'cost', 'total_cost'));
  return total === null || total === 0 ? null : usdToNanoUsd(total);
};

const readers: Readonly<Record<string, (raw: Raw) => number | null>> = { xai, openrouter, perplexity };

/** The cost that the provider reports, in nano-USD; null where it reports none. */
export const readProviderCost = (raw: Raw, provider: string): number | null =>
  Object.hasOwn(readers, provider) ? (readers[provider]?.(raw) ?? null) : null;
