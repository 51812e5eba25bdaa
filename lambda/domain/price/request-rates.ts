import { isOwnLabel } from '../hosts.ts';
import { type AttoUsd, attoUsdPerUnit } from '../money.ts';
import { BILLABLE } from '../usage/billable-items.ts';
import { imageToolTokens } from '../usage/normalize.ts';
import { at, countOf } from '../usage/raw.ts';
import { type UnitName, type Usage, unitNames } from '../usage/usage.ts';
import type { CloseEvent } from '../usage/usage-event.ts';
import { rateOf } from './charge.ts';
import { imageRate } from './image-prices.ts';
import { modelMeant, nameAt } from './model-names.ts';
import { matchesModel } from './overrides.ts';
import {
  isSamePrice,
  type PriceBook,
  type PriceDoubt,
  type PriceEvidence,
  type RateKind,
  type Rates,
} from './rates.ts';
import { applyTiers, tiersOf, tiersOfPath } from './service-tiers.ts';

/*
 * Fees for each use of providers' tools. A rate in the books, which is by model, has precedence.
 * https://developers.openai.com/api/docs/pricing#built-in-tools (as of 2026-02-07; containers: by size as
 * quoted by simoncarter.ai, by the minute also by modeldex.dev, 2026-06)
 * https://platform.claude.com/docs/en/about-claude/pricing (2026-08)
 * https://ai.google.dev/gemini-api/docs/pricing (2026-08-04: by the prompt; by the query as quoted by docs.laozhang.ai, 2026-10-14;
 * Google Maps as quoted alike by TokenMeter 0.14.0 and in Google's forum, https://discuss.ai.google.dev/t/128770)
 * https://docs.x.ai/developers/pricing (2026, code by the call, not the container; it no longer names live search: second-hand)
 * https://api-docs.deepseek.com/quick_start/pricing (2026-11-15, as quoted alike by dev.to and skills.sh: by successful use, models' own
 * searches since 2026-10-31)
 * https://docs.perplexity.ai/getting-started/pricing (2026; sonar-reasoning, retired on 2025-12-15, second-hand)
 */

interface Fee {
  readonly unit: UnitName;
  readonly usd: number;
  /** All models where left out. */
  readonly models?: readonly string[];
  readonly isByGigabyte?: true;
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
    // A session of 20 minutes, by the gigabyte; since June 2026 by the minute and at least five, which no response reports. A container used
    // again within its session is charged again here.
    { unit: 'codeContainers', usd: 0.03, isByGigabyte: true, hasAllowance: true },
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
    { unit: 'codeContainers', usd: 0.005 },
    { unit: 'liveSearchSources', usd: 0.025 },
  ],
  deepseek: [{ unit: 'webSearches', usd: 0.00075 }],
  // Only deep research, which the books have, is charged for searches and cited pages.
  perplexity: [
    { unit: 'webSearches', usd: 0 },
    { unit: 'citationTokens', usd: 0 },
    { unit: 'requests', usd: 0 },
  ],
};

/** Gigabytes of a container by its `memory_limit`, other than the smallest. */
const containerGigabytes: Readonly<Record<string, bigint>> = { '4g': 4n, '16g': 16n, '64g': 64n };

const feeOf = (provider: string, model: string, unit: UnitName): Fee | undefined =>
  fees[provider]?.find((row) => row.unit === unit && (!row.models || matchesModel(row.models, model)));

/** Perplexity's fee for a request, USD, by the size of the search context. */
const requestFees: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  sonar: { low: 0.005, medium: 0.008, high: 0.012 },
  'sonar-reasoning': { low: 0.005, medium: 0.008, high: 0.012 },
  'sonar-pro': { low: 0.006, medium: 0.01, high: 0.014 },
  'sonar-reasoning-pro': { low: 0.006, medium: 0.01, high: 0.014 },
};

/** Low is the provider's default. */
const requestFee = (model: string, contextSize: unknown): AttoUsd | null => {
  const bySize = requestFees[model];
  const usd = bySize && (bySize[typeof contextSize === 'string' ? contextSize : 'low'] ?? bySize['low']);
  return usd === undefined ? null : attoUsdPerUnit(usd);
};

/** Rates that an account has of its own: they replace those of the price book, for all service tiers. */
export interface OwnRates {
  readonly source: string;
  /** Other models that the request used keep the rates of the price book. @param model in lower case */
  readonly matches: (model: string) => boolean;
  readonly rates: Rates;
}

