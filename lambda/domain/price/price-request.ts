import { costNanoUsd, costOfLines } from '../money.ts';
import { BILLABLE } from '../usage/billable-items.ts';
import { clampUsage } from '../usage/consistent-usage.ts';
import { WEBSOCKET } from '../usage/dialect.ts';
import { estimateUsage } from '../usage/estimate-usage.ts';
import { type ReadUsage, readUsage } from '../usage/normalize.ts';
import { hiddenTokens } from '../usage/output-tokens.ts';
import { partsOf } from '../usage/parts.ts';
import type { UsageGap } from '../usage/sides.ts';
import { type PricedUsage, type Provenance, type Usage, unknownPrice } from '../usage/usage.ts';
import type { Reading } from '../usage/usage-event.ts';
import { charge, lineOf } from './charge.ts';
import { lacksResults } from './charged-once.ts';
import { isFreeRequest, startsNothing } from './free-requests.ts';
import type { PriceBook, Rates } from './rates.ts';
import { type Doubt, modelOfCall, modelsOf, type PriceableRequest, ratesFor } from './request-rates.ts';

/**
 * Models that hide their reasoning: OpenAI's o series and GPT from 5 on, Grok from 4 on, Gemini from 2.5 on; Perplexity's deep research,
 * which hides its searches, too. Reasoning is charged as output and cannot be estimated from the text that clients receive. Models that
 * show their reasoning (DeepSeek, Magistral, Claude's summaries) are not included. A response that has its reasoning in encrypted form
 * shows its length: see `hiddenTokens`.
 * @see https://platform.openai.com/docs/guides/reasoning https://ai.google.dev/gemini-api/docs/thinking https://docs.x.ai/docs/guides/reasoning
 */
const HIDDEN =
  /(?:^|\/)(?:o\d|codex-|gpt-[5-9](?!.*chat)|grok-(?:[4-9]|code)(?!.*non-reasoning)|gemini-(?:2\.5|[3-9]|flash-latest|pro-latest)(?!.*flash-lite)|sonar-deep)/i;

/** True where an estimate from the visible text would leave out reasoning. */
export const hidesReasoning = (model: string): boolean => HIDDEN.test(model);

/** True where the response has the reasoning in encrypted form, whose length says how many tokens it has. */
const showsLength = (model: string, { visible }: Reading): boolean =>
  visible?.output !== undefined && hiddenTokens(model, visible.output) !== null;

/** All reasons why a cost is unknown or estimated, for people. Records keep them as text. */
export const reasons = {
  noUsage: 'The provider reported no usage and none could be estimated.',
  noResponse: 'The provider did not respond, but may have charged.',
  cutWithoutUsage: 'The response was interrupted before its usage was reported.',
  pending: 'The response is made in the background: its cost is counted when it is fetched.',
  batchResults:
    "The batch's results are charged: their cost is counted when they are fetched whole through the gateway.",
  hiddenReasoning:
    'The provider reported no usage, and this model hides its reasoning: its output cannot be estimated.',
  unreadableUsage: 'A part of the usage that the provider reported is missing or cannot be true.',
  derivedUsage: 'A part of the reported usage cannot be read: it is left out, or taken from the total.',
  noModel: 'Neither the request nor the response names a model.',
  noPrice: 'No price is known for this model.',
  noRate: 'Something this request used has no known price.',
  estimatedUsage: 'The provider reported no usage: it is estimated from what the request and response show.',
  uncounted:
    'The provider reported no usage, and the request has parts that cannot be counted (files, audio, stored context …): its input is at least what is shown.',
  cut: 'The response was interrupted: usage may be too low.',
  similarModel: 'No list has this model: the price is that of models with similar names.',
  requestedModel: 'The model that served is unknown, or no list has it: the price is that of the requested one.',
  oneSource: 'One source alone has this price so far: it waits for a second one.',
  changeWaits: 'A published change of this price waits to be confirmed.',
  overrideWaits: 'Sources changed since this price was corrected by hand.',
  storage: 'Storage is also charged by the hour, which is not included.',
  tier: 'The price of the service tier is not known exactly.',
  turns: 'This is the usage of several prompts, and the price depends on the size of each.',
  allowance: 'Fees with a free allowance are counted in full.',
  imageEstimate: "The provider's own estimate for each image: no usage was reported.",
  route: 'OpenRouter did not report its charge, which depends on the route: this is the list price.',
} as const;

