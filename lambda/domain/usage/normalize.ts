import { readAnthropicUsage } from './anthropic-shape.ts';
import { BILLABLE } from './billable-items.ts';
import { readBillableUnits } from './billable-units.ts';
import { readCohereUsage } from './cohere-shape.ts';
import { clampUsage, type DraftUnits, type UsageDraft } from './consistent-usage.ts';
import type { Dialect } from './dialect.ts';
import { readGeminiUsage, readInteractionsUsage } from './gemini-shapes.ts';
import { readChatUsage, readResponsesUsage } from './openai-shapes.ts';
import { readProviderCost } from './provider-cost.ts';
import { amountOf, at, count, type Raw } from './raw.ts';
import type { Usage } from './usage.ts';
import type { Reading } from './usage-event.ts';

interface Shape {
  /** A usage object of this shape has at least one of these members. */
  readonly members: readonly string[];
  readonly read: (raw: Raw, provider: string, dialect: Dialect) => UsageDraft;
}

/**
 * The shapes of usage objects, the telling ones first. The object itself says what it is, better than path or provider do:
 * providers offer each other's formats, and a bare `input_tokens`/`output_tokens` means the same in all that have it.
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
  { members: ['tokens'], read: readCohereUsage },
  { members: ['seconds'], read: (raw) => ({ units: { audioSeconds: amountOf(raw['seconds']) ?? 0 } }) },
  { members: ['pages_processed'], read: (raw) => ({ units: { pages: count(raw['pages_processed']) } }) },
  { members: ['total_tokens'], read: (raw) => ({ inputTokens: count(raw['total_tokens']) }) },
];

/** OpenAI's search models search once in every call, which usage does not say. */
const SEARCH_MODEL = /-search-(preview|api)/;

/** Units that stand in the usage object of any shape, or go without saying. */
const readUnits = (raw: Raw, provider: string, model: string | null): DraftUnits => {
  const xai = raw['server_side_tool_usage_details'];
  return {
    requests: provider === 'perplexity' ? 1 : 0,
    webSearches:
      (provider === 'openai' && model !== null && SEARCH_MODEL.test(model) ? 1 : 0) +
      count(at(raw, 'server_tool_use', 'web_search_requests'), raw['num_search_queries']) +
      count(at(xai, 'web_search_calls')) +
      count(at(xai, 'x_search_calls')),
    fileSearches: count(at(xai, 'file_search_calls')),
    liveSearchSources: count(raw['num_sources_used']),
    citationTokens: count(raw['citation_tokens']),
  };
};

/**
 * The one reading of a provider's raw usage. Null where nothing billable was reported: no usage object (or one that says
 * nothing readable) and no billableItems. Explicit zeroes are usage. Never throws.
 */
export const normalizeUsage = (
  provider: string,
  reading: Pick<Reading, 'dialect' | 'usage' | 'billableItems' | 'modelServed'>,
): Usage | null => {
  const raw = reading.usage;
  const billableUnits = readBillableUnits(reading.billableItems);
  const shape = raw && shapes.find(({ members }) => members.some((member) => isSaid(raw[member])));
  const providerCostNanoUsd = raw ? readProviderCost(raw, provider) : null;
  if (!shape && providerCostNanoUsd === null && Object.keys(billableUnits).length === 0) return null;
  const draft = raw && shape ? shape.read(raw, provider, reading.dialect) : {};
  return clampUsage({
    ...draft,
    cacheReadTokens: draft.cacheReadTokens || count(reading.billableItems[BILLABLE.cachedPromptTokens]),
    // What the usage object tells goes before what was counted beside it.
    units: {
      ...billableUnits,
      ...(raw && nonZero(readUnits(raw, provider, reading.modelServed))),
      ...nonZero(draft.units ?? {}),
    },
    providerCostNanoUsd,
  });
};

const isSaid = (value: unknown): boolean => value !== undefined && value !== null;

const nonZero = (units: DraftUnits): DraftUnits =>
  Object.fromEntries(Object.entries(units).filter(([, quantity]) => quantity > 0));