export type PriceableRequest = Pick<CloseEvent, 'provider' | 'method' | 'path' | 'status' | 'startedAt' | 'reading'> & {
  readonly ownRates?: OwnRates | undefined;
};

/** Rates for one request: those of its model, time, tier and prompt size, and the fees of its other units. */
export interface RequestRates {
  readonly source: string;
  /** As in PricedModel; null where only a price for each image was used. */
  readonly version: string | null;
  readonly rates: Rates;
  readonly evidence?: PriceEvidence | undefined;
  /** Why the rates are not exact. */
  readonly doubts: readonly Doubt[];
}

export type Doubt =
  | PriceDoubt
  | 'similarModel'
  | 'requestedModel'
  | 'storage'
  | 'tier'
  | 'turns'
  | 'allowance'
  | 'imageEstimate'
  | 'route';

/** Calls that have a price each and report no usage, and the models of the overrides that have their prices. */
const calls = [
  ['deepseek', /^\/v1\/tools\/search$/, 'deepseek-search'],
  ['deepseek', /^\/v1\/tools\/fetch$/, 'deepseek-fetch'],
  ['perplexity', /^\/search$/, 'perplexity-search'],
] as const;

/** The model of such a call; undefined for all others. */
export const modelOfCall = ({ provider, method, path }: PriceableRequest): string | undefined =>
  calls.find(([of, paths]) => method === 'POST' && of === provider && paths.test(path))?.[2];

/** The models that endpoints use when the request names none, and until when they did. */
const defaultModels: readonly (readonly [provider: string, path: RegExp, model: string, until?: string])[] = [
  ...calls,
  ['cohere', /\/generate$/, 'command'],
  ['openai', /\/images\/[a-z]+$/, 'dall-e-2', '2026-05-12'],
  ['xai', /\/stt$/, 'grok-stt'],
  ['xai', /\/tts$/, 'grok-tts'],
];

/** The model of OpenAI's image tool, unless the request chooses another. */
const DEFAULT_IMAGE_TOOL_MODEL = 'gpt-image-2';

/** The models to price a request by, in order: the one that served it, the one it asked for, the endpoint's default. */
export const modelsOf = ({ provider, path, startedAt, reading }: PriceableRequest): readonly string[] => {
  const named = [reading.modelServed, reading.modelRequested].filter((model) => !!model) as string[];
  if (named.length > 0) return named;
  return defaultModels
    .filter(([of, paths, , until]) => of === provider && paths.test(path) && (!until || startedAt < until))
    .map(([, , model]) => model);
};

/** Null where none of the request's models has a price in a book, nor a price for each image. */
export const ratesFor = (request: PriceableRequest, usage: Usage, findPrice: PriceBook): RequestRates | null => {
  for (const model of modelsOf(request)) {
    const rates = ratesForModel(request, usage, nameOf(request, model.toLowerCase()), findPrice);
    if (rates) return rates;
  }
  return null;
};

const nameOf = ({ provider, reading }: PriceableRequest, model: string): string =>
  nameAt(provider, modelMeant(provider, reading.dialect, model));

