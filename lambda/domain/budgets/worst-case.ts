import { atVendor, modelNames } from '../price/model-names.ts';
import { worstRates } from '../price/worst-rates.generated.ts';
import { type Dialect, hasNoOutput } from '../usage/dialect.ts';
import { imageTokens } from '../usage/image-tokens.ts';
import type { Prompt } from '../usage/usage-event.ts';

/** What a model's tokens cost at most, in nano-USD, and how many a request may have; 0 where that is not known. */
interface WorstRates {
  readonly input: number;
  readonly output: number;
  readonly maxOutput: number;
  readonly context: number;
  /** Prompts of more tokens than this cost more. */
  readonly longFrom: number;
  readonly longInput: number;
  readonly longOutput: number;
}

const tables = new Map<string, ReadonlyMap<string, WorstRates>>();

const tableOf = (provider: string): ReadonlyMap<string, WorstRates> => {
  const known = tables.get(provider);
  if (known) return known;
  const rows = (worstRates[provider] ?? '')
    .trim()
    .split('\n')
    .map((line): [string, WorstRates] => {
      const [model = '', ...numbers] = line.split(' ');
      const [input = 0, output = 0, maxOutput = 0, context = 0, longFrom = Number.POSITIVE_INFINITY] =
        numbers.map(Number);
      const [longInput = input, longOutput = output] = numbers.slice(5).map(Number);
      return [model, { input, output, maxOutput, context, longFrom, longInput, longOutput }];
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
  const vendor = provider === 'openrouter' ? atVendor(model) : null;
  return vendor ? ratesOf(vendor.provider, vendor.model) : undefined;
};

/** What is known of a request before it is forwarded. */
export interface RequestSize {
  readonly provider: string;
  readonly dialect: Dialect;
  readonly model: string | null;
  readonly serviceTier: string | null;
  /** Anthropic's fast mode. */
  readonly isFast: boolean;
  /** Null where it could not be read whole. */
  readonly body: Buffer | null;
  readonly prompt: Prompt | null;
  /** The most output tokens that the client asks for, times the responses it asks for; null where it sets no limit. */
  readonly maxOutputTokens: number | null;
  readonly responses: number;
}

/** Dialects whose prompts are text and images, charged by the token. */
const priceable: ReadonlySet<Dialect> = new Set<Dialect>([
  'openai-chat',
  'openai-completions',
  'openai-responses',
  'openai-embeddings',
  'anthropic-messages',
  'gemini-generate',
  'gemini-embed',
  'cohere-chat',
  'cohere-generate',
  'cohere-embed',
]);

/** Of an image whose size is not known: more than all but the largest take. */
const TOKENS_OF_IMAGE = 6_000;
/** What a chat template adds to a message, and the provider's own instructions where there are tools. */
const TOKENS_OF_MESSAGE = 16;
const TOKENS_OF_TOOLS = 1_000;

/** The dearest tiers: OpenAI's and xAI's `priority` (or `fast`), and Anthropic's fast mode. See price/service-tiers.ts. */
const PRIORITY_FACTOR = 2.5;
const FAST_FACTOR = 6;
/** A cache that lives for an hour costs twice the input; the table has the one for five minutes, at 1.25. */
const HOUR_CACHE_FACTOR = 1.6;

/** The most input tokens, or null where they are not bounded. A token has at least one byte. */
const inputTokens = ({ body, prompt, model }: RequestSize, { context }: WorstRates): number | null => {
  // Of a body that was not read, nothing is known.
  if (prompt === null) return null;
  if (body === null || prompt.uncounted.length > 0) {
    // What cannot be counted fits the context window, unless it is charged at another rate.
    const isOther = prompt.uncounted.some((what) => what === 'audio' || what === 'video');
    return isOther || context === 0 ? null : context;
  }
  const tools = prompt.toolBytes > 0 ? TOKENS_OF_TOOLS : 0;
  if (prompt.images.length === 0) return body.length + tools;
  const images = prompt.images.map((image) => imageTokens(model ?? '', image) ?? TOKENS_OF_IMAGE);
  return (
    prompt.textBytes +
    prompt.toolBytes +
    prompt.schemaBytes +
    tools +
    prompt.messages * TOKENS_OF_MESSAGE +
    images.reduce((sum, tokens) => sum + tokens, 0)
  );
};

const factorOf = ({ serviceTier, isFast }: RequestSize): number => {
  if (isFast) return FAST_FACTOR;
  return /^(priority|fast)$/i.test(serviceTier ?? '') ? PRIORITY_FACTOR : 1;
};

/**
 * The most that a request may cost, in nano-USD, rounded up. Null where its price is not known, or nothing bounds it. What providers
 * charge for tools that they run (searches, code) is not in it.
 */
export const worstCaseNanoUsd = (request: RequestSize): number | null => {
  const { provider, dialect, model, maxOutputTokens, responses, body } = request;
  if (dialect === 'free') return 0;
  const rates = model === null || !priceable.has(dialect) ? undefined : ratesOf(provider, model);
  if (!rates) return null;
  const input = inputTokens(request, rates);
  if (input === null) return null;
  const largest = maxOutputTokens ?? (rates.maxOutput || rates.context);
  const hasOutput = !hasNoOutput(dialect);
  if (hasOutput && largest === 0) return null;
  const output = hasOutput ? largest * responses : 0;
  const isLong = input > rates.longFrom;
  const inputRate = (isLong ? rates.longInput : rates.input) * (body?.includes('"1h"') ? HOUR_CACHE_FACTOR : 1);
  const outputRate = isLong ? rates.longOutput : rates.output;
  return Math.ceil((input * inputRate + output * outputRate) * factorOf(request));
};
