import { type Factor, times } from '../money.ts';
import { EXTRA } from '../usage/extras.ts';
import { at } from '../usage/raw.ts';
import type { Reading } from '../usage-event.ts';
import { isMeant } from './overrides/override.ts';
import { type Rates, tokenKinds } from './rates.ts';

/*
 * What a tier of service does to the price of tokens. Fees for tools stay as they are.
 * https://developers.openai.com/api/docs/guides/flex-processing (flex is priced as batch)
 * https://openai.com/api-priority-processing (2026-05)
 * https://platform.claude.com/docs/en/about-claude/pricing (batch; fast mode of Opus 4.6 and US-only inference second-hand)
 * https://ai.google.dev/gemini-api/docs/optimization (batch, flex, priority)
 */

const factor = (numerator: number, denominator = 1): Factor => ({ numerator, denominator });
const HALF = factor(1, 2);

interface TierRule {
  readonly providers: readonly string[];
  readonly tier: string;
  /** All models where left out. */
  readonly models?: readonly string[];
  readonly factor: Factor;
  /** The list price is not known to this precision. */
  readonly isApproximate?: true;
}

/** First match wins. */
const rules: readonly TierRule[] = [
  {
    providers: ['openai', 'anthropic', 'google', 'mistral', 'groq', 'together', 'fireworks', 'xai'],
    tier: 'batch',
    factor: HALF,
  },
  { providers: ['openai', 'google'], tier: 'flex', factor: HALF },
  ...priority([factor(7, 4), ['gpt-4o-2024-05-13', 'gpt-4.1', 'gpt-4.1-2025*', 'gpt-4.1-mini*', 'o3', 'o3-2025*']]),
  ...priority([factor(5, 3), ['gpt-4o-mini*']]),
  ...priority([factor(17, 10), ['gpt-4o', 'gpt-4o-2024*']]),
  ...priority([factor(20, 11), ['o4-mini*']]),
  ...priority([factor(9, 5), ['gpt-5-mini*']]),
  ...priority([factor(5, 2), ['gpt-5.5', 'gpt-5.5-2026*']]),
  ...priority([
    factor(2),
    [
      'gpt-4.1-nano*',
      'gpt-5',
      'gpt-5-2025*',
      'gpt-5-codex',
      'gpt-5.1*',
      'gpt-5.2*',
      'gpt-5.3-codex',
      'gpt-5.4',
      'gpt-5.4-2026*',
      'gpt-5.4-mini*',
    ],
  ]),
  { providers: ['openai', 'xai'], tier: 'priority', factor: factor(2), isApproximate: true },
  // "75 % to 100 % more than standard", by model.
  { providers: ['google'], tier: 'priority', factor: factor(9, 5), isApproximate: true },
  { providers: ['anthropic'], tier: 'fast', models: ['claude-opus-4-6*'], factor: factor(6) },
  { providers: ['anthropic'], tier: 'fast', factor: factor(6), isApproximate: true },
  { providers: ['anthropic'], tier: 'us', factor: factor(11, 10) },
];

function priority([multiple, models]: readonly [Factor, readonly string[]]): TierRule[] {
  return [{ providers: ['openai'], tier: 'priority', models, factor: multiple }];
}

/** Tiers that cost what the list says. Groq's flex and performance tiers differ in limits, not in price. */
const listPriced = new Set([
  '',
  'default',
  'auto',
  'standard',
  'standard_only',
  'on_demand',
  'performance',
  'provisioned',
]);
const listPricedBy: Readonly<Record<string, ReadonlySet<string>>> = { groq: new Set(['flex']) };

/** Tiers that apply at once, lower case: what the answer says it was served on, batch, speed, place of inference. */
export const tiersOf = ({ dialect, serviceTier, usage, extras }: Reading): readonly string[] => {
  const named = serviceTier ?? at(usage, 'service_tier') ?? at(usage, 'serviceTier') ?? at(usage, 'service_tier_used');
  const isBatch = dialect.endsWith('-batch-output') || Number(extras[EXTRA.batch] ?? 0) > 0;
  const tiers = [isBatch ? 'batch' : typeof named === 'string' ? named.toLowerCase() : ''];
  if (at(usage, 'speed') === 'fast') tiers.push('fast');
  if (at(usage, 'inference_geo') === 'us') tiers.push('us');
  return tiers;
};

export interface TieredRates {
  readonly rates: Rates;
  /** False where a tier was named whose price is not known: the rates are then the nearest there are. */
  readonly isExact: boolean;
}

/** Rates of the standard tier, as the tiers make them. */
export const applyTiers = (provider: string, model: string, tiers: readonly string[], rates: Rates): TieredRates => {
  let result: TieredRates = { rates, isExact: true };
  for (const tier of tiers) {
    if (listPriced.has(tier) || listPricedBy[provider]?.has(tier)) continue;
    const rule = rules.find(
      (candidate) =>
        candidate.tier === tier &&
        candidate.providers.includes(provider) &&
        (!candidate.models || isMeant(candidate.models, model)),
    );
    result = {
      rates: rule ? multiplied(result.rates, rule.factor) : result.rates,
      isExact: result.isExact && rule !== undefined && !rule.isApproximate,
    };
  }
  return result;
};

const multiplied = (rates: Rates, by: Factor): Rates => ({
  ...rates,
  ...Object.fromEntries(
    tokenKinds.flatMap((kind) => (rates[kind] === undefined ? [] : [[kind, times(rates[kind], by)]])),
  ),
});
