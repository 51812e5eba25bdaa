import * as z from 'zod/mini';
import { hostLabel } from '../../domain/host-label.ts';
import { decisions, findingScope } from '../../domain/savings/decision.ts';
import { findingKinds } from '../../domain/savings/finding-kinds.ts';
import { inGroup, ok } from '../../http/operation.ts';

const operation = inGroup('Savings');

export const decideSaving = operation('decideSaving', 'PUT /savings/decisions', {
  audits: ['saving.dismissed', 'saving.watched'],
  summary: 'Dismiss a finding, or watch it',
  description:
    'For the whole account, and in the place of an earlier decision. `kind` and `scope` are those of the finding. A dismissed one needs a reason; what a watched one costs since then is compared with as much time before.',
  permission: 'reports:write',
  body: z
    .strictObject({
      kind: z.enum(findingKinds),
      scope: z.extend(findingScope, { provider: z.optional(hostLabel) }),
      decision: z.enum(decisions),
      reason: z._default(z.nullable(z.string().check(z.trim(), z.minLength(1), z.maxLength(500))), null),
    })
    .check(z.refine(({ decision, reason }) => decision === 'watched' || reason !== null, 'needs a reason')),
  success: ok('The finding.', { id: z.string() }),
  errors: ['LIMIT_REACHED'],
});

export const undoSaving = operation('undoSaving', 'DELETE /savings/decisions/{id}', {
  audits: ['saving.undone'],
  summary: 'Take back what was decided about a finding',
  permission: 'reports:write',
  success: { status: 204, description: 'The finding is as if nothing was decided.' },
});
