import { auditOf, withRoom } from '../../data/accounts/audit-log.ts';
import { NotFoundError } from '../../domain/errors.ts';
import { findingId } from '../../domain/savings/decision.ts';
import type { Implementations } from '../../http/operation.ts';
import type { Settings } from '../open-settings.ts';
import type * as operations from './decision-operations.ts';

/** Each watched one is a comparison that the list computes. */
const MAX_DECISIONS = 50;

export const decideSavings = ({ savingDecisions, now }: Settings): Implementations<typeof operations> => ({
  decideSaving: async ({ caller, clientAddress, body }) => {
    const { kind, scope, decision, reason } = body;
    const id = findingId(kind, scope);
    const listOthers = async () =>
      (await savingDecisions.list(caller.accountId)).filter((each) => each.findingId !== id);
    const details = { kind, scope: JSON.stringify(scope), reason: reason ?? 'none' };
    const audit = auditOf({ caller, clientAddress }, { action: `saving.${decision}`, subject: id, details }, now());
    const saved = { findingId: id, ...body, by: caller.name, at: audit.at };
    await savingDecisions.save(saved, withRoom(audit, listOthers, MAX_DECISIONS, 'decisions about savings'));
    return { id };
  },

  undoSaving: async ({ caller, clientAddress, params: { id } }) => {
    const before = (await savingDecisions.list(caller.accountId)).find(({ findingId }) => findingId === id);
    if (!before) throw new NotFoundError('Nothing was decided about this finding.');
    const details = { kind: before.kind, decision: before.decision, reason: before.reason ?? 'none' };
    const audit = auditOf({ caller, clientAddress }, { action: 'saving.undone', subject: id, details }, now());
    await savingDecisions.remove(id, audit);
  },
});
