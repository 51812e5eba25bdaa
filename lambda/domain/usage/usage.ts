import { amountOf, isPresent, isRaw, type Raw } from './raw.ts';

/**
 * Normalized usage, so that no token is priced twice. What includes what is the same for all providers: every `cache*`, `*Audio*`, `*Image*`, `*Video*` and `reasoning` count is a SUBSET of `inputTokens` or `outputTokens`
 * (`cacheWrite1hTokens` of `cacheWriteTokens`, `cacheReadAudioTokens` of both `cacheReadTokens` and `inputAudioTokens`, and so on).
 * Cache reads and writes are disjoint; so are audio, image and video. Counts are integers, 0 or more.
 */
export interface Usage {
  /** All input tokens, cached ones and those of tools included. */
  readonly inputTokens: number;
  /** All output tokens, reasoning included. */
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  /** Input tokens written to a cache, of any lifetime. */
  readonly cacheWriteTokens: number;
  /** The part that is written with a lifetime of one hour (Anthropic). */
  readonly cacheWrite1hTokens: number;
  /** The part that is written with a lifetime of twelve hours (OpenAI). */
  readonly cacheWrite12hTokens: number;
  /** Output tokens the caller does not see. */
  readonly reasoningTokens: number;
  readonly inputAudioTokens: number;
  readonly outputAudioTokens: number;
  readonly inputImageTokens: number;
  readonly outputImageTokens: number;
  readonly inputVideoTokens: number;
  readonly outputVideoTokens: number;
  /** Cached tokens of one modality, where the provider reports them. */
  readonly cacheReadAudioTokens: number;
  readonly cacheReadImageTokens: number;
  /**
   * Tokens that the provider bills, where it reports them separately from those it processes (Cohere's `billed_units`, which leave
   * out a preamble). Null: all are billed.
   */
  readonly billedInputTokens: number | null;
  readonly billedOutputTokens: number | null;
  /** Billable units that are not tokens. Only non-zero ones. @see UnitName */
  readonly units: Readonly<Partial<Record<UnitName, number>>>;
  /** The cost that the provider reports, in nano-USD (1e-9 USD); null where it reports none. */
  readonly providerCostNanoUsd: number | null;
}

/** Billable units that are not tokens; seconds may be fractional, all others are whole. */
export const unitNames = [
  /** Seconds of audio transcribed or understood. */
  'audioSeconds',
  'videoSeconds',
  /** Characters spoken (text-to-speech). */
  'characters',
  'images',
  /** Pages read (OCR). */
  'pages',
  'annotatedPages',
  /** Rerank: one query with up to 100 documents. */
  'searchUnits',
  /** Searches of the web by a provider's tool. */
  'webSearches',
  /** The same with OpenAI's older `web_search_preview` tool, which has another price. */
  'webSearchPreviews',
  /** Prompts that used Google Search (Gemini 2.5 and older are billed by prompt, newer ones by query). */
  'groundedPrompts',
  'groundingQueries',
  /** The same with the help of Google Maps. */
  'mapsPrompts',
  'mapsQueries',
  'fileSearches',
  'codeContainers',
  /** Sources read by xAI's live search. */
  'liveSearchSources',
  /** Tokens of cited pages (Perplexity), outside the input. */
  'citationTokens',
  /** Requests with a fee of their own (Perplexity). */
  'requests',
  /** Output of OpenAI's image tool inside Responses, outside the usage object. */
  'imageToolInputTokens',
  'imageToolCachedTokens',
  'imageToolInputImageTokens',
  'imageToolCachedImageTokens',
  'imageToolOutputTextTokens',
  'imageToolOutputTokens',
  /** Units that a provider bills under an unfamiliar name. They have no price, so that the cost is unknown and not 0. */
  'otherUnits',
] as const;

export type UnitName = (typeof unitNames)[number];

/** Members of usage objects that report the service tier. */
export const tierMembers = ['service_tier', 'serviceTier', 'service_tier_used', 'trafficType'] as const;

/** How the cost is known. `unknown` is never shown as $0. */
export const provenances = ['provider', 'computed', 'estimated', 'free', 'unknown'] as const;
export type Provenance = (typeof provenances)[number];

/** One line of a price: quantity times rate. `rateNanoUsdPerUnit` may be fractional (a token may cost less than 1 nano-USD). */
export interface PriceLine {
  readonly kind: string;
  readonly quantity: number;
  readonly rateNanoUsdPerUnit: number;
}

/** The own prices of an account that a request is charged by, in the order in which they apply. */
export interface AppliedPrices {
  readonly steps: readonly AppliedPrice[];
  /** The lines at the account's own rates, where it has some for the model. Otherwise the steps apply to the lines of the list price. */
  readonly lines?: readonly PriceLine[] | undefined;
  /** The month's sums are not final: what depends on them changes when the month is closed. */
  readonly isProvisional?: boolean | undefined;
}

