import { usdToNanoUsd } from '../money.ts';
import { readAnthropicUsage } from './anthropic-shape.ts';
import { BILLABLE } from './billable-items.ts';
import { clampUsage, type DraftUnits, type UsageDraft } from './consistent-usage.ts';
import { type Dialect, hasNoOutput } from './dialect.ts';
import { readGeminiUsage, readInteractionsUsage } from './gemini-shapes.ts';
import { readChatUsage, readResponsesUsage } from './openai-shapes.ts';
import { amountOf, at, count, countOf, isPresent, isRaw, type Raw, sumOfCounts } from './raw.ts';
import { hasUnreadable, hasUnreadableDetail, readSides, type UsageGap } from './sides.ts';
import type { UnitName, Usage } from './usage.ts';
import type { Reading } from './usage-event.ts';

const knownUnits = new Set(['input_tokens', 'output_tokens', 'search_units', 'images', 'image_tokens']);

/** Dialects whose responses have both input and output. Those of others may have only units. */
const generates: ReadonlySet<Dialect> = new Set(['cohere-chat', 'cohere-generate']);

/**
 * Cohere: `tokens` is what was processed, `billed_units` what is charged (the preamble, for example, is free). Older responses,
 * embeddings and rerank have only `billed_units`. Image tokens are part of `tokens`, but separate from the text in `billed_units`.
 * @see https://docs.cohere.com/docs/how-does-cohere-pricing-work
 */
const readCohereUsage = (raw: Raw, _provider: string, dialect: Dialect): UsageDraft => {
  const billed = raw['billed_units'];
  const tokens = raw['tokens'];
  const text = countOf(at(billed, 'input_tokens'));
  const billedImages = count(at(billed, 'image_tokens'));
  const billedInput = text === null && billedImages === 0 ? null : (text ?? 0) + billedImages;
  const billedOutput = countOf(at(billed, 'output_tokens'));
  const input = countOf(at(tokens, 'input_tokens')) ?? billedInput;
  const output = countOf(at(tokens, 'output_tokens')) ?? billedOutput;
  const isSold = Object.values(isRaw(billed) ? billed : {}).some((each) => count(each) > 0);
  const isPartial =
    (input === null && output === null && !isSold) ||
    (generates.has(dialect) && (input === null) !== (output === null)) ||
    [billed, tokens].some((counts) => isRaw(counts) && hasUnreadable(counts, [...knownUnits]));
  const isBilled = !generates.has(dialect) || (billedInput !== null && billedOutput !== null);
  return {
    gap: isPartial ? 'missing' : isBilled ? undefined : 'derived',
    inputTokens: input ?? 0,
    outputTokens: output ?? 0,
    cacheReadTokens: count(raw['cached_tokens']),
    reasoningTokens: count(at(tokens, 'reasoning_tokens')),
    inputImageTokens: count(at(tokens, 'image_tokens'), billedImages),
    billedInputTokens: billedInput,
    billedOutputTokens: billedOutput,
    units: {
      searchUnits: count(at(billed, 'search_units')),
      images: count(at(billed, 'images')),
      // Such as `classifications`.
      otherUnits: sumOfCounts(billed, knownUnits),
    },
  };
};

const REST = [
  'cacheReadInputTokens',
  'cacheWriteInputTokens',
  'cacheReadInputTokenCount',
  'cacheWriteInputTokenCount',
] as const;

/**
 * Amazon Bedrock: Converse and Nova have `inputTokens`, the metrics and headers of all models `inputTokenCount`. Both EXCLUDE cache reads
 * and writes.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_TokenUsage.html
 */
