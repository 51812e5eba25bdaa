import { costNanoUsd } from '../money.ts';
import { BILLABLE } from '../usage/billable-items.ts';
import { reasonsUnseen } from '../usage/hidden-reasoning.ts';
import { normalizeUsage } from '../usage/normalize.ts';
import { partsOf } from '../usage/parts.ts';
import type { PricedUsage, Provenance, Usage } from '../usage/usage.ts';
import type { Reading } from '../usage/usage-event.ts';
import { charge, lineOf } from './charge.ts';
import { type Doubt, modelsOf, type PriceableRequest, ratesFor } from './request-rates.ts';

/** Why a cost is unknown or estimated: the whole list, for people. */
export const reasons = {
  noUsage: 'The provider reported no usage and none could be estimated.',
  noAnswer: 'The provider did not answer, and may have charged all the same.',
  cutWithoutUsage: 'The answer broke off before its usage was reported.',
  pending: 'The answer is made in the background: its cost is counted when it is fetched.',
  hiddenReasoning: 'The provider reported no usage, and this model thinks unseen: its output cannot be estimated.',
  noModel: 'Neither the request nor the answer names a model.',
  noPrice: 'No price is known for this model.',
  noRate: 'Something this request used has no known price.',
  estimatedUsage: 'The provider reported no usage: it was counted from the visible text.',
  cut: 'The answer broke off: usage may be too low.',
  storage: 'What is kept is charged by the hour besides.',
  tier: 'The price of the service tier is not known exactly.',
  allowance: 'Fees that are partly free of charge are counted in full.',
  imageEstimate: "The provider's own estimate by image, as no usage was reported.",
  route: 'OpenRouter did not report its charge, which depends on the route: this is the list price.',
} as const;

/** Statuses of an answer that is not made yet. */
const pendingStatuses: ReadonlySet<string> = new Set([
  'queued',
  'created',
  'in_progress',
  'processing',
  'requires_action',
]);

/**
 * The price of one request from what the meter read of it. Pure and synchronous; never throws: what lies is clamped, what is
 * missing makes the cost unknown.
 *
 * `free` are calls that providers do not charge for: the dialect `free`, a request the provider refused (status 400 and up, or
 * an answer that is one error) without reporting usage, one that a model of Anthropic's refused before any output, reading an
 * answer again that was charged when it was made.
 */
export const priceRequest = (request: PriceableRequest): PricedUsage => {
  const { reading } = request;
  if (isStillInTheMaking(reading)) return unknown(null, reasons.pending);
  const usage = normalizeUsage(request.provider, reading);
  if (isFree(request, usage)) return settled(usage, 'free', 0);
  if (!usage) return unknown(null, whyNoUsage(request));
  if (usage.providerCostNanoUsd !== null) return settled(usage, 'provider', usage.providerCostNanoUsd);
  const parts = partsOf(reading);
  if (parts.length === 0) return settled(usage, 'free', 0);
  return combined(
    usage,
    parts.map((part) =>
      part === reading
        ? priceByBook(request, usage)
        : priceByBook({ ...request, reading: part }, normalizeUsage(request.provider, part)),
    ),
  );
};

/** Usage times the price book. */
const priceByBook = (request: PriceableRequest, usage: Usage | null): PricedUsage => {
  const { reading } = request;
  if (!usage) return unknown(null, reasons.noUsage);
  const models = modelsOf(request);
  if (models.length === 0) return unknown(usage, reasons.noModel);
  if (reading.usageSource === 'estimated' && models.some(reasonsUnseen)) return unknown(usage, reasons.hiddenReasoning);
  const found = ratesFor(request, usage);
  if (!found) return unknown(usage, reasons.noPrice);
  const { charges, unpriced } = charge(billed(request.provider, usage), found.rates);
  if (unpriced.length > 0) return unknown(usage, reasons.noRate);
  const reason = whyEstimated(reading, found.doubts);
  return {
    usage,
    costNanoUsd: costNanoUsd(charges),
    provenance: reason === null ? 'computed' : 'estimated',
    priceSource: found.source,
    lines: charges.map(lineOf),
    reason,
  };
};

