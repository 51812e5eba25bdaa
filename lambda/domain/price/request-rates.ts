import type { AttoUsd } from '../money.ts';
import { BILLABLE } from '../usage/billable-items.ts';
import { at, countOf } from '../usage/raw.ts';
import { type UnitName, type Usage, unitNames } from '../usage/usage.ts';
import type { CloseEvent } from '../usage/usage-event.ts';
import { imageRate } from './image-prices.ts';
import type { PriceBook, RateKind, Rates } from './rates.ts';
import { applyTiers, tiersOf } from './service-tiers.ts';
import { requestFee, unitFee } from './unit-fees.ts';

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
  /** Why the rates are not exact. */
  readonly doubts: readonly Doubt[];
}

export type Doubt = 'similarModel' | 'storage' | 'tier' | 'allowance' | 'imageEstimate' | 'route';

/** The model that an endpoint uses when the request names none. */
const defaultModels: Readonly<Record<string, string>> = { 'cohere-generate': 'command' };

/** The model of OpenAI's image tool, unless the request chooses another. */
const DEFAULT_IMAGE_TOOL_MODEL = 'gpt-image-1';

/** The models to price a request by, in order: the one that served it, the one it asked for, the endpoint's default. */
export const modelsOf = ({ reading }: PriceableRequest): readonly string[] =>
  [reading.modelServed, reading.modelRequested, defaultModels[reading.dialect]].filter((model) => !!model) as string[];

/** Null where none of the request's models has a price in a book, nor a price for each image. */
export const ratesFor = (request: PriceableRequest, usage: Usage, findPrice: PriceBook): RequestRates | null => {
  for (const model of modelsOf(request)) {
    const rates = ratesForModel(request, usage, model.toLowerCase().replace(/^models\//, ''), findPrice);
    if (rates) return rates;
  }
  return null;
};

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
  const isByImage = image !== null && usage.inputTokens + usage.outputTokens === 0;
  if (!priced && !isByImage) return null;
  if (listed?.match === 'pattern' && !isByImage) doubts.push('similarModel');
  if (isByImage && image.isEstimate) doubts.push('imageEstimate');
  if (reading.dialect === 'gemini-cache') doubts.push('storage');
  // OpenRouter's responses have the cost of their route; its list has the cheapest route.
  if (provider === 'openrouter' && !own) doubts.push('route');

  const tiered = own
    ? { rates: own.rates, isExact: true }
    : applyTiers(provider, model, tiersOf(reading), priced?.rates ?? {});
  if (!tiered.isExact) doubts.push('tier');
  const rates: Partial<Record<RateKind, AttoUsd>> = { ...tiered.rates };
  // These fees depend on the request: they replace what a book has, but not the account's own rates.
  if (isByImage && own?.rates.images === undefined) rates.images = image.rate;
  const fee = provider === 'perplexity' ? requestFee(model, at(reading.usage, 'search_context_size')) : null;
  if (fee !== null && own?.rates.requests === undefined) rates.requests = fee;
  if (hasImageTool(usage)) Object.assign(rates, imageToolRates(request, query, findPrice));
  for (const unit of unitNames) {
    if (!usage.units[unit] || rates[unit] !== undefined) continue;
    const found = unitFee(provider, model, unit);
    if (!found) continue;
    rates[unit] = found.rate;
    if (found.hasAllowance) doubts.push('allowance');
  }
  return {
    source: priced?.source ?? `overrides:${provider}/${model}`,
    version: priced?.version ?? null,
    rates,
    doubts,
  };
};

/** The largest prompt of a batch; of any other request its own. */
const promptTokens = ({ billableItems }: CloseEvent['reading'], usage: Usage): number =>
  countOf(billableItems[BILLABLE.largestPromptTokens]) ?? usage.inputTokens;

const hasImageTool = ({ units }: Usage): boolean =>
  Boolean(units.imageToolInputTokens || units.imageToolInputImageTokens || units.imageToolOutputTokens);

const imageToolRates = (
  { reading }: PriceableRequest,
  query: { readonly provider: string; readonly at: Date; readonly inputTokens: number },
  findPrice: PriceBook,
): Partial<Record<UnitName, AttoUsd>> => {
  const chosen = reading.billableItems[BILLABLE.imageGenModel];
  const priced = findPrice({ ...query, model: typeof chosen === 'string' ? chosen : DEFAULT_IMAGE_TOOL_MODEL });
  if (!priced) return {};
  const { input, inputImage, output, outputImage } = priced.rates;
  return {
    ...(input !== undefined && { imageToolInputTokens: input }),
    ...((inputImage ?? input) !== undefined && { imageToolInputImageTokens: inputImage ?? input }),
    ...((outputImage ?? output) !== undefined && { imageToolOutputTokens: outputImage ?? output }),
  } as Partial<Record<UnitName, AttoUsd>>;
};