/** One own price: its id, its kind, and what it multiplies the cost by (absent for own rates). A text, since it may have any precision. */
export interface AppliedPrice {
  readonly priceId: string;
  readonly kind: string;
  readonly factor?: string | undefined;
}

export interface PricedUsage {
  /** Null when the provider reported no usage and none could be estimated. */
  readonly usage: Usage | null;
  /** Integer nano-USD; null exactly when the provenance is `unknown`. With the account's own prices applied, this is the effective cost. */
  readonly costNanoUsd: number | null;
  /** The cost at list prices, where own prices of the account make it another one: null where it is unknown. Absent: the same as the cost. */
  readonly listCostNanoUsd?: number | null | undefined;
  /** The part of the cost that a markup of the account added, and no provider is paid. Absent: none. */
  readonly markupNanoUsd?: number | undefined;
  /** How own prices of the account led to the cost. Absent where none applies. */
  readonly ownPrices?: AppliedPrices | undefined;
  readonly provenance: Provenance;
  /** Which book and which model entry priced it, e.g. `genai-prices:openai/gpt-4o`; null unless computed or estimated. */
  readonly priceSource: string | null;
  /** The version of the price book: the number of one from the price feed, or `bundled`; null where no book was used. */
  readonly priceVersion: string | null;
  /** How sure the list price is: its sources with their days, and whether they agree (null for one alone). Absent where no book was used. */
  readonly priceEvidence?:
    | { readonly sources: Readonly<Record<string, string | null>>; readonly agree: boolean | null }
    | undefined;
  /** Where the usage is estimated: the list prices between which it lies in nine of ten cases. */
  readonly estimateRange?: { readonly leastNanoUsd: number; readonly mostNanoUsd: number } | undefined;
  /** Price line by line; empty unless computed or estimated. */
  readonly lines: readonly PriceLine[];
  /** Why the cost is unknown or estimated, for people: one of a few fixed sentences, null otherwise. */
  readonly reason: string | null;
}

/** The price of a request whose cost is not known, and why. */
export const unknownPrice = (reason: string, usage: Usage | null = null): PricedUsage => ({
  usage,
  costNanoUsd: null,
  provenance: 'unknown',
  priceSource: null,
  priceVersion: null,
  lines: [],
  reason,
});

const kindOf = (item: Raw): string => JSON.stringify([item['modality'], item['type'], item['model']]);

/** Adds lists such as Gemini's tokens by modality and Anthropic's iterations: items of one kind are added up. */
const addLists = (total: readonly unknown[], items: readonly unknown[]): unknown[] => {
  const sum = [...total];
  for (const item of items.filter(isRaw)) {
    const same = sum.findIndex((other) => isRaw(other) && kindOf(other) === kindOf(item));
    if (same === -1) sum.push(item);
    else sum[same] = addUsage(sum[same] as Raw, item);
  }
  return sum;
};

/** Members without which the cost of a response is not known. */
const sides: ReadonlySet<string> = new Set([
  'prompt_tokens',
  'completion_tokens',
  'input_tokens',
  'output_tokens',
  'promptTokenCount',
  'candidatesTokenCount',
  'total_input_tokens',
  'total_output_tokens',
]);

/** Costs that the provider reports. */
const costs = ['cost', 'cost_in_usd_ticks'];

/** Negative, as no count is, where one of them cannot be read: the sum of the others is too low. */
const addCounts = (left: unknown, right: unknown): number => {
  const [one, other] = [amountOf(left), amountOf(right)];
  return one === null || other === null ? -1 : one + other;
};

/**
 * The sum of two raw usage objects: counts are added by name at every level, lists by the kind of their items. Of anything else the
 * later value is kept; of a cost that one of them lacks, NaN, which is null as JSON. For the lines of a batch's results, each of which is
 * a response; events of one stream are never added.
 */
export const addUsage = (total: Raw | null, usage: Raw): Raw => {
  if (!total) return usage;
  const sum: Record<string, unknown> = { ...total };
  for (const [name, value] of Object.entries(usage)) {
    const before = Object.hasOwn(sum, name) ? sum[name] : undefined;
    const areCounts = isPresent(before) && isPresent(value) && (amountOf(before) ?? amountOf(value)) !== null;
    if (areCounts || (sides.has(name) && before !== undefined)) sum[name] = addCounts(before, value);
    else if (isRaw(before) && isRaw(value)) sum[name] = addUsage(before, value);
    else if (Array.isArray(before) && Array.isArray(value)) sum[name] = addLists(before, value);
    else if (isPresent(value)) sum[name] = value;
  }
  // Not read by amountOf: a dollar has more ticks than its limit.
  for (const name of costs)
    if (name in sum && !(isRaw(total[name]) && isRaw(usage[name])))
      sum[name] = Number(total[name] ?? Number.NaN) + Number(usage[name] ?? Number.NaN);
  return sum;
};
