import { calcPrice, type ModelPrice } from '@pydantic/genai-prices';
import { MINUTE_MS } from '../calendar/units.ts';
import { type AttoUsd, attoUsdPerUnit } from '../money.ts';
import { providerByLabel } from '../providers.ts';
import type { PriceBook, PricedModel, RateKind, Rates } from './rates.ts';

/** The book's id of a provider, by gateway label. */
export const genaiProviderId = (provider: string): string =>
  providerByLabel(provider)?.priceIds.genaiPrices ?? provider;

/** The rate of each of the book's price keys, and the number of units it is quoted for. */
const priceKeys: Readonly<Record<string, readonly [RateKind, per: number]>> = {
  input_mtok: ['input', 1e6],
  output_mtok: ['output', 1e6],
  cache_read_mtok: ['cacheRead', 1e6],
  cache_write_mtok: ['cacheWrite', 1e6],
  cache_write_1h_mtok: ['cacheWrite1h', 1e6],
  output_reasoning_mtok: ['reasoning', 1e6],
  output_citation_mtok: ['citationTokens', 1e6],
  input_audio_mtok: ['inputAudio', 1e6],
  cache_audio_read_mtok: ['cacheReadAudio', 1e6],
  output_audio_mtok: ['outputAudio', 1e6],
  input_image_mtok: ['inputImage', 1e6],
  cache_image_read_mtok: ['cacheReadImage', 1e6],
  output_image_mtok: ['outputImage', 1e6],
  input_video_mtok: ['inputVideo', 1e6],
  output_video_mtok: ['outputVideo', 1e6],
  input_audio_hours: ['audioSeconds', 3600],
  web_searches_kcount: ['webSearches', 1e3],
  storage_searches_kcount: ['fileSearches', 1e3],
  requests_kcount: ['requests', 1e3],
  input_document_kpages: ['pages', 1e3],
  input_annotated_document_kpages: ['annotatedPages', 1e3],
};

/** The price of a prompt size. Where prices have steps, the whole request has the price of its step. */
const stepFor = (price: ModelPrice[string], inputTokens: number): number | undefined => {
  if (typeof price !== 'object') return price;
  let usd = price.base;
  for (const { start, price: higher } of [...price.tiers].sort((a, b) => a.start - b.start)) {
    if (inputTokens > start) usd = higher;
  }
  return usd;
};

/** Without rates the price is unknown, unless the id ends in `:free`. */
const ratesOf = (id: string, price: ModelPrice, inputTokens: number): Rates => {
  const rates: Partial<Record<RateKind, AttoUsd>> = id.endsWith(':free') ? { input: 0n, output: 0n } : {};
  for (const [key, [kind, per]] of Object.entries(priceKeys)) {
    const usd = stepFor(price[key], inputTokens);
    if (usd !== undefined) rates[kind] = attoUsdPerUnit(usd, per);
  }
  return rates;
};

/** The price of one model at one time, by the whole input of a request. */
type PriceOfSize = (inputTokens: number) => PricedModel | null;

const lookUp = (providerId: string, model: string, timestamp: Date): PriceOfSize => {
  const found = calcPrice({}, model, { providerId, timestamp });
  if (!found) return () => null;
  const { id } = found.model;
  const priced: PriceOfSize = (inputTokens) => {
    const rates = ratesOf(id, found.model_price, inputTokens);
    return Object.keys(rates).length === 0 ? null : { source: `genai-prices:${providerId}/${id}`, rates };
  };
  if (Object.values(found.model_price).some((price) => typeof price === 'object')) return priced;
  const ofAnySize = priced(0);
  return () => ofAnySize;
};

const MAX_REMEMBERED = 1_000;
const remembered = new Map<string, PriceOfSize>();

/**
 * Finds a model by the book's patterns of names, and remembers it: the events of a batch have the same few models. Prices may
 * change with the day, hour and minute.
 */
const find = (providerId: string, model: string, timestamp: Date): PriceOfSize => {
  const key = `${providerId} ${Math.floor(timestamp.getTime() / MINUTE_MS)} ${model}`;
  const known = remembered.get(key);
  if (known !== undefined) return known;
  const found = lookUp(providerId, model, timestamp);
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  remembered.set(key, found);
  return found;
};

/** The first book: `@pydantic/genai-prices` finds the model and its prices at a time. The arithmetic is ours, since it is exact. */
export const genaiPrices: PriceBook = ({ provider, model, at, inputTokens }) => {
  try {
    return find(genaiProviderId(provider), model, at)(inputTokens);
  } catch {
    return null;
  }
};
