import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { type FindingKind, findingKinds } from './finding-kinds.ts';

/** The decisions about a finding. A watched one is measured from then on. */
export const decisions = ['dismissed', 'watched'] as const;

const text = z.string().check(z.maxLength(256));

/** The subject of a finding. */
export const findingScope = z.strictObject({
  provider: z.optional(text),
  model: z.optional(z.nullable(text)),
  tag: z.optional(z.nullable(text)),
  key: z.optional(text.check(z.describe('Id of a service key.'))),
  price: z.optional(text.check(z.describe('Id of a price: see GET /prices.'))),
  limit: z.optional(text.check(z.describe('Id of a budget or alert rule.'))),
});

export type FindingScope = z.infer<typeof findingScope>;

/** The same waste has the same id in every range. */
export const findingId = (kind: FindingKind, { provider, model, tag, key, price, limit }: FindingScope): string =>
  createHash('sha256')
    .update(JSON.stringify([kind, provider, model, tag, key, price, limit]))
    .digest('hex')
    .slice(0, 16);

/** A decision about a finding, for the whole account. */
export const decisionSchema = z.object({
  findingId: z.string(),
  kind: z.enum(findingKinds),
  scope: findingScope,
  decision: z.enum(decisions),
  reason: z.nullable(z.string()),
  by: z.string(),
  at: z.iso.datetime(),
});
export type Decision = z.infer<typeof decisionSchema>;
