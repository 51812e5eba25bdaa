import type { MatchLogic, ModelInfo } from '@pydantic/genai-prices';
import * as z from 'zod/mini';
import { priced } from '../../hosts.ts';
import { type GenaiPriceList, genaiProviderId, type ListedModel } from '../genai-prices.ts';
import { MAX_USD } from './models-dev.ts';

/*
 * Reads the data that genai-prices publishes. A model that cannot be read is left out: the price list keeps its entry of before.
 * https://github.com/pydantic/genai-prices/blob/main/prices/new_data/v2/data.schema.json
 */

const MAX_TEXT = 200;
const MAX_MATCH_DEPTH = 8;
const text = z.string().check(z.minLength(1), z.maxLength(MAX_TEXT));

/** No group is repeated and at most one character class is, so that no model name takes long to match. */
const isQuickRegex = (source: string): boolean => {
  if (/\)[*+{?]/.test(source) || (source.match(/[*+]/g) ?? []).length > 1 || /\{\d{3,}|,\}/.test(source)) return false;
  try {
    return Boolean(new RegExp(source));
  } catch {
    return false;
  }
};

const matchSchema = (depth: number): z.ZodMiniType<MatchLogic> => {
  const leaves = [
    z.strictObject({ equals: text }),
    z.strictObject({ starts_with: text }),
    z.strictObject({ ends_with: text }),
    z.strictObject({ contains: text }),
    z.strictObject({ regex: text.check(z.refine(isQuickRegex)) }),
  ] as const;
  if (depth === 0) return z.union(leaves);
  const some = z.array(z.lazy(() => matchSchema(depth - 1))).check(z.minLength(1), z.maxLength(500));
  return z.union([...leaves, z.strictObject({ or: some }), z.strictObject({ and: some })]);
};

const usd = z.number().check(z.nonnegative(), z.maximum(MAX_USD));
const pricesSchema = z.record(
  text,
  z.union([
    usd,
    z.object({
      base: usd,
      tiers: z.array(z.object({ start: z.int().check(z.nonnegative()), price: usd })).check(z.maxLength(20)),
    }),
  ]),
);
const time = z.string().check(z.regex(/^\d{2}:\d{2}:\d{2}(Z|[+-]\d{2}:\d{2})$/));
const constraintSchema = z.union([
  z.strictObject({ start_date: z.iso.date(), type: z.optional(z.literal('start_date')) }),
  z.strictObject({ start_time: time, end_time: time, type: z.optional(z.literal('time_of_date')) }),
]);
const modelSchema = z.object({
  id: text,
  match: matchSchema(MAX_MATCH_DEPTH),
  prices: z.union([
    z
      .array(z.object({ constraint: z.optional(z.nullable(constraintSchema)), prices: pricesSchema }))
      .check(z.minLength(1), z.maxLength(50)),
    pricesSchema,
  ]),
});

const isFree = (prices: unknown): boolean => !/[1-9]/.test(JSON.stringify(prices).replace(/"[^"]*"/g, ''));

const readModel = (json: unknown): ListedModel | null => {
  const parsed = modelSchema.safeParse(json);
  if (!parsed.success) return null;
  const { id, match, prices } = parsed.data;
  // All zeroes mean that somebody did not know the price, unless the id says that it is free.
  if (isFree(prices) && !id.endsWith(':free')) return null;
  const dated = Array.isArray(prices)
    ? prices.map(({ constraint, ...rest }) => (constraint ? { ...rest, constraint } : rest))
    : prices;
  return { id, match, prices: dated as unknown as ModelInfo['prices'] };
};

const dataSchema = z.array(
  z.looseObject({
    id: z.string(),
    fallback_model_providers: z.optional(z.nullable(z.array(text))),
    models: z.array(z.unknown()).check(z.maxLength(10_000)),
  }),
);

/**
 * The prices of the gateway's providers.
 *
 * @throws $ZodError where the data has another shape
 */
export const readGenaiPrices = (json: unknown): GenaiPriceList => {
  const data = dataSchema.parse(json);
  return Object.fromEntries(
    priced.flatMap(({ label, name }) => {
      const found = data.find(({ id }) => id === genaiProviderId(label));
      if (!found) return [];
      const { id, fallback_model_providers: fallback, models } = found;
      const listed = models.flatMap((model) => readModel(model) ?? []);
      return [
        [label, { id, name, api_pattern: '', ...(fallback && { fallback_model_providers: fallback }), models: listed }],
      ];
    }),
  );
};
