/**
 * Usage normalised once, so that no token is priced twice. Supersets and subsets are fixed here, whatever the provider's rule:
 * every `cache*`, `*Audio*`, `*Image*`, `*Video*` and `reasoning` count is a SUBSET of `inputTokens` or `outputTokens`.
 */
export interface Usage {
  /** All input tokens, cached ones included. */
  readonly inputTokens: number;
  /** All output tokens, reasoning included. */
  readonly outputTokens: number;
  /** Input tokens read from a cache. */
  readonly cacheReadTokens: number;
  /** Input tokens written to a cache, of any lifetime. */
  readonly cacheWriteTokens: number;
  /** Of those, written with a one-hour lifetime (Anthropic). */
  readonly cacheWrite1hTokens: number;
  /** Output tokens the caller does not see. */
  readonly reasoningTokens: number;
  readonly inputAudioTokens: number;
  readonly outputAudioTokens: number;
  readonly inputImageTokens: number;
  readonly outputImageTokens: number;
  /** Billable units that are not tokens, by kind: searchUnits, characters, audioSeconds, images, webSearches, … Only non-zero ones. */
  readonly units: Readonly<Record<string, number>>;
  /** What the provider says the call cost, in nano-USD (1e-9 USD), where it does. */
  readonly providerCostNanoUsd: number | null;
}

/** How a cost is known. `unknown` is never shown as $0. */
export const provenances = ['provider', 'computed', 'estimated', 'free', 'unknown'] as const;
export type Provenance = (typeof provenances)[number];

/** One line of a price: quantity times rate. `rateNanoUsdPerUnit` may be fractional (a token may cost less than 1 nano-USD). */
export interface PriceLine {
  readonly kind: string;
  readonly quantity: number;
  readonly rateNanoUsdPerUnit: number;
}

/** The price of one request. */
export interface PricedUsage {
  /** Null when the provider reported no usage and none could be estimated. */
  readonly usage: Usage | null;
  /** Integer nano-USD; null exactly when the provenance is `unknown`. */
  readonly costNanoUsd: number | null;
  readonly provenance: Provenance;
  /** Which book and which model entry priced it, e.g. `genai-prices:openai/gpt-4o`; null unless computed or estimated. */
  readonly priceSource: string | null;
  /** Price line by line; empty unless computed or estimated. */
  readonly lines: readonly PriceLine[];
  /** Why the cost is unknown or estimated, for people: one of a few fixed sentences, null otherwise. */
  readonly reason: string | null;
}
