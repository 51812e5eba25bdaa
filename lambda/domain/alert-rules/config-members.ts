import * as z from 'zod';
import { MAX_MODEL_CHARACTERS, MAX_TAG_CHARACTERS } from '../limits.ts';
import { providerLabels } from '../providers.ts';

/** An amount in USD. The ledger counts in nano-USD; a millionth of a dollar is fine enough for a limit. */
export const usdAmount = z.number().min(0.000001).max(9_000_000);

export const ruleFilter = z
  .strictObject({
    provider: z.enum(providerLabels).optional(),
    model: z
      .string()
      .min(1)
      .max(MAX_MODEL_CHARACTERS)
      .describe('As it is named in GET /spend?groupBy=model.')
      .optional(),
    tag: z.string().min(1).max(MAX_TAG_CHARACTERS).optional(),
  })
  .describe('Only requests that match all of these count. Without it, all do.')
  .optional();

export const minimumRequests = z.number().int().min(1).max(1_000_000);