const readBedrockUsage = (raw: Raw): UsageDraft => {
  const sides = readSides(
    {
      input: raw['inputTokens'] ?? raw['inputTokenCount'],
      output: raw['outputTokens'] ?? raw['outputTokenCount'],
      total: undefined,
    },
    'bedrock-converse',
  );
  const cacheReadTokens = count(raw['cacheReadInputTokens'], raw['cacheReadInputTokenCount']);
  const cacheWriteTokens = count(raw['cacheWriteInputTokens'], raw['cacheWriteInputTokenCount']);
  const lifetimes = raw['cacheDetails'];
  const long = Array.isArray(lifetimes) ? lifetimes.filter((each) => at(each, 'ttl') === '1h') : [];
  return {
    ...(hasUnreadable(raw, REST) ? { gap: 'missing' as const } : { gap: sides.gap }),
    inputTokens: sides.inputTokens + cacheReadTokens + cacheWriteTokens,
    outputTokens: sides.outputTokens,
    cacheReadTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: long.reduce<number>((sum, each) => sum + count(at(each, 'inputTokens')), 0),
  };
};

const nanoUsdOf = (usd: unknown): number | null => {
  const amount = amountOf(usd);
  return amount === null ? null : usdToNanoUsd(amount);
};

/** 1 tick is 1e-10 USD. */
const TICKS_PER_NANO_USD = 10;

const xai = (raw: Raw): number | null => {
  const reported = raw['cost_in_usd_ticks'];
  // Not read by count(): a dollar has more ticks than its limit.
  const ticks = typeof reported === 'string' && /^\d{1,15}$/.test(reported) ? Number(reported) : reported;
  return typeof ticks === 'number' && Number.isFinite(ticks) && ticks >= 0
    ? Math.min(Math.round(ticks / TICKS_PER_NANO_USD), Number.MAX_SAFE_INTEGER)
    : null;
};

/**
 * `cost` is what OpenRouter charges. With the client's own provider key (BYOK) that is only its fee, mostly 0, and the provider
 * also charges `upstream_inference_cost`. Otherwise the two are the same and never added.
 * @see https://openrouter.ai/docs/use-cases/usage-accounting
 */
const openrouter = (raw: Raw): number | null => {
  const cost = amountOf(raw['cost']);
  const upstream = amountOf(at(raw, 'cost_details', 'upstream_inference_cost'));
  const isByok = raw['is_byok'] === true || (raw['is_byok'] === undefined && cost === 0 && (upstream ?? 0) > 0);
  if (isByok) return upstream === null ? null : usdToNanoUsd(upstream + (cost ?? 0));
  return nanoUsdOf(cost);
};

/** Perplexity has no free calls: the first events of a stream have a total of 0, the last one has the cost. */
const perplexity = (raw: Raw): number | null => nanoUsdOf(at(raw, 'cost', 'total_cost')) || null;

const readers: Readonly<Record<string, (raw: Raw) => number | null>> = {
  xai,
  openrouter,
  perplexity,
  together: ({ cost }) => nanoUsdOf(cost),
};

/** The cost that the provider reports, in nano-USD; null where it reports none. */
const readProviderCost = (raw: Raw, provider: string): number | null =>
  Object.hasOwn(readers, provider) ? (readers[provider]?.(raw) ?? null) : null;

type BillableItems = Reading['billableItems'];

/** Tokens of OpenAI's image tool: their unit, as what kind its model charges for them, and their billable item. */
export const imageToolTokens = [
  ['imageToolInputTokens', 'input', BILLABLE.imageGenInputTextTokens],
  ['imageToolCachedTokens', 'cacheRead', BILLABLE.imageGenCachedTextTokens],
  ['imageToolInputImageTokens', 'inputImage', BILLABLE.imageGenInputImageTokens],
  ['imageToolCachedImageTokens', 'cacheReadImage', BILLABLE.imageGenCachedImageTokens],
  ['imageToolOutputTextTokens', 'output', BILLABLE.imageGenOutputTextTokens],
  ['imageToolOutputTokens', 'outputImage', BILLABLE.imageGenOutputTokens],
] as const;

