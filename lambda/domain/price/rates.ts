import type { AttoUsd } from '../money.ts';
import type { UnitName } from '../usage/usage.ts';

/** Kinds of tokens that can have a rate. A kind without one is charged as the kind it is part of. */
export const tokenKinds = [
  'input',
  'cacheRead',
  'cacheWrite',
  'cacheWrite1h',
  'cacheWrite12h',
  'inputAudio',
  'cacheReadAudio',
  'inputImage',
  'cacheReadImage',
  'inputVideo',
  'output',
  'reasoning',
  'outputAudio',
  'outputImage',
  'outputVideo',
] as const;

export type TokenKind = (typeof tokenKinds)[number];
export type RateKind = TokenKind | UnitName;

/** The rates of one model at one time for one prompt size, in atto-USD for each token or unit. */
export type Rates = Readonly<Partial<Record<RateKind, AttoUsd>>>;

/** How a model was found, the surest first: by its name, as a version of a listed model, or by a pattern that may mean other models. */
const matchKinds = ['name', 'version', 'pattern'] as const;
export type MatchKind = (typeof matchKinds)[number];

export const surest = (kinds: readonly (MatchKind | null | undefined)[]): MatchKind | null =>
  matchKinds.find((kind) => kinds.includes(kind)) ?? null;

/** A price of one source. */
export interface SourcePrice {
  /** Source and entry, `genai-prices:openai/gpt-4o`. */
  readonly source: string;
  readonly match: MatchKind;
  readonly rates: Rates;
}

interface PricedModel extends SourcePrice {
  /** Version of the price book: the number of one that the price feed stored, `bundled` for the prices in the code. */
  readonly version: string;
}

export interface PriceQuery {
  /** Gateway label of the provider. */
  readonly provider: string;
  /** Lower case. */
  readonly model: string;
  readonly at: Date;
  /** Whole input of the request: long prompts cost more with some models. */
  readonly inputTokens: number;
}

/** Looks a model up in one source; null where it does not have it. Never throws. */
export type PriceLookup = (query: PriceQuery) => SourcePrice | null;

/** Looks a model up in all sources; null where none has it. Never throws. */
export type PriceBook = (query: PriceQuery) => PricedModel | null;

/** USD per million tokens, by kind. */
export type TokenPrices = Readonly<Partial<Record<TokenKind, number>>>;

/** Prices of one model; prompts of more than 200,000 tokens have those of `over200k`. */
export interface ModelTokenPrices extends TokenPrices {
  readonly over200k?: TokenPrices;
}

/** A model of a list. `earlier` has what its price was: oldest first, each until its first instant (ISO 8601) that it no longer holds at. */
export interface ListedTokenPrices extends ModelTokenPrices {
  readonly earlier?: readonly { readonly until: string; readonly prices: ModelTokenPrices }[];
}

/** USD per million tokens, by gateway label and model id in lower case. */
export type TokenPriceList = Readonly<Record<string, Readonly<Record<string, ListedTokenPrices>>>>;
