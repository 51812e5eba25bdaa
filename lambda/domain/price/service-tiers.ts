import { type AttoUsd, type Fraction, times } from '../money.ts';
import { BILLABLE } from '../usage/billable-items.ts';
import { at } from '../usage/raw.ts';
import { tierMembers } from '../usage/usage.ts';
import type { Reading } from '../usage/usage-event.ts';
import { matchesModel } from './overrides.ts';
import { type PriceQuery, type RateKind, type Rates, tokenKinds } from './rates.ts';

/*
 * How service tiers change the price of tokens, pages and seconds of audio. Fees for tools stay the same.
 * https://developers.openai.com/api/docs/guides/flex-processing (flex is priced as batch)
 * https://openai.com/api-fast-mode (2026-08; priority processing was renamed fast mode on 2026-07-30, responses have either name;
 * GPT-6 at twice the price: by two quotes of the models' pages, 2026-09 and 2026-10)
 * https://vercel.com/changelog/openai-ultrafast-mode-now-available-on-ai-gateway (GPT-6 Astra at six times the price; also apidog's quote
 * of the pricing page, 2026-10. That of other models is not published)
 * https://platform.claude.com/docs/en/about-claude/pricing (2026-08: batch, US-only inference)
 * https://platform.claude.com/docs/en/build-with-claude/fast-mode (Opus 4.6 and 4.7 at six times, Opus 4.8 and 5 at twice the
 * price; Opus 5.5 and Fable 5.2, of November 2026, by two quotes)
 * https://ai.google.dev/gemini-api/docs/pricing (2026-08-04: Gemini 2.5 Pro and Flash; caches in batches), …/optimization (the others)
 * https://cloud.google.com/vertex-ai/generative-ai/pricing (2026-06-20: priority; caches on flex; since 2026-07-01 a tenth more for
 * Gemini 3.5 Flash and 3.1 Flash-Lite in all regions but `global`, and no word about newer models)
 * https://docs.cloud.google.com/vertex-ai/generative-ai/docs/flex-paygo (half)
 * https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai (from Claude 4.5 on, all regions but `global` cost a tenth more)
 * https://developers.openai.com/api/docs/models/gpt-6.2-sol (ultrafast at three times the price until March 2027, then at six times)
 * https://console.groq.com/docs/batch (half of the input's price for cached tokens, too)
 * https://mistral.ai/news/mistral-ocr-3 (pages in batches)
 * https://docs.fireworks.ai/serverless/pricing (2026: priority by model; Kimi K2.6 as quoted alike by two, 1.5 to 1.6 times the price)
 * Amazon's price list for Nova of 2026-09-01, as quoted by github.com/api-evangelist/amazon-nova (Bedrock's tiers, roughly)
 * xAI's batches are 20 % to 50 % off, by model.
 */

const factor = (numerator: number, denominator = 1): Fraction => ({
  numerator: BigInt(numerator),
  denominator: BigInt(denominator),
});
const HALF = factor(1, 2);

interface TierRule {
  readonly providers: readonly string[];
  readonly tier: string;
  /** All models where left out. */
  readonly models?: readonly string[];
  readonly factor: Fraction;
  /** Kinds that keep the list price on this tier. */
  readonly except?: readonly RateKind[];
  /** Kinds that have no price of their own on this tier: they are charged as what they are part of. */
  readonly without?: readonly RateKind[];
  /** The first day (UTC) on which it no longer holds. */
  readonly until?: string;
  /** The factor is not known exactly. */
  readonly isApproximate?: true;
}

/** Outside Vertex AI's region `global`. */
const REGIONAL = 'regional';
/** A tuned model, at an endpoint of Vertex AI. */
const TUNED = 'tuned';

const CACHE_READS = ['cacheRead', 'cacheReadAudio', 'cacheReadImage'] as const;

/** Models of Google whose cache reads have the price of the tier, and whose price depends on the region. */
const BY_TIER_AND_REGION = ['gemini-3.1-flash-lite', 'gemini-3.1-flash-lite-preview', 'gemini-3.5-flash'];