/** The units of the billable items that are not zero. */
const readBillableUnits = (billableItems: BillableItems): Partial<Record<UnitName, number>> => {
  const units: Partial<Record<UnitName, number>> = {};
  const set = (unit: UnitName, quantity: number | null) => {
    if (quantity !== null && quantity > 0) units[unit] = quantity;
  };
  const searches = countOf(billableItems[BILLABLE.webSearchRequests], billableItems[BILLABLE.webSearchCalls]);
  set(countOf(billableItems[BILLABLE.webSearchPreview]) ? 'webSearchPreviews' : 'webSearches', searches);
  set('fileSearches', countOf(billableItems[BILLABLE.fileSearchCalls]));
  set('codeContainers', countOf(billableItems[BILLABLE.codeContainers]));
  for (const [unit, , item] of imageToolTokens) set(unit, countOf(billableItems[item]));
  const { imageGenCalls, executedTools, resultsWithoutUsage } = BILLABLE;
  set(
    'otherUnits',
    [imageGenCalls, executedTools, resultsWithoutUsage].reduce((sum, name) => sum + count(billableItems[name]), 0),
  );
  set('images', countOf(billableItems[BILLABLE.imageCount]));
  set('characters', countOf(billableItems[BILLABLE.speechCharacters]));
  set('audioSeconds', amountOf(billableItems[BILLABLE.audioSeconds]));
  set('videoSeconds', amountOf(billableItems[BILLABLE.videoSeconds]));
  set('groundingQueries', countOf(billableItems[BILLABLE.groundingQueries]));
  set('groundedPrompts', countOf(billableItems[BILLABLE.groundedPrompts]));
  set('mapsPrompts', countOf(billableItems[BILLABLE.mapsPrompts]));
  // Their number is not reported: at least one.
  set('mapsQueries', countOf(billableItems[BILLABLE.mapsPrompts]));
  return units;
};

const units = (amounts: Readonly<Partial<Record<UnitName, number | null>>>): UsageDraft =>
  Object.values(amounts).includes(null) ? { gap: 'missing' } : { units: amounts as DraftUnits };

/** Annotated pages are counted apart from the others. Where they are not counted, all are annotated if the request asks for it. */
const pagesOf = (raw: Raw, billableItems: BillableItems): Readonly<Partial<Record<UnitName, number | null>>> => {
  const pages = countOf(raw['pages_processed'] ?? 0);
  const annotated = raw['pages_processed_annotation'];
  if (!isPresent(annotated) && billableItems[BILLABLE.annotation]) return { annotatedPages: pages };
  return { pages, annotatedPages: countOf(annotated ?? 0) };
};

interface Shape {
  /** A usage object of this shape has at least one of these members. */
  readonly members: readonly string[];
  readonly read: (raw: Raw, provider: string, dialect: Dialect, billableItems: BillableItems) => UsageDraft;
}

/**
 * The shapes of usage objects, the most specific first. The members decide the shape, not path or provider: providers offer each
 * other's formats, and a plain `input_tokens`/`output_tokens` means the same wherever it occurs.
 */
const shapes: readonly Shape[] = [
  {
    members: ['promptTokenCount', 'candidatesTokenCount', 'totalTokenCount', 'thoughtsTokenCount'],
    read: readGeminiUsage,
  },
  { members: ['total_input_tokens', 'total_output_tokens'], read: readInteractionsUsage },
  { members: ['billed_units'], read: readCohereUsage },
  { members: ['prompt_tokens', 'completion_tokens'], read: readChatUsage },
  {
    members: ['cache_read_input_tokens', 'cache_creation_input_tokens', 'cache_creation', 'iterations'],
    read: readAnthropicUsage,
  },
  { members: ['input_tokens', 'output_tokens'], read: readResponsesUsage },
  { members: ['inputTokens', 'outputTokens', 'inputTokenCount', 'outputTokenCount'], read: readBedrockUsage },
  { members: ['tokens'], read: readCohereUsage },
  { members: ['seconds'], read: (raw) => units({ audioSeconds: amountOf(raw['seconds']) }) },
  {
    members: ['pages_processed', 'pages_processed_annotation'],
    read: (raw, _provider, _dialect, billableItems) => units(pagesOf(raw, billableItems)),
  },
  {
    members: ['total_tokens'],
    read: (raw, _provider, dialect) =>
      readSides({ input: undefined, output: undefined, total: raw['total_tokens'] }, dialect),
  },
];

/** OpenAI's search models search once in every call; usage does not report it. */
const SEARCH_MODEL = /-search-(preview|api)/;

