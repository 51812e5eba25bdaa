import type { AttoUsd } from '../money.ts';
import type { UnitName } from '../usage/usage.ts';

/** Kinds of tokens that can have a rate. A kind without one is charged as the kind it is part of. */
export const tokenKinds = [
  'input',
  'cacheRead',
  'cacheWrite',
  'cacheWrite1h',
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

export interface PricedModel {
  /** Book and entry, `genai-prices:openai/gpt-4o`. */
  readonly source: string;
  readonly rates: Rates;
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

/** Looks a model up; null where the book does not have it. Never throws. */
export type PriceBook = (query: PriceQuery) => PricedModel | null;

/** USD per million tokens, by kind. */
export type TokenPrices = Readonly<Partial<Record<TokenKind, number>>>;

/** USD per million tokens, by gateway label and model id in lower case. */
export type TokenPriceList = Readonly<
  Record<string, Readonly<Record<string, TokenPrices & { over200k?: TokenPrices }>>>
>;
