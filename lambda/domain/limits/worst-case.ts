import { dearestImageUsd } from '../price/image-prices.ts';
import { atVendor, modelMeant, modelNames } from '../price/model-names.ts';
import type { RateKind } from '../price/rates.ts';
import worstRates from '../price/worst-rates.json' with { type: 'json' };
import { BILLABLE } from '../usage/billable-items.ts';
import { type Dialect, hasNoOutput } from '../usage/dialect.ts';
import { imageTokens } from '../usage/image-tokens.ts';
import type { Prompt, Reading } from '../usage/usage-event.ts';

const NANO_USD = 1e9;

/** The highest cost of a model's tokens and units, in nano-USD, and how many tokens a request may have; 0 where that is not known. */
interface WorstRates {
  readonly input: number;
  readonly output: number;
  readonly maxOutput: number;
  readonly context: number;
  /** Prompts of more tokens than this cost more. */
  readonly longFrom: number;
  readonly longInput: number;
  readonly longOutput: number;
  /** Rates of units, and of input that is no text. */
  readonly named: Readonly<Partial<Record<RateKind, number>>>;
}

const tables = new Map<string, ReadonlyMap<string, WorstRates>>();

const tableOf = (provider: string): ReadonlyMap<string, WorstRates> => {
  const known = tables.get(provider);
  if (known) return known;
  const allRows: Readonly<Record<string, readonly string[]>> = worstRates.rows;
  const rows = (allRows[provider] ?? []).map((row): [string, WorstRates] => {
    const [model = '', ...columns] = row.split(' ');
    const numbers = columns.filter((column) => !column.includes('=')).map(Number);
    const [input = 0, output = 0, maxOutput = 0, context = 0, longFrom = Number.POSITIVE_INFINITY] = numbers;
    const [longInput = input, longOutput = output] = numbers.slice(5);
    const named = Object.fromEntries(
      columns.flatMap((column) => {
        const [kind = '', rate] = column.split('=');
        return rate === undefined ? [] : [[kind, Number(rate)]];
      }),
    );
    return [model, { input, output, maxOutput, context, longFrom, longInput, longOutput, named }];
  });
  const table = new Map(rows);
  tables.set(provider, table);
  return table;
};

const ratesOf = (provider: string, model: string): WorstRates | undefined => {
  for (const name of modelNames(model)) {
    const found = tableOf(provider).get(name);
    if (found) return found;
  }
  for (const [name, rates] of tableOf(provider))
    if (name.endsWith('*') && model.toLowerCase().startsWith(name.slice(0, -1))) return rates;
  const vendor = provider === 'openrouter' ? atVendor(model) : null;
  return vendor ? ratesOf(vendor.provider, vendor.model) : undefined;
};

/** Facts about a request before it is forwarded. */
export interface RequestSize {
  readonly provider: string;
  readonly dialect: Dialect;
  /** All models that may serve it: the model that it names, and those that follow where that fails. */
  readonly models: readonly string[];
  readonly serviceTier: string | null;
  /** Anthropic's fast mode. */
  readonly isFast: boolean;
  /** Anthropic's inference in the US alone. */
  readonly isInUs: boolean;
  /** Null where it could not be read whole. */
  readonly body: Buffer | null;
  /** Files of a multipart body, and their bytes. */
  readonly files: number;
  readonly fileBytes: number;
  readonly prompt: Prompt | null;
  readonly billableItems: Reading['billableItems'];
  /** The most output tokens that the client asks for in each response, and how many of these; null where it does not say. */
  readonly maxOutputTokens: number | null;
  readonly responses: number | null;
  /** Previews of an image, sent while it is made. */
  readonly partialImages: number;
}

/** Dialects whose prompts are text and images, charged by the token. */
const byToken: ReadonlySet<Dialect> = new Set<Dialect>([
  'openai-chat',
  'openai-completions',
  'openai-responses',
  'openai-embeddings',
  'anthropic-messages',
  'gemini-generate',
  'gemini-embed',
  'gemini-interactions',
  'gemini-cache',
  'cohere-chat',
  'cohere-generate',
  'cohere-embed',
]);