/** xAI's tools whose fee is known; remote MCP servers have none. */
const xaiTools = new Set([
  'web_search_calls',
  'x_search_calls',
  'code_interpreter_calls',
  'file_search_calls',
  'mcp_calls',
]);

/** Units in usage objects of any shape, and those that every call has. */
const readUnits = (raw: Raw, provider: string, model: string | null, responses: number): DraftUnits => {
  const xai = raw['server_side_tool_usage_details'];
  return {
    requests: provider === 'perplexity' ? 1 : 0,
    webSearches:
      (provider === 'openai' && model !== null && SEARCH_MODEL.test(model) ? responses : 0) +
      count(at(raw, 'server_tool_use', 'web_search_requests'), raw['num_search_queries']) +
      // DeepSeek's fetches have the price of a search; Anthropic's are free.
      (provider === 'deepseek' ? count(at(raw, 'server_tool_use', 'web_fetch_requests')) : 0) +
      count(at(xai, 'web_search_calls')) +
      count(at(xai, 'x_search_calls')),
    fileSearches: count(at(xai, 'file_search_calls')),
    codeContainers: count(at(xai, 'code_interpreter_calls')),
    liveSearchSources: count(raw['num_sources_used']),
    citationTokens: count(raw['citation_tokens']),
    otherUnits: sumOfCounts(xai, xaiTools),
  };
};

/** Anthropic's tools that cost nothing but tokens, or are read above. */
const anthropicTools = new Set(['web_search_requests', 'web_fetch_requests', 'tool_search_requests']);

/** True where the total has tokens that no side has, or a tool was used whose fee is not known. */
const hasMore = (raw: Raw, { inputTokens = 0, outputTokens = 0 }: UsageDraft, dialect: Dialect): boolean =>
  (!hasNoOutput(dialect) && count(raw['total_tokens'], raw['totalTokens']) > inputTokens + outputTokens) ||
  sumOfCounts(raw['server_tool_use'], anthropicTools) > 0;

/** Units that are all of a price. Fees of tools come on top of tokens. */
const soldUnits: readonly UnitName[] = ['images', 'characters', 'audioSeconds', 'videoSeconds'];

/** Usage, and what of it could not be read; null where all could. */
export interface ReadUsage {
  readonly usage: Usage;
  readonly gap: UsageGap | null;
}

/**
 * A provider's raw usage in one form for all. Null where nothing billable was reported: no usage object that can be read, and no
 * billable items. Explicit zeros are usage. Never throws.
 */
export const readUsage = (
  provider: string,
  reading: Pick<Reading, 'dialect' | 'usage' | 'billableItems' | 'modelServed'>,
): ReadUsage | null => {
  const raw = reading.usage;
  const billableUnits = readBillableUnits(reading.billableItems);
  const responses = count(reading.billableItems[BILLABLE.batch], 1);
  const shape = raw && shapes.find(({ members }) => members.some((member) => isPresent(raw[member])));
  const providerCostNanoUsd = raw ? readProviderCost(raw, provider) : null;
  if (!shape && providerCostNanoUsd === null && Object.keys(billableUnits).length === 0) return null;
  const draft = raw && shape ? shape.read(raw, provider, reading.dialect, reading.billableItems) : {};
  const usage = clampUsage({
    ...draft,
    cacheReadTokens: draft.cacheReadTokens || count(reading.billableItems[BILLABLE.cachedPromptTokens]),
    // The usage object has precedence over billable items.
    units: {
      ...billableUnits,
      ...(raw && nonZero(readUnits(raw, provider, reading.modelServed, responses))),
      ...nonZero(draft.units ?? {}),
    },
    providerCostNanoUsd,
  });
  if (!shape && providerCostNanoUsd === null && soldUnits.every((unit) => !billableUnits[unit]))
    return { usage, gap: 'missing' };
  const isLess = raw !== null && (hasUnreadableDetail(raw) || hasMore(raw, draft, reading.dialect));
  return { usage, gap: draft.gap ?? (isLess ? 'derived' : null) };
};

const nonZero = (units: DraftUnits): DraftUnits =>
  Object.fromEntries(Object.entries(units).filter(([, quantity]) => quantity > 0));