const ratesForModel = (
  request: PriceableRequest,
  usage: Usage,
  model: string,
  findPrice: PriceBook,
): RequestRates | null => {
  const { provider, reading } = request;
  const doubts: Doubt[] = [];
  const query = { provider, at: new Date(request.startedAt), inputTokens: promptTokens(reading, usage) };
  const own = request.ownRates?.matches(model) ? { ...request.ownRates, version: null } : undefined;
  const listed = own ? null : findPrice({ ...query, model });
  const priced = own ?? listed;
  const image = imageRate(
    model,
    reading.billableItems[BILLABLE.imageQuality],
    reading.billableItems[BILLABLE.imageSize],
  );
  // Own servers have models of any name.
  const isByImage = image !== null && !isOwnLabel(provider) && usage.inputTokens + usage.outputTokens === 0;
  if (!priced && !isByImage) return null;
  if (listed?.match === 'pattern' && !isByImage) doubts.push('similarModel');
  const served = nameOf(request, reading.modelServed?.toLowerCase() ?? '');
  // A deployment of Azure has any name that its owner likes.
  if (!own && (!model.includes(served) || (provider === 'azure' && served === ''))) doubts.push('requestedModel');
  if (listed?.doubt && !isByImage) doubts.push(listed.doubt);
  if (isByImage && image.isEstimate) doubts.push('imageEstimate');
  if (reading.dialect === 'gemini-cache') doubts.push('storage');
  // OpenRouter's responses have the cost of their route; its list has the cheapest route.
  if (provider === 'openrouter' && !own) doubts.push('route');

  const tiered = own
    ? { rates: own.rates, isExact: true }
    : applyTiers(
        { ...query, model },
        [...tiersOf(reading), ...tiersOfPath(provider, model, request.path)],
        ratesOfPath(request, priced?.rates ?? {}),
      );
  if (!tiered.isExact || mayHaveWindow(request)) doubts.push('tier');
  const first = firstPromptTokens(reading);
  const ofFirst = listed && first !== null && findPrice({ ...query, model, inputTokens: first });
  if (ofFirst && !isSamePrice(ofFirst.rates, listed.rates)) doubts.push('turns');
  const rates: Partial<Record<RateKind, AttoUsd>> = { ...tiered.rates };
  // These fees depend on the request: they replace what a book has, but not the account's own rates.
  if (isByImage && own?.rates.images === undefined) rates.images = image.rate;
  const fee = provider === 'perplexity' ? requestFee(model, at(reading.usage, 'search_context_size')) : null;
  if (fee !== null && own?.rates.requests === undefined) rates.requests = fee;
  if (imageToolTokens.some(([unit]) => usage.units[unit]))
    Object.assign(rates, imageToolRates(request, query, findPrice));
  for (const unit of unitNames) {
    if (!usage.units[unit] || rates[unit] !== undefined) continue;
    const found = feeOf(provider, model, unit);
    if (!found) continue;
    const gigabytes = found.isByGigabyte && containerGigabytes[String(reading.billableItems[BILLABLE.containerMemory])];
    rates[unit] = attoUsdPerUnit(found.usd) * (gigabytes || 1n);
    if (found.hasAllowance) doubts.push('allowance');
  }
  return {
    source: priced?.source ?? `overrides:${provider}/${model}`,
    version: priced?.version ?? null,
    evidence: listed?.evidence,
    rates,
    doubts,
  };
};

/** Decisions have no price but for input: output is free, and caches neither cost more nor less. @see https://apidog.com/blog/openai-decisions-api */
const ratesOfPath = ({ path }: PriceableRequest, rates: Rates): Rates => {
  const { input } = rates;
  return path.endsWith('/decisions') && input !== undefined ? { input, output: 0n } : rates;
};

/**
 * From then on a response in the background may take two or eight hours, for 30 or 40 % less. Only the request that made it says so.
 * @see https://developers.openai.com/api/docs/guides/flex-processing
 */
const COMPLETION_WINDOWS_FROM = '2026-11-17';

const mayHaveWindow = ({ provider, method, startedAt, reading }: PriceableRequest): boolean =>
  provider === 'openai' &&
  method === 'GET' &&
  startedAt >= COMPLETION_WINDOWS_FROM &&
  reading.billableItems[BILLABLE.responseBackground] === 1 &&
  tiersOf(reading).every((tier) => ['', 'default', 'auto'].includes(tier));

/** The largest prompt of a batch; of any other request its own. */
const promptTokens = ({ billableItems }: CloseEvent['reading'], usage: Usage): number =>
  countOf(billableItems[BILLABLE.largestPromptTokens]) ?? usage.inputTokens;

/** The first of several prompts: Gemini's usage is the sum over the turns of an interaction, or the hops of a long response. */
const firstPromptTokens = ({ usage, billableItems }: CloseEvent['reading']): number | null =>
  billableItems[BILLABLE.batch]
    ? null
    : countOf(at(usage, 'initial_input_tokens'), at(usage, 'initialPromptTokenCount'));

const imageToolRates = (
  { reading }: PriceableRequest,
  query: { readonly provider: string; readonly at: Date; readonly inputTokens: number },
  findPrice: PriceBook,
): Partial<Record<UnitName, AttoUsd>> => {
  const chosen = reading.billableItems[BILLABLE.imageGenModel];
  const priced = findPrice({ ...query, model: typeof chosen === 'string' ? chosen : DEFAULT_IMAGE_TOOL_MODEL });
  return Object.fromEntries(
    imageToolTokens.flatMap(([unit, kind]) => {
      const found = priced && rateOf(priced.rates, kind);
      return found ? [[unit, found.rate]] : [];
    }),
  );
};
