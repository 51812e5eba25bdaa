import { type AttoUsd, attoUsdPerUnit } from '../money.ts';
import { PROMPT_SIZE_LIMITS } from '../usage/iterations.ts';
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

/** The rates that are listed as USD per million tokens, and as USD per unit. */
export const listedRates = (
  usdPerMtok: TokenPrices = {},
  usdEach: Readonly<Partial<Record<UnitName, number>>> = {},
): Rates =>
  Object.fromEntries([
    ...Object.entries(usdPerMtok).map(([kind, usd]) => [kind, attoUsdPerUnit(usd, 1_000_000)]),
    ...Object.entries(usdEach).map(([unit, usd]) => [unit, attoUsdPerUnit(usd)]),
  ]);

/** How a model was found, the surest first: by its name, as a version of a listed model, or by a pattern that may mean other models. */
const matchKinds = ['name', 'version', 'pattern'] as const;
export type MatchKind = (typeof matchKinds)[number];

export const surest = (kinds: readonly (MatchKind | null | undefined)[]): MatchKind | null =>
  matchKinds.find((kind) => kinds.includes(kind)) ?? null;

export interface SourcePrice {
  /** Source and entry, `genai-prices:openai/gpt-4o`. */
  readonly source: string;
  readonly match: MatchKind;
  readonly rates: Rates;
  /** When the price feed first saw this price there (ISO 8601). Absent for prices of the lists in the code. */
  readonly since?: string | undefined;
}

/** How sure a price is. */
export interface PriceEvidence {
  /** By source, the day of the list that was read; null where a list has none. */
  readonly sources: Readonly<Record<string, string | null>>;
  /** Whether the sources have the same price; null for one source alone. */
  readonly agree: boolean | null;
}

/** Why a price is not sure: only one source has it, a change of it waits, or the sources have changed since an override. */
export const priceDoubts = ['oneSource', 'changeWaits', 'overrideWaits'] as const;
export type PriceDoubt = (typeof priceDoubts)[number];

/** Sources round: 0.083333 is 0.25 / 3. */
const SAME_WITHIN = 0.01;

/** Whether two lists have the same price. A kind that only one has is not compared. */
export const isSamePrice = (a: Rates, b: Rates, kinds: readonly RateKind[] = ['input', 'output']): boolean =>
  kinds.every((kind) => {
    const [one, other] = [a[kind], b[kind]];
    if (one === undefined || other === undefined) return true;
    return Math.abs(Number(one - other)) <= SAME_WITHIN * Number(one > other ? one : other);
  });

export interface PricedModel extends SourcePrice {
  readonly evidence?: PriceEvidence;
  readonly doubt?: PriceDoubt | null;
  /** Version of the price book: the number that the price feed gave it, `bundled` for the prices in the code. */
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

/** A prompt of each price: two books are compared by all of them. Limits that differ by one token (199,999 and 200,000) are the same. */
export const comparedPromptTokens: readonly number[] = [1_000, ...PROMPT_SIZE_LIMITS.map((limit) => limit + 2)];

/** Looks a model up in one source; null where it does not have it. Never throws. */
export type PriceLookup = (query: PriceQuery) => SourcePrice | null;

/** Looks a model up in all sources; null where none has it. Never throws. */
export type PriceBook = (query: PriceQuery) => PricedModel | null;

/** USD per million tokens, by kind. */
export type TokenPrices = Readonly<Partial<Record<TokenKind, number>>>;

/** Prices of prompts of more than `over` tokens. */
export type PromptTier = TokenPrices & { readonly over: number };

/** Prices of one model. The last tier that a prompt is larger than replaces them, kind by kind. */
export interface ModelTokenPrices extends TokenPrices {
  /** Smallest first. */
  readonly tiers?: readonly PromptTier[];
  /** Versions of the prices from before 2026-11-24 have this in the place of a tier. */
  readonly over200k?: TokenPrices;
}

/** A model of a list. `earlier` has what its price was: oldest first, each until its first instant (ISO 8601) that it no longer holds at. */
export interface ListedTokenPrices extends ModelTokenPrices {
  readonly earlier?: readonly { readonly until: string; readonly prices: ModelTokenPrices }[];
  /** When the price feed first saw the price (ISO 8601). Absent for the lists in the code. */
  readonly since?: string;
}

/** When the feed first saw the price that an entry has at a time; undefined where it always had it. */
export const seenSince = (
  { earlier = [], since }: { readonly earlier?: readonly { readonly until: string }[]; readonly since?: string },
  at: Date,
): string | undefined => {
  const index = earlier.findIndex(({ until }) => at < new Date(until));
  return index === -1 ? (since ?? earlier.at(-1)?.until) : earlier[index - 1]?.until;
};

/** USD per million tokens, by gateway label and model id in lower case. */
export type TokenPriceList = Readonly<Record<string, Readonly<Record<string, ListedTokenPrices>>>>;