/** Groq charges for ten seconds of audio at least. @see https://console.groq.com/docs/speech-to-text */
const MIN_GROQ_AUDIO_SECONDS = 10;

const billed = (provider: string, usage: Usage): Usage => {
  const seconds = usage.units.audioSeconds ?? 0;
  if (provider !== 'groq' || seconds === 0 || seconds >= MIN_GROQ_AUDIO_SECONDS) return usage;
  return { ...usage, units: { ...usage.units, audioSeconds: MIN_GROQ_AUDIO_SECONDS } };
};

/** The parts of one request as one price: known only where all are. */
const combined = (usage: Usage, parts: readonly PricedUsage[]): PricedUsage => {
  const [first, ...others] = parts as [PricedUsage, ...PricedUsage[]];
  if (others.length === 0) return first.usage === usage ? first : { ...first, usage };
  const missing = parts.find(({ provenance }) => provenance === 'unknown');
  if (missing) return { ...missing, usage };
  const doubtful = parts.find(({ provenance }) => provenance === 'estimated');
  return {
    ...(doubtful ?? first),
    usage,
    costNanoUsd: parts.reduce((sum, { costNanoUsd }) => sum + (costNanoUsd ?? 0), 0),
    priceSource: [...new Set(parts.map(({ priceSource }) => priceSource))].join(' + '),
    lines: parts.flatMap(({ lines }) => lines),
  };
};

/** A stream of an answer made in the background that was left: what was seen of it is no measure, and it may be fetched whole. */
const isStillInTheMaking = ({ usageSource, billableItems }: Reading): boolean =>
  usageSource === 'estimated' && billableItems[BILLABLE.responseBackground] === 1;

/** OpenAI's conversations hold what was said; at Mistral the same path answers. */
const OPENAI_CONVERSATIONS = /\/v\d+\/conversations(\/|$)/;

const isFree = ({ provider, method, path, status, reading }: PriceableRequest, usage: Usage | null): boolean => {
  if (reading.dialect === 'free') return true;
  if (reading.dialect === 'openai-moderations' && provider === 'openai') return true;
  if (provider === 'openai' && OPENAI_CONVERSATIONS.test(path)) return true;
  if (method === 'GET' && isReadAgain(reading)) return true;
  if (usage)
    return provider === 'anthropic' && reading.billableItems[BILLABLE.refused] === 1 && usage.outputTokens === 0;
  if (status !== null && status >= 400) return true;
  if (reading.billableItems[BILLABLE.responseError]) return true;
  // Asking after an answer in the making, or for anything else that says nothing of usage.
  return method !== 'POST' && reading.complete;
};

/** Answers made in the background say so, at OpenAI and whoever copies it; all others were charged when they were made. */
const isReadAgain = ({ dialect, billableItems }: Reading): boolean =>
  dialect === 'openai-responses'
    ? billableItems[BILLABLE.responseBackground] !== 1
    : billableItems[BILLABLE.responseBackground] === 0;

const whyNoUsage = ({ status, reading }: PriceableRequest): string => {
  if (status === null) return reasons.noAnswer;
  if (!reading.complete) return reasons.cutWithoutUsage;
  const { [BILLABLE.responseStatus]: answered, [BILLABLE.responseBackground]: background } = reading.billableItems;
  // In the foreground, nothing comes later: the stream ended in another way than it began.
  const isPending = background !== 0 && pendingStatuses.has(String(answered).toLowerCase());
  return isPending ? reasons.pending : reasons.noUsage;
};

const whyEstimated = ({ usageSource, complete }: Reading, doubts: readonly Doubt[]): string | null => {
  if (usageSource === 'estimated') return reasons.estimatedUsage;
  if (!complete) return reasons.cut;
  const doubt = doubts[0];
  return doubt ? reasons[doubt] : null;
};

const settled = (usage: Usage | null, provenance: Provenance, cost: number): PricedUsage => ({
  usage,
  costNanoUsd: cost,
  provenance,
  priceSource: null,
  lines: [],
  reason: null,
});

const unknown = (usage: Usage | null, reason: string): PricedUsage => ({
  usage,
  costNanoUsd: null,
  provenance: 'unknown',
  priceSource: null,
  lines: [],
  reason,
});