/** Statuses of a response that is not complete yet. */
const pendingStatuses: ReadonlySet<string> = new Set([
  'queued',
  'pending',
  'created',
  'in_progress',
  'processing',
  'requires_action',
]);

/**
 * The price of one request from the meter's reading. Pure and synchronous; never throws: implausible counts are clamped, and
 * missing ones make the cost unknown.
 *
 * `free` are calls that providers do not charge for: the dialect `free`; a request that the provider refused or redirected, or whose
 * response has no content, each without usage (status 300 and up, 204, or a response that is one error); one that a model of Anthropic refused
 * before any output, or that Anthropic bills to a customer of the account; and fetching a response that was charged when it was made.
 */
export const priceRequest = (request: PriceableRequest, findPrice: PriceBook): PricedUsage => {
  if (isPending(request.reading)) return unknownPrice(reasons.pending);
  if (lacksResults(request.reading)) return unknownPrice(reasons.batchResults);
  if (deliversNothing(request.status) && request.reading.usageSource !== 'reported')
    return isChargedError(request) ? unknownPrice(reasons.noUsage) : withCost(null, 'free', 0);
  if (!request.reading.visible) return priceReading(request, findPrice);
  const estimate = estimateUsage(request.reading);
  const priceOf = (usage: Reading['usage']) =>
    priceReading({ ...request, reading: readingWith(request.reading, usage) }, findPrice);
  if (!estimate) return priceOf(request.reading.usage);
  const priced = priceOf(estimate.usage);
  if (priced.costNanoUsd === null || estimate.usage === request.reading.usage) return priced;
  if (estimate.isLowerBound) return unknownPrice(reasons.uncounted, priced.usage);
  const [least, most] = [priceOf(estimate.least).costNanoUsd, priceOf(estimate.most).costNanoUsd];
  if (least === null || most === null) return priced;
  return { ...priced, estimateRange: { leastNanoUsd: least, mostNanoUsd: most } };
};

/** A reading with an estimate as its usage. */
const readingWith = (reading: Reading, usage: Reading['usage']): Reading => ({
  ...reading,
  usage,
  usageSource: usage !== reading.usage ? 'estimated' : usage ? 'reported' : 'none',
});

const priceReading = (request: PriceableRequest, findPrice: PriceBook): PricedUsage => {
  const { reading } = request;
  if (isCountedElsewhere(request)) return withCost(null, 'free', 0);
  const read = readUsage(request.provider, reading);
  const usage = read?.usage ?? null;
  if (isFree(request, usage)) return withCost(usage, 'free', 0);
  if (!usage)
    return isSoldCall(request) ? priceByBook(request, ONE_CALL, findPrice) : unknownPrice(whyNoUsage(request));
  const isWhole = !reading.billableItems[BILLABLE.resultsWithoutUsage];
  if (usage.providerCostNanoUsd !== null && isWhole && !request.ownRates)
    return withCost(usage, 'provider', usage.providerCostNanoUsd);
  const parts = partsOf(reading);
  if (parts.length === 0) return withCost(usage, 'free', 0);
  if (parts[0] === reading) return priceByBook(request, read, findPrice);
  return combine(
    usage,
    parts.map((part) => priceByBook({ ...request, reading: part }, readUsage(request.provider, part), findPrice)),
  );
};

