import { type AttoUsd, attoUsdPerUnit } from '../money.ts';
import type { PriceLookup, RateKind, TokenKind, TokenPriceList, TokenPrices } from './rates.ts';

/** Prompts of more tokens than this have the prices `over200k`. */
export const SECOND_BOOK_LIMIT = 200_000;
const TOKENS_PER_PRICE = 1e6;

/** Token prices of models.dev, or of a package with them. */
export interface SecondPriceList {
  /** In the `priceSource` of records. */
  readonly name: string;
  readonly prices: TokenPriceList;
}

/** The second source: finds models by their exact id. */
export const openSecondPrices =
  ({ name, prices }: SecondPriceList): PriceLookup =>
  ({ provider, model, at, inputTokens }) => {
    const models = prices[provider];
    const listed = models && Object.hasOwn(models, model) ? models[model] : undefined;
    if (!listed) return null;
    const { earlier = [], ...current } = listed;
    const { over200k, ...base } = earlier.find(({ until }) => at < new Date(until))?.prices ?? current;
    const usd: TokenPrices = inputTokens > SECOND_BOOK_LIMIT ? { ...base, ...over200k } : base;
    const rates: Partial<Record<RateKind, AttoUsd>> = {};
    for (const [kind, rate] of Object.entries(usd) as [TokenKind, number][]) {
      // The same rate as the output's must not outlive an override of that.
      if (kind !== 'reasoning' || rate !== usd.output) rates[kind] = attoUsdPerUnit(rate, TOKENS_PER_PRICE);
    }
    return { source: `${name}:${provider}/${model}`, match: 'name', rates };
  };
