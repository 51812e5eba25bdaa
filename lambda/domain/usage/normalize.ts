import { readAnthropicUsage } from './anthropic-shape.ts';
import { BILLABLE } from './billable-items.ts';
import { readBillableUnits } from './billable-units.ts';
import { readCohereUsage } from './cohere-shape.ts';
import { clampUsage, type DraftUnits, type UsageDraft } from './consistent-usage.ts';
import type { Dialect } from './dialect.ts';
import { readGeminiUsage, readInteractionsUsage } from './gemini-shapes.ts';
import { readChatUsage, readResponsesUsage } from './openai-shapes.ts';
import { readProviderCost } from './provider-cost.ts';
import { amountOf, at, count, countOf, type Raw } from './raw.ts';
import { readSides, type UsageGap } from './sides.ts';
import type { UnitName, Usage } from './usage.ts';
import type { Reading } from './usage-event.ts';

const units = (amounts: Readonly<Partial<Record<UnitName, number | null>>>): UsageDraft =>
  Object.values(amounts).includes(null) ? { gap: 'missing' } : { units: amounts as DraftUnits };

interface Shape {
  /** A usage object of this shape has at least one of these members. */
  readonly members: readonly string[];
  readonly read: (raw: Raw, provider: string, dialect: Dialect) => UsageDraft;
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
  { members: ['tokens'], read: readCohereUsage },
  { members: ['seconds'], read: (raw) => units({ audioSeconds: amountOf(raw['seconds']) }) },
  { members: ['pages_processed'], read: (raw) => units({ pages: countOf(raw['pages_processed']) }) },
  {
    members: ['total_tokens'],
    read: (raw, _provider, dialect) =>
      readSides({ input: undefined, output: undefined, total: raw['total_tokens'] }, dialect),
  },
];

/** OpenAI's search models search once in every call; usage does not report it. */
const SEARCH_MODEL = /-search-(preview|api)/;

/** Units in usage objects of any shape, and those that every call has. */
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
  const shape = raw && shapes.find(({ members }) => members.some((member) => isPresent(raw[member])));
  const providerCostNanoUsd = raw ? readProviderCost(raw, provider) : null;
  if (!shape && providerCostNanoUsd === null && Object.keys(billableUnits).length === 0) return null;
  const draft = raw && shape ? shape.read(raw, provider, reading.dialect) : {};
  const usage = clampUsage({
    ...draft,
    cacheReadTokens: draft.cacheReadTokens || count(reading.billableItems[BILLABLE.cachedPromptTokens]),
    // The usage object has precedence over billable items.
    units: {
      ...billableUnits,
      ...(raw && nonZero(readUnits(raw, provider, reading.modelServed))),
      ...nonZero(draft.units ?? {}),
    },
    providerCostNanoUsd,
  });
  return { usage, gap: draft.gap ?? null };
};

const isPresent = (value: unknown): boolean => value !== undefined && value !== null;

const nonZero = (units: DraftUnits): DraftUnits =>
  Object.fromEntries(Object.entries(units).filter(([, quantity]) => quantity > 0));