/** Usage times the price book. */
const priceByBook = (request: PriceableRequest, read: ReadUsage | null, findPrice: PriceBook): PricedUsage => {
  const { reading } = request;
  if (!read) return unknownPrice(reasons.noUsage);
  const { usage, gap } = read;
  if (gap === 'missing') return unknownPrice(reasons.unreadableUsage, usage);
  const models = modelsOf(request);
  if (models.length === 0) return unknownPrice(reasons.noModel, usage);
  if (
    reading.usageSource === 'estimated' &&
    models.some((model) => hidesReasoning(model) && !showsLength(model, reading))
  )
    return unknownPrice(reasons.hiddenReasoning, usage);
  const found = ratesFor(request, usage, findPrice);
  if (!found) return unknownPrice(reasons.noPrice, usage);
  const spoken = withSpeech(usage, reading, found.rates);
  const { charges, unpriced } = charge(asCharged(request.provider, models[0], spoken), found.rates);
  if (unpriced.length > 0) return unknownPrice(reasons.noRate, usage);
  const reason = spoken === usage ? whyEstimated(reading, gap, found.doubts) : reasons.estimatedUsage;
  return {
    usage: spoken,
    costNanoUsd: costNanoUsd(charges),
    provenance: reason === null ? 'computed' : 'estimated',
    priceSource: found.source,
    priceVersion: found.version,
    ...(found.evidence && { priceEvidence: found.evidence }),
    lines: charges.map(lineOf),
    reason,
  };
};

/** OpenAI's audio is 20 tokens a second: two bills of 268 s were for 10,785. @see https://www.s-anand.net/blog/openai-tts-cost/ */
const SPEECH_TOKENS_PER_SECOND = 20;
const CHARACTERS_PER_TOKEN = 4.5;

/** Speech that is sold by the token, without reported usage: its tokens by its length. */
const withSpeech = (usage: Usage, { billableItems, usageSource }: Reading, rates: Rates): Usage => {
  const { characters = 0, ...units } = usage.units;
  const seconds = Number(billableItems[BILLABLE.speechSeconds] ?? 0);
  if (usageSource === 'reported' || rates.characters !== undefined || !(seconds > 0)) return usage;
  const outputTokens = Math.ceil(seconds * SPEECH_TOKENS_PER_SECOND);
  const inputTokens = Math.ceil(characters / CHARACTERS_PER_TOKEN);
  return { ...usage, units, inputTokens, outputTokens, outputAudioTokens: outputTokens };
};

/** Groq charges for at least ten seconds of audio. @see https://console.groq.com/docs/speech-to-text */
const MIN_GROQ_AUDIO_SECONDS = 10;

/**
 * A search of these models is charged as 8,000 input tokens of what it found, which their usage leaves out; not with the older tool.
 * @see https://developers.openai.com/api/docs/pricing#built-in-tools
 */
const SEARCH_TOKENS = 8_000;
const SEARCHES_BY_BLOCK = /^gpt-4(o|\.1)-mini(?!-search)/i;

/** Usage with what is charged and not reported. */
const asCharged = (provider: string, model: string | undefined, usage: Usage): Usage => {
  const { audioSeconds = 0, webSearches = 0 } = usage.units;
  if (provider === 'groq' && audioSeconds > 0)
    return { ...usage, units: { ...usage.units, audioSeconds: Math.max(audioSeconds, MIN_GROQ_AUDIO_SECONDS) } };
  if (provider !== 'openai' || !model || !SEARCHES_BY_BLOCK.test(model)) return usage;
  const found = webSearches * SEARCH_TOKENS;
  // More input than that may have them.
  return usage.inputTokens < found ? { ...usage, inputTokens: usage.inputTokens + found } : usage;
};

/** One price for all parts of a request. It is known only when all of them are. */
const combine = (usage: Usage, parts: readonly PricedUsage[]): PricedUsage => {
  const missing = parts.find(({ provenance }) => provenance === 'unknown');
  if (missing) return { ...missing, usage };
  const doubtful = parts.find(({ provenance }) => provenance === 'estimated');
  const lines = parts.flatMap((part) => part.lines);
  return {
    ...(doubtful ?? (parts[0] as PricedUsage)),
    usage,
    costNanoUsd: costOfLines(lines),
    priceSource: [...new Set(parts.map(({ priceSource }) => priceSource))].join(' + '),
    lines,
  };
};