/** An image of unknown size counts as this: more than all but the largest take. */
const TOKENS_OF_IMAGE = 6_000;
/** Tokens that a chat template adds to a message, and the provider's own instructions where there are tools. */
const TOKENS_OF_MESSAGE = 16;
const TOKENS_OF_TOOLS = 1_000;

/** The dearest factor of each tier of OpenAI and xAI, and of Anthropic's fast mode. See price/service-tiers.ts. */
const TIER_FACTORS = new Map(Object.entries({ priority: 2.5, fast: 2.5, ultrafast: 6 }));
const FAST_FACTOR = 6;
const US_FACTOR = 1.1;
/** Surcharge for longer lives of a cache: the table has Anthropic's for 5 minutes, at 1.25 of the input, and OpenAI's for 30. */
const CACHE_FACTORS: readonly (readonly [life: string, factor: number])[] = [
  ['"12h"', 2],
  ['"1h"', 1.6],
];
const cacheFactorOf = (body: Buffer | null): number => CACHE_FACTORS.find(([life]) => body?.includes(life))?.[1] ?? 1;

/** The most input tokens, and their rate; null where they are not bounded. A token has at least one byte. */
const inputOf = (
  { dialect, body, prompt }: RequestSize,
  model: string,
  { context, named }: WorstRates,
): { readonly tokens: number; readonly rate: number } | null => {
  // Nothing is known of a body that was not read.
  if (prompt === null) return null;
  // Many texts at once are more than the context of each.
  if (dialect === 'openai-embeddings') return body && { tokens: body.length, rate: 0 };
  if (body === null || prompt.uncounted.length > 0) {
    const [hasAudio, hasVideo] = (['audio', 'video'] as const).map((what) => prompt.uncounted.includes(what));
    // Input that cannot be counted fits the context window, unless it is charged by the second.
    if (context === 0 || (hasAudio && named.audioSeconds !== undefined)) return null;
    return {
      tokens: context,
      rate: Math.max(hasAudio ? (named.inputAudio ?? 0) : 0, hasVideo ? (named.inputVideo ?? 0) : 0),
    };
  }
  const tools = prompt.toolBytes > 0 ? TOKENS_OF_TOOLS : 0;
  if (prompt.images.length === 0) return { tokens: body.length + tools, rate: 0 };
  const images = prompt.images.map((image) => imageTokens(model, image) ?? TOKENS_OF_IMAGE);
  const tokens =
    prompt.textBytes +
    prompt.toolBytes +
    prompt.schemaBytes +
    tools +
    prompt.messages * TOKENS_OF_MESSAGE +
    images.reduce((sum, each) => sum + each, 0);
  return { tokens, rate: 0 };
};

const factorOf = ({ serviceTier, isFast, isInUs }: RequestSize): number => {
  const tier = TIER_FACTORS.get((serviceTier ?? '').toLowerCase()) ?? 1;
  return (isFast ? FAST_FACTOR : tier) * (isInUs ? US_FACTOR : 1);
};

const ofTokens = (request: RequestSize, model: string, rates: WorstRates): number | null => {
  const { dialect, maxOutputTokens, responses, body } = request;
  const input = inputOf(request, model, rates);
  if (input === null) return null;
  const largest = maxOutputTokens ?? (rates.maxOutput || rates.context);
  const hasOutput = !hasNoOutput(dialect);
  if (hasOutput && largest === 0) return null;
  const output = hasOutput ? largest * (responses ?? 1) : 0;
  const isLong = input.tokens > rates.longFrom;
  const inputRate = Math.max(input.rate, isLong ? rates.longInput : rates.input) * cacheFactorOf(body);
  const outputRate = isLong ? rates.longOutput : rates.output;
  return (input.tokens * inputRate + output * outputRate) * factorOf(request) + (rates.named.requests ?? 0);
};

/** The most tokens of an image of an edit: OpenAI's at high fidelity, 6,240 tokens and its tiles. */
const TOKENS_OF_EDITED_IMAGE = 7_000;
const TOKENS_OF_PARTIAL_IMAGE = 100;
/** Prices of images are rounded; the tokens that are charged are up to 2 % more. */
const IMAGE_ROUNDING = 1.05;
/** Imagen makes four unless it is asked for fewer. */
const IMAGEN_IMAGES = 4;

