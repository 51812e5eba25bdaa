import { calcPrice, findProvider, type ModelInfo, type ModelPrice, type Provider } from '@pydantic/genai-prices';
import { MINUTE_MS } from '../calendar/units.ts';
import { type AttoUsd, attoUsdPerUnit } from '../money.ts';
import { providerByLabel, providers } from '../providers.ts';
import type { PriceLookup, RateKind, Rates, SourcePrice } from './rates.ts';

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

/** A model of the list. Where its price changed and the list does not say when, `earlier` has what it was. */
export interface ListedModel extends ModelInfo {
  /** Oldest first. `until` is the first instant (ISO 8601) at which the prices no longer hold. */
  readonly earlier?: readonly { readonly until: string; readonly prices: ModelInfo['prices'] }[];
}

/** What pricing reads of a provider in the data of genai-prices. */
interface ListedProvider extends Provider {
  models: ListedModel[];
}

/** By gateway label. */
export type GenaiPriceList = Readonly<Partial<Record<string, ListedProvider>>>;

const withoutTexts = ({ id, name, fallback_model_providers: fallback }: Provider) => ({
  id,
  name,
  api_pattern: '',
  ...(fallback && { fallback_model_providers: fallback }),
});

/** The list in the installed package. */
export const bundledGenaiPrices: GenaiPriceList = Object.fromEntries(
  providers.flatMap(({ label }) => {
    const found = findProvider({ providerId: genaiProviderId(label) });
    if (!found) return [];
    // Without descriptions: the price feed stores the list.
    const models = found.models.map(({ id, match, prices }) => ({ id, match, prices }));
    return [[label, { ...withoutTexts(found), models }]];
  }),
);

/** The price of one model at one time, by the whole input of a request. */
type PriceOfSize = (inputTokens: number) => SourcePrice | null;

/** The provider as it was, for a model whose price changed since. */
const before = (provider: ListedProvider, model: ListedModel, at: Date): ListedProvider | null => {
  const prices = model.earlier?.find(({ until }) => at < new Date(until))?.prices;
  return prices ? { ...provider, models: [{ ...model, prices }] } : null;
};

const lookUp = (provider: ListedProvider | undefined, name: string, timestamp: Date): PriceOfSize => {
  let found = provider && calcPrice({}, name, { provider, timestamp });
  const earlier = provider && found && before(provider, found.model, timestamp);
  if (earlier) found = calcPrice({}, name, { provider: earlier, timestamp });
  if (!provider || !found) return () => null;
  const { model, model_price } = found;
  const priced: PriceOfSize = (inputTokens) => {
    const rates = ratesOf(model.id, model_price, inputTokens);
    return Object.keys(rates).length === 0 ? null : { source: `genai-prices:${provider.id}/${model.id}`, rates };
  };
  if (Object.values(model_price).some((price) => typeof price === 'object')) return priced;
  const ofAnySize = priced(0);
  return () => ofAnySize;
};

const MAX_REMEMBERED = 1_000;

/**
 * The first source: `@pydantic/genai-prices` finds the model and its prices at a time. The arithmetic is ours, since it is exact.
 *
 * Remembers what it found by the list's patterns of names: the events of a batch have the same few models. Prices may change with the
 * day, hour and minute.
 */
export const openGenaiPrices = (list: GenaiPriceList): PriceLookup => {
  const remembered = new Map<string, PriceOfSize>();
  return ({ provider, model, at, inputTokens }) => {
    const key = `${provider} ${Math.floor(at.getTime() / MINUTE_MS)} ${model}`;
    let priceOfSize = remembered.get(key);
    if (!priceOfSize) {
      try {
        priceOfSize = lookUp(Object.hasOwn(list, provider) ? list[provider] : undefined, model, at);
      } catch {
        return null;
      }
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      remembered.set(key, priceOfSize);
    }
    return priceOfSize(inputTokens);
  };
};