/** A stream of a background response that was interrupted: its usage is incomplete, and the response may be fetched later. */
const isPending = ({ usageSource, billableItems }: Reading): boolean =>
  usageSource === 'estimated' && billableItems[BILLABLE.responseBackground] === 1;

/** True for an error, a redirect, "not modified" and "no content". */
const deliversNothing = (status: number | null): boolean => status !== null && (status >= 300 || status === 204);

/**
 * Azure may charge for a prompt that its filter or the model's limit rejects, and for a time-out. Refusals of ours have no whole response.
 * @see https://learn.microsoft.com/azure/ai-services/openai/how-to/manage-costs
 */
const isChargedError = (request: PriceableRequest): boolean =>
  request.provider === 'azure' &&
  (request.status === 400 || request.status === 408) &&
  request.reading.complete &&
  !startsNothing(request);

/** True for a free request: usage that it shows is that of another one (a stored response, a batch that ended). */
const isCountedElsewhere = ({ provider, method, path, reading }: PriceableRequest): boolean =>
  isFreeRequest({ provider, path, dialect: reading.dialect }) || (method === 'GET' && isFetchedAgain(reading));

const ONE_CALL: ReadUsage = { usage: clampUsage({ units: { requests: 1 } }), gap: null };

/** DeepSeek does not charge for a search without results. */
const SEARCH = 'deepseek-search';
const findsNothing = (request: PriceableRequest): boolean =>
  modelOfCall(request) === SEARCH && request.reading.billableItems[BILLABLE.searchResults] === 0;

const isSoldCall = (request: PriceableRequest): boolean => {
  const { complete, billableItems } = request.reading;
  const model = modelOfCall(request);
  return complete && model !== undefined && (model !== SEARCH || billableItems[BILLABLE.searchResults] === 1);
};

const isFree = (request: PriceableRequest, usage: Usage | null): boolean => {
  const { provider, method, status, reading } = request;
  const { refused, billedToAnother, responseError } = BILLABLE;
  const has = (name: string): boolean => reading.billableItems[name] === 1;
  if (provider === 'anthropic' && has(billedToAnother)) return true;
  if (usage) return provider === 'anthropic' && has(refused) && usage.outputTokens === 0;
  if (deliversNothing(status) || has(responseError) || findsNothing(request)) return true;
  // Polling for a pending response, and other calls that do not report usage.
  return method !== 'POST' && method !== WEBSOCKET && reading.complete;
};

/** OpenAI's API marks background responses; all others were charged when they were made. */
const isFetchedAgain = ({ dialect, billableItems }: Reading): boolean =>
  dialect === 'openai-responses'
    ? billableItems[BILLABLE.responseBackground] !== 1
    : billableItems[BILLABLE.responseBackground] === 0;

const whyNoUsage = ({ status, reading }: PriceableRequest): string => {
  if (status === null) return reasons.noResponse;
  if (!reading.complete) return reasons.cutWithoutUsage;
  const { [BILLABLE.responseStatus]: responseStatus, [BILLABLE.responseBackground]: background } =
    reading.billableItems;
  // A response that is not in the background cannot be fetched later. The first event of a stream says whether it is.
  const isForeground = background === 0 || (reading.dialect === 'openai-responses' && reading.streamed && !background);
  const isFetchedLater = !isForeground && pendingStatuses.has(String(responseStatus).toLowerCase());
  return isFetchedLater ? reasons.pending : reasons.noUsage;
};

const whyEstimated = (
  { usageSource, complete }: Reading,
  gap: UsageGap | null,
  doubts: readonly Doubt[],
): string | null => {
  if (usageSource === 'estimated') return reasons.estimatedUsage;
  if (gap === 'derived') return reasons.derivedUsage;
  if (!complete) return reasons.cut;
  const doubt = doubts[0];
  return doubt ? reasons[doubt] : null;
};

const withCost = (usage: Usage | null, provenance: Provenance, costNanoUsd: number): PricedUsage => ({
  ...unknownPrice('', usage),
  costNanoUsd,
  provenance,
  reason: null,
});
