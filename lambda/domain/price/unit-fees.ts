import { type AttoUsd, attoUsdPerUnit } from '../money.ts';
import type { UnitName } from '../usage/usage.ts';
import { matchesModel } from './overrides.ts';

/*
 * Fees for each use of providers' tools. A rate in the books, which is by model, has precedence.
 * https://developers.openai.com/api/docs/pricing#built-in-tools (as of 2026-02-07)
 * https://platform.claude.com/docs/en/about-claude/pricing (2026-08)
 * https://ai.google.dev/gemini-api/docs/pricing (2026-08-04: by the prompt; by the query as quoted by docs.laozhang.ai, 2026-10-14;
 * Google Maps as quoted alike by TokenMeter 0.14.0 and in Google's forum, https://discuss.ai.google.dev/t/128770)
 * https://docs.x.ai/developers/pricing (2026; it no longer names live search: second-hand)
 * https://docs.perplexity.ai/getting-started/pricing (2026; sonar-reasoning, retired on 2025-12-15, second-hand)
 */

interface Fee {
  readonly unit: UnitName;
  readonly usd: number;
  /** All models where left out. */
  readonly models?: readonly string[];
  /** A number of uses a day or month is free; only the provider has the count. */
  readonly hasAllowance?: true;
}

/** First match by unit wins. */
const fees: Readonly<Record<string, readonly Fee[]>> = {
  openai: [
    { unit: 'webSearches', usd: 0.01 },
    // Without reasoning, 25 USD a thousand and the found text for free; with it, 10 USD and the text as input.
    { unit: 'webSearchPreviews', usd: 0.025, models: ['gpt-4o*', 'gpt-4.1*'] },
    { unit: 'webSearchPreviews', usd: 0.01 },
    { unit: 'fileSearches', usd: 0.0025 },
    // A session of 20 minutes of the smallest container. One used again within its session is charged again here.
    { unit: 'codeContainers', usd: 0.03, hasAllowance: true },
  ],
  anthropic: [{ unit: 'webSearches', usd: 0.01 }],
  google: [
    // Gemini 3 and newer are charged by the query, older ones by the prompt; both have a free allowance.
    { unit: 'groundingQueries', usd: 0, models: ['gemini-1*', 'gemini-2*'] },
    { unit: 'groundingQueries', usd: 0.014, hasAllowance: true },
    { unit: 'groundedPrompts', usd: 0.035, models: ['gemini-1*', 'gemini-2*'], hasAllowance: true },
    { unit: 'groundedPrompts', usd: 0 },
    { unit: 'mapsQueries', usd: 0, models: ['gemini-1*', 'gemini-2*'] },
    { unit: 'mapsQueries', usd: 0.014, hasAllowance: true },
    { unit: 'mapsPrompts', usd: 0.025, models: ['gemini-1*', 'gemini-2*'], hasAllowance: true },
    { unit: 'mapsPrompts', usd: 0 },
  ],
  xai: [
    { unit: 'webSearches', usd: 0.005 },
    { unit: 'fileSearches', usd: 0.0025 },
    { unit: 'liveSearchSources', usd: 0.025 },
  ],
  // Only deep research, which the books have, is charged for searches and cited pages.
  perplexity: [
    { unit: 'webSearches', usd: 0 },
    { unit: 'citationTokens', usd: 0 },
    { unit: 'requests', usd: 0 },
  ],
};

export interface UnitRate {
  readonly rate: AttoUsd;
  readonly hasAllowance: boolean;
}

/** The rate of one use; null where it is unknown. */
export const unitFee = (provider: string, model: string, unit: UnitName): UnitRate | null => {
  const fee = fees[provider]?.find((row) => row.unit === unit && (!row.models || matchesModel(row.models, model)));
  return fee ? { rate: attoUsdPerUnit(fee.usd), hasAllowance: fee.hasAllowance === true } : null;
};

/** Perplexity's fee for a request, USD, by the size of the search context. */
const requestFees: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  sonar: { low: 0.005, medium: 0.008, high: 0.012 },
  'sonar-reasoning': { low: 0.005, medium: 0.008, high: 0.012 },
  'sonar-pro': { low: 0.006, medium: 0.01, high: 0.014 },
  'sonar-reasoning-pro': { low: 0.006, medium: 0.01, high: 0.014 },
};

/** Low is the provider's default. */
export const requestFee = (model: string, contextSize: unknown): AttoUsd | null => {
  const bySize = requestFees[model];
  const usd = bySize && (bySize[typeof contextSize === 'string' ? contextSize : 'low'] ?? bySize['low']);
  return usd === undefined ? null : attoUsdPerUnit(usd);
};
