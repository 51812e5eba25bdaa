import * as z from 'zod/mini';
import { priced } from '../../hosts.ts';
import type { ListedTokenPrices, ModelTokenPrices, PromptTier, TokenPriceList, TokenPrices } from '../rates.ts';

/** Past this a price (USD per million tokens) cannot be true. */
export const MAX_USD = 100_000;

/** Where `context_over_200k` begins if nothing says more. */
const LEGACY_LIMIT = 200_000;

const usd = z.number().check(z.nonnegative(), z.maximum(MAX_USD));

const names = {
  input: 'input',
  output: 'output',
  cache_read: 'cacheRead',
  cache_write: 'cacheWrite',
  input_audio: 'inputAudio',
  output_audio: 'outputAudio',
  reasoning: 'reasoning',
} as const;

const costSchema = z.looseObject(
  Object.fromEntries(Object.keys(names).map((name) => [name, z.optional(usd)])) as Record<
    keyof typeof names,
    z.ZodMiniOptional<typeof usd>
  >,
);

const ratesOf = (cost: z.infer<typeof costSchema>): TokenPrices => {
  const rates: Record<string, number> = {};
  for (const [theirs, ours] of Object.entries(names)) {
    const rate = cost[theirs];
    if (typeof rate !== 'number') continue;
    // A zero next to a real price means that there is no such rate, not that it is free: an embedding has no output.
    if (rate > 0 || ours === 'input' || ours === 'output') rates[ours] = rate;
  }
  return rates;
};

/** True for a price. All zeroes mean "not sold by the token" (music, preview models) unless the id says that it is free. */
const isPrice = (id: string, rates: TokenPrices): boolean =>
  id.endsWith(':free') || Object.values(rates).some((rate) => rate > 0);

const tiersSchema = z.array(
  z.looseObject({ tier: z.object({ type: z._default(z.literal('context'), 'context'), size: z.int() }) }),
);

/**
 * The prices of long prompts. `context_over_200k` also stands for higher limits, and lacks lower ones and second tiers: `tiers` is exact.
 *
 * @see https://github.com/anomalyco/models.dev/blob/dev/packages/core/src/generate.ts
 */
const tiersOf = ({ tiers, context_over_200k: long }: z.infer<typeof costSchema>): PromptTier[] => {
  const exact = tiersSchema.safeParse(tiers);
  const costs = exact.success ? exact.data : long ? [{ ...(long as object), tier: { size: LEGACY_LIMIT } }] : [];
  return costs
    .flatMap(({ tier, ...cost }): PromptTier[] => {
      const parsed = costSchema.safeParse(cost);
      return parsed.success ? [{ over: tier.size, ...ratesOf(parsed.data) }] : [];
    })
    .sort((a, b) => a.over - b.over);
};

/**
 * A model of models.dev as an entry of the price list; null where it has no price, or a price that cannot be true.
 *
 * @param cost its member `cost`
 */
export const tokenPricesOf = (id: string, cost: unknown): ModelTokenPrices | null => {
  const parsed = costSchema.safeParse(cost ?? {});
  if (!parsed.success) return null;
  const rates = ratesOf(parsed.data);
  if (!isPrice(id, rates)) return null;
  const tiers = tiersOf(parsed.data);
  return tiers.length > 0 ? { ...rates, tiers } : rates;
};

const MAX_ID_CHARACTERS = 200;
const apiSchema = z.record(z.string(), z.unknown());
const providerSchema = z.looseObject({
  models: z.record(z.string(), z.looseObject({ cost: z.optional(z.unknown()) })),
});

/**
 * The prices of the gateway's providers in `https://models.dev/api.json`. Entries that cannot be true are left out.
 *
 * @throws $ZodError where it has another shape
 */
export const readModelsDev = (json: unknown): TokenPriceList => {
  const api = apiSchema.parse(json);
  return Object.fromEntries(
    priced.flatMap(({ label, priceIds }) => {
      if (!Object.hasOwn(api, priceIds.modelsDev)) return [];
      const models = Object.entries(providerSchema.parse(api[priceIds.modelsDev]).models).flatMap(
        ([id, { cost }]): [string, ListedTokenPrices][] => {
          const prices = id.length <= MAX_ID_CHARACTERS ? tokenPricesOf(id, cost) : null;
          return prices ? [[id.toLowerCase(), prices]] : [];
        },
      );
      return [[label, Object.fromEntries(models)]];
    }),
  );
};