/** For models without a price for each image: twice the tokens of gpt-image-1, which takes one for 252 pixels. */
const PIXELS_OF_TOKEN = 128;
const PIXELS_OF_IMAGE = 2_048 * 2_048;

const tokensOfMadeImage = (size: number | string | undefined): number => {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(String(size)) ?? [];
  return Math.ceil((width ? Number(width) * Number(height) : PIXELS_OF_IMAGE) / PIXELS_OF_TOKEN);
};

const ofImages = (request: RequestSize, model: string, rates: WorstRates | undefined): number | null => {
  const { dialect, body, files, fileBytes, prompt, billableItems, responses, partialImages } = request;
  const usd = dearestImageUsd(
    model.toLowerCase(),
    billableItems[BILLABLE.imageQuality],
    billableItems[BILLABLE.imageSize],
  );
  const ofSize = tokensOfMadeImage(billableItems[BILLABLE.imageSize]) * (rates?.output ?? 0);
  const each = (usd === null ? (rates?.named.images ?? ofSize) : usd * NANO_USD) * IMAGE_ROUNDING;
  if (each === 0 || body === null || prompt === null) return null;
  const images = responses ?? (dialect === 'gemini-predict' ? IMAGEN_IMAGES : 1);
  const input = body.length - fileBytes + (files + prompt.images.length) * TOKENS_OF_EDITED_IMAGE;
  const partial = partialImages * TOKENS_OF_PARTIAL_IMAGE * (rates?.output ?? 0);
  return images * (each + partial) + input * (rates?.input ?? 0);
};

/** The lowest rate of speech codecs: 6 kbit/s of Opus (RFC 6716). Groq charges for ten seconds at least. */
const BYTES_OF_SECOND = 750;
const MIN_SECONDS = 10;
/** @see https://platform.openai.com/docs/guides/realtime-costs: one in 100 ms */
const TOKENS_OF_SECOND = 10;

const ofTranscription = ({ body, fileBytes }: RequestSize, rates: WorstRates): number | null => {
  if (body === null || fileBytes === 0) return null;
  const seconds = Math.max(MIN_SECONDS, fileBytes / BYTES_OF_SECOND);
  const { audioSeconds, inputAudio } = rates.named;
  if (audioSeconds !== undefined) return seconds * audioSeconds;
  if (rates.maxOutput === 0) return null;
  const input = seconds * TOKENS_OF_SECOND * Math.max(rates.input, inputAudio ?? 0);
  return input + (body.length - fileBytes) * rates.input + rates.maxOutput * rates.output;
};

const perUnit = (rate: number | undefined, units: number | string | undefined): number | null =>
  rate === undefined || typeof units !== 'number' ? null : rate * units;

const ofModel = (request: RequestSize, model: string): number | null => {
  const { dialect, provider, billableItems } = request;
  const rates = ratesOf(provider, modelMeant(provider, dialect, model));
  if (dialect === 'openai-images' || dialect === 'gemini-predict') return ofImages(request, model, rates);
  if (!rates) return null;
  if (byToken.has(dialect)) return ofTokens(request, model, rates);
  if (dialect === 'openai-transcription') return ofTranscription(request, rates);
  if (dialect === 'openai-speech')
    return perUnit(rates.named.characters, billableItems[BILLABLE.speechCharacters] ?? request.body?.length);
  return perUnit(rates.named.videoSeconds, billableItems[BILLABLE.videoSeconds]);
};

/**
 * The most that a request may cost, in nano-USD, rounded up: by each model that may serve it. Null where its price is not known, or nothing
 * bounds it. What providers charge for tools that they run (searches, code) is not in it.
 */
export const worstCasesNanoUsd = (request: RequestSize): readonly (number | null)[] => {
  if (request.models.length === 0) return [null];
  return request.models.map((model) => {
    const nanoUsd = ofModel(request, model);
    return nanoUsd === null ? null : Math.ceil(nanoUsd);
  });
};