const priority = (by: Fraction, models: readonly string[]): TierRule => ({
  providers: ['openai'],
  tier: 'priority',
  models,
  factor: by,
});

/** First match wins. */
const rules: readonly TierRule[] = [
  { providers: ['openai', 'azure', 'anthropic', 'mistral', 'together', 'fireworks'], tier: 'batch', factor: HALF },
  { providers: ['groq'], tier: 'batch', factor: HALF, without: CACHE_READS },
  { providers: ['xai'], tier: 'batch', factor: HALF, isApproximate: true },
  { providers: ['openai'], tier: 'flex', factor: HALF },
  ...['batch', 'flex'].flatMap((tier): TierRule[] => [
    { providers: ['google', 'vertex'], tier, models: BY_TIER_AND_REGION, factor: HALF },
    // Cache reads have a discount already, and get no second one.
    { providers: ['google', 'vertex'], tier, factor: HALF, except: CACHE_READS },
  ]),
  priority(factor(7, 4), ['gpt-4o-2024-05-13', 'gpt-4.1', 'gpt-4.1-2025*', 'gpt-4.1-mini*', 'o3', 'o3-2025*']),
  priority(factor(5, 3), ['gpt-4o-mini*']),
  priority(factor(17, 10), ['gpt-4o', 'gpt-4o-2024*']),
  priority(factor(20, 11), ['o4-mini*']),
  priority(factor(9, 5), ['gpt-5-mini*']),
  priority(factor(5, 2), ['gpt-5.5', 'gpt-5.5-2026*']),
  priority(factor(2), ['gpt-4.1-nano*', 'gpt-5', 'gpt-5-2025*', 'gpt-5-codex', 'gpt-5.1*', 'gpt-5.2*']),
  priority(factor(2), ['gpt-5.3-codex', 'gpt-5.4', 'gpt-5.4-2026*', 'gpt-5.4-mini*', 'gpt-5.6*', 'gpt-6*']),
  { providers: ['openai', 'xai'], tier: 'priority', factor: factor(2), isApproximate: true },
  { providers: ['openai'], tier: 'ultrafast', models: ['gpt-6.2-sol*'], factor: factor(3), until: '2027-03-01' },
  { providers: ['openai'], tier: 'ultrafast', models: ['gpt-6-astra*', 'gpt-6.2-sol*'], factor: factor(6) },
  { providers: ['openai'], tier: 'ultrafast', factor: factor(6), isApproximate: true },
  { providers: ['google'], tier: 'priority', models: ['gemini-2.5-pro', 'gemini-2.5-flash'], factor: factor(9, 5) },
  { providers: ['vertex'], tier: 'priority', factor: factor(9, 5) },
  // "75 % to 100 % more than standard", depending on the model.
  { providers: ['google'], tier: 'priority', factor: factor(9, 5), isApproximate: true },
  { providers: ['fireworks'], tier: 'priority', factor: factor(3, 2), isApproximate: true },
  { providers: ['bedrock'], tier: 'flex', factor: HALF, isApproximate: true },
  { providers: ['bedrock'], tier: 'priority', factor: factor(7, 4), isApproximate: true },
  { providers: ['anthropic'], tier: 'fast', models: ['claude-opus-4-6*', 'claude-opus-4-7*'], factor: factor(6) },
  {
    providers: ['anthropic'],
    tier: 'fast',
    models: ['claude-opus-4-8*', 'claude-opus-5*', 'claude-fable-5-2*'],
    factor: factor(2),
  },
  { providers: ['anthropic'], tier: 'fast', factor: factor(2), isApproximate: true },
  { providers: ['anthropic'], tier: 'us', factor: factor(11, 10) },
  { providers: ['vertex'], tier: REGIONAL, models: ['claude-*', ...BY_TIER_AND_REGION], factor: factor(11, 10) },
  { providers: ['vertex'], tier: REGIONAL, factor: factor(11, 10), isApproximate: true },
  // The page has this price, and does not name all models that can be tuned.
  { providers: ['vertex'], tier: TUNED, factor: factor(3, 2), isApproximate: true },
];

