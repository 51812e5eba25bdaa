import type { ConditionalPrice, MatchLogic, ModelInfo, ModelPrice, Provider } from '@pydantic/genai-prices';
import { DAY_MS } from '../calendar/units.ts';
import { priced } from '../hosts.ts';
import { type AttoUsd, attoUsdPerUnit } from '../money.ts';
import { isVersionOf } from './model-names.ts';
import {
  type MatchKind,
  type PriceLookup,
  type RateKind,
  type Rates,
  type SourcePrice,
  seenSince,
  surest,
} from './rates.ts';

/** The book's id of a provider, by gateway label. */
export const genaiProviderId = (provider: string): string =>
  priced.find(({ label }) => label === provider)?.priceIds.genaiPrices ?? provider;

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
  /** When the price feed first saw the prices (ISO 8601). Absent for the list in the code. */
  readonly since?: string;
}

/** The part that pricing reads of a provider in the data of genai-prices. */
interface ListedProvider extends Provider {
  models: ListedModel[];
}

/** By gateway label. */
export type GenaiPriceList = Readonly<Partial<Record<string, ListedProvider>>>;

/** @param name in lower case */
const matches = (logic: MatchLogic, name: string): boolean => {
  if ('or' in logic) return logic.or.some((each) => matches(each, name));
  if ('and' in logic) return logic.and.every((each) => matches(each, name));
  if ('equals' in logic) return name === logic.equals.toLowerCase();
  if ('starts_with' in logic) return name.startsWith(logic.starts_with.toLowerCase());
  if ('ends_with' in logic) return name.endsWith(logic.ends_with.toLowerCase());
  if ('contains' in logic) return name.includes(logic.contains.toLowerCase());
  return new RegExp(logic.regex).test(name);
};

const conditionsOf = (logic: MatchLogic): MatchLogic[] => {
  if ('or' in logic) return logic.or.flatMap(conditionsOf);
  return 'and' in logic ? logic.and.flatMap(conditionsOf) : [logic];
};

/** How a model matches that does. The list has patterns for whole names where they are for the dates of versions. */
const matchKindOf = ({ id, match }: ListedModel, name: string): MatchKind => {
  const conditions = conditionsOf(match);
  const texts = [id, ...conditions.flatMap((each) => ('regex' in each ? [] : String(Object.values(each)[0])))];
  const listed = texts.map((text) => text.toLowerCase());
  if (listed.includes(name)) return 'name';
  const isDated = (each: MatchLogic) => 'regex' in each && /^\^.*\$$/.test(each.regex) && matches(each, name);
  return listed.some((text) => isVersionOf(name, text)) || conditions.some(isDated) ? 'version' : 'pattern';
};

/** A model with the way in which its name was found. */
interface Found {
  readonly model: ListedModel;
  readonly match: MatchKind;
}

const surestOf = (found: readonly Found[]): Found | undefined => {
  const match = surest(found.map((each) => each.match));
  return found.find((each) => each.match === match);
};

/** The first of the best matching models: those of the provider, else those of providers whose models it also offers. */
const matchingModel = (list: GenaiPriceList, provider: ListedProvider, name: string): Found | undefined => {
  const others = (provider.fallback_model_providers ?? []).flatMap(
    (id) => Object.values(list).find((other) => other?.id === id) ?? [],
  );
  const found = [provider, ...others].flatMap(({ models }) => {
    const matching = models.filter(({ match }) => matches(match, name));
    return surestOf(matching.map((model) => ({ model, match: matchKindOf(model, name) }))) ?? [];
  });
  return found.find(({ match }) => match !== 'pattern') ?? found[0];
};

/** `-20250805` → `-2025-08-05`: lists have either form of the date in a name. */
const withDashes = (name: string): string =>
  name.replace(/-(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)/g, '-$1-$2-$3');

const msOfDay = (time: string): number => (Date.parse(`1970-01-01T${time}`) + DAY_MS) % DAY_MS;

const holdsAt = (constraint: NonNullable<ConditionalPrice['constraint']>, at: Date): boolean => {
  if ('start_date' in constraint) return at >= new Date(constraint.start_date);
  const now = at.getTime() % DAY_MS;
  const [start, end] = [msOfDay(constraint.start_time), msOfDay(constraint.end_time)];
  // Past midnight where it ends earlier than it starts.
  return end < start ? now >= start || now < end : now >= start && now < end;
};

/** The last of the prices that hold. */
const pricesAt = (prices: ModelInfo['prices'], at: Date): ModelPrice | undefined =>
  Array.isArray(prices)
    ? (prices.findLast(({ constraint }) => !constraint || holdsAt(constraint, at)) ?? prices[0])?.prices
    : prices;

const findModel = (list: GenaiPriceList, provider: ListedProvider, name: string): Found | undefined =>
  surestOf([name, withDashes(name)].flatMap((each) => matchingModel(list, provider, each) ?? []));

/** @param inputTokens the whole input of a request */
const priceOfModel = (
  { model, match }: Found,
  provider: ListedProvider,
  at: Date,
  inputTokens: number,
): SourcePrice | null => {
  const earlier = model.earlier?.find(({ until }) => at < new Date(until));
  const price = pricesAt((earlier ?? model).prices, at);
  if (!price) return null;
  const rates = ratesOf(model.id, price, inputTokens);
  if (Object.keys(rates).length === 0) return null;
  return { source: `genai-prices:${provider.id}/${model.id}`, match, rates, since: seenSince(model, at) };
};

const MAX_REMEMBERED = 1_000;

/**
 * The first source. Finds the model and its prices at a time as `@pydantic/genai-prices` does, which a test compares, but a name before
 * patterns that may mean it. The package's own
 * function is in one module with all its data, half a megabyte, which would make most of each bundle. The arithmetic is ours, since it is
 * exact.
 *
 * Remembers which models it found by the list's patterns of names: the events of a batch have the same few.
 */
export const openGenaiPrices = (list: GenaiPriceList): PriceLookup => {
  const remembered = new Map<string, Found | undefined>();
  return ({ provider, model, at, inputTokens }) => {
    const listed = Object.hasOwn(list, provider) ? list[provider] : undefined;
    if (!listed) return null;
    const key = `${provider} ${model}`;
    try {
      if (!remembered.has(key)) {
        if (remembered.size >= MAX_REMEMBERED) remembered.clear();
        remembered.set(key, findModel(list, listed, model.trim()));
      }
      const found = remembered.get(key);
      return found ? priceOfModel(found, listed, at, inputTokens) : null;
    } catch {
      return null;
    }
  };
};
