import * as z from 'zod/mini';
import { providerLabels } from '../providers.ts';
import { MAX_MODEL_CHARACTERS, MAX_TAG_CHARACTERS } from '../usage/limits.ts';

/** An amount in USD, at least a millionth: the ledger counts in nano-USD. */
export const usdAmount = z.number().check(z.minimum(0.000001), z.maximum(9_000_000));

const model = z
  .string()
  .check(z.minLength(1), z.maxLength(MAX_MODEL_CHARACTERS), z.describe('As GET /spend?groupBy=model names it.'));

const filter = z
  .strictObject({
    provider: z.optional(z.enum(providerLabels)),
    model: z.optional(model),
    tag: z.optional(z.string().check(z.minLength(1), z.maxLength(MAX_TAG_CHARACTERS))),
  })
  .check(z.describe('Only requests that match all of these count. Without a filter, all requests count.'));

export const ruleFilter = z.optional(filter);

export const minimumRequests = z.int().check(z.minimum(1), z.maximum(1_000_000));