/** Tiers at the list price. Groq's flex and performance tiers differ in limits, not in price. */
const listPriced = new Set([
  '',
  'default',
  'auto',
  'standard',
  'standard_only',
  'unspecified',
  'on_demand',
  'performance',
  'provisioned',
]);
const listPricedBy: Readonly<Record<string, ReadonlySet<string>>> = { groq: new Set(['flex']) };

/** Newer names of tiers, by provider. */
const renamed: Readonly<Record<string, Readonly<Record<string, string>>>> = { openai: { fast: 'priority' } };

/** All tiers of a request, lower case: batch or what the response names, fast mode, inference in the US. */
export const tiersOf = ({ dialect, serviceTier, usage, billableItems }: Reading): readonly string[] => {
  const named = serviceTier ?? tierMembers.map((name) => at(usage, name)).find((value) => typeof value === 'string');
  const isBatch = dialect.endsWith('-batch-output') || Number(billableItems[BILLABLE.batch] ?? 0) > 0;
  const tiers = [
    isBatch
      ? 'batch'
      : typeof named === 'string'
        ? named.toLowerCase().replace(/^(on_demand|service_tier|traffic_type)_/, '')
        : '',
  ];
  if (at(usage, 'speed') === 'fast') tiers.push('fast');
  if (at(usage, 'inference_geo') === 'us') tiers.push('us');
  return tiers;
};

/** Models of Vertex AI whose price may depend on the region: older ones have one price. */
const BY_REGION =
  /^(claude-(?!3|(sonnet|opus)-4(?!-[5-9]))|gemini-(?![12]|3-|3\.1(?!-flash-lite(-preview)?$)|embedding|live-2))/;

/** The tiers that a path means: Vertex AI's has the region, and an endpoint in the place of a model that is tuned. */
export const tiersOfPath = (provider: string, model: string, path: string): readonly string[] =>
  provider === 'vertex'
    ? [
        ...(BY_REGION.test(model) && /\/locations\/(?!global\/)/.test(path) ? [REGIONAL] : []),
        ...(/\/endpoints\/[^/:]+:(generate|streamGenerate)Content$/.test(path) ? [TUNED] : []),
      ]
    : [];

export interface TieredRates {
  readonly rates: Rates;
  /** False where the price of a tier is unknown: the rates are then the closest known ones. */
  readonly isExact: boolean;
}

/** The rates of the standard tier at a time, changed by the given tiers. */
export const applyTiers = (
  { provider, model, at: time }: Pick<PriceQuery, 'provider' | 'model' | 'at'>,
  tiers: readonly string[],
  rates: Rates,
): TieredRates => {
  let result: TieredRates = { rates, isExact: true };
  for (const named of tiers) {
    const tier = renamed[provider]?.[named] ?? named;
    if (listPriced.has(tier) || listPricedBy[provider]?.has(tier)) continue;
    const rule = rules.find(
      (candidate) =>
        candidate.tier === tier &&
        candidate.providers.includes(provider) &&
        (!candidate.until || time < new Date(candidate.until)) &&
        (!candidate.models || matchesModel(candidate.models, model)),
    );
    result = {
      rates: rule ? multiplied(result.rates, rule) : result.rates,
      isExact: result.isExact && rule !== undefined && !rule.isApproximate,
    };
  }
  return result;
};

const multipliedKinds: readonly RateKind[] = [...tokenKinds, 'audioSeconds', 'pages', 'annotatedPages'];

const multiplied = (rates: Rates, { factor: by, except = [], without = [] }: TierRule): Rates =>
  Object.fromEntries(
    (Object.entries(rates) as [RateKind, AttoUsd][]).flatMap(([kind, rate]) => {
      if (without.includes(kind)) return [];
      return [[kind, multipliedKinds.includes(kind) && !except.includes(kind) ? times(rate, by) : rate]];
    }),
  );
