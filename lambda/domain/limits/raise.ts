import * as z from 'zod/mini';

/** A decision is possible this long after somebody asked. */
export const RAISE_DAYS = 7;
/** It is listed this long. */
export const RAISE_KEPT_DAYS = 30;

const amount = z.number().check(z.gt(0), z.maximum(9_000_000));
const at = z.iso.datetime();

/** The body with which somebody asks for a raise. */
export const raiseAsk = z.strictObject({
  amount: amount.check(z.describe('In USD for each period: more than what holds now.')),
  reason: z.string().check(z.trim(), z.minLength(1), z.maxLength(500)),
});

/** The body with which somebody decides about a raise. */
export const raiseDecision = z.strictObject({
  isApproved: z.boolean(),
  amount: z.optional(amount.check(z.describe('Another amount than the one asked for: more than what holds now.'))),
  until: z
    ._default(z.nullable(z.literal('period_end')), 'period_end')
    .check(z.describe('Until when the amount holds. Null: it has no end.')),
});

/** A member asks that one value of a budget may have more. */
export const raiseSchema = z
  .object({
    id: z.string(),
    budgetId: z.string(),
    budgetName: z.string(),
    each: z.string(),
    value: z.string(),
    label: z.nullable(z.string()).check(z.describe('Name of the member, key or project.')),
    ...raiseAsk.shape,
    limitNanoUsd: z.int().check(z.describe('The amount that held when it was asked, in 1e-9 USD.')),
    usedNanoUsd: z.int().check(z.describe('What was used then.')),
    askedBy: z.object({ userId: z.string(), name: z.string() }),
    askedAt: at,
    validUntil: at.check(z.describe('Until then it can be decided.')),
    status: z.enum(['pending', 'approved', 'denied', 'expired']),
    decidedBy: z.nullable(z.object({ userId: z.string(), name: z.string() })),
    decidedAt: z.nullable(at),
    granted: z.nullable(z.object({ amount, until: z.nullable(at).check(z.describe('Null: it has no end.')) })),
  })
  .register(z.globalRegistry, { id: 'Raise' });
export type Raise = z.infer<typeof raiseSchema>;

/** A raise as it is now: nobody decides it after its time. */
export const raiseAt = (raise: Raise, now: Date): Raise =>
  raise.status === 'pending' && raise.validUntil <= now.toISOString() ? { ...raise, status: 'expired' } : raise;
