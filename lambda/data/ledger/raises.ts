import { DAY_MS } from '../../domain/calendar/units.ts';
import { ConflictError } from '../../domain/errors.ts';
import { RAISE_KEPT_DAYS, type Raise, raiseAt, raiseSchema } from '../../domain/limits/raise.ts';
import { type AuditEntry, putAudit } from '../accounts/audit-log.ts';
import { type Action, check, EXISTS, IS_NEW, put } from '../table/actions.ts';
import { raiseKey, raisesKey, ruleKey } from '../table/keys.ts';
import { listItems } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { transact } from '../table/write.ts';

/** Raises: members ask for more than their limits. A value has one raise, and asking again replaces a decided one. */
export const openRaises = (table: Table) => {
  const write = (
    accountId: string,
    raise: Raise,
    condition: readonly [string, object],
    budget: readonly [string, Readonly<Record<string, unknown>>?],
    others: readonly (Action | ReturnType<typeof putAudit>)[],
    refusal: string,
  ): Promise<void> => {
    const { budgetId, value, askedAt } = raise;
    const expiresAt = Math.floor((Date.parse(askedAt) + RAISE_KEPT_DAYS * DAY_MS) / 1_000);
    const item = { ...raiseKey(accountId, budgetId, value), ...raise, expiresAt };
    const [expression, values] = condition;
    return transact(
      table,
      [
        put(item, expression, { pending: 'pending', ...values }),
        check(ruleKey(accountId, budgetId), ...budget),
        ...others,
      ],
      ([isRefused]) =>
        new ConflictError(
          isRefused ? refusal : 'The limit was changed or deleted in the meantime. Look at what holds now.',
        ),
    );
  };

  return {
    /** The newest first. */
    list: async (accountId: string, now: Date): Promise<Raise[]> => {
      const since = new Date(now.getTime() - RAISE_KEPT_DAYS * DAY_MS).toISOString();
      return (await listItems(table, raisesKey(accountId), (item) => raiseAt(raiseSchema.parse(item), now)))
        .filter(({ askedAt }) => askedAt > since)
        .toSorted((a, b) => b.askedAt.localeCompare(a.askedAt));
    },

    /** @throws ConflictError where the value's last raise waits for a decision, or the budget is gone */
    ask: (accountId: string, raise: Raise, audit: AuditEntry): Promise<void> =>
      write(
        accountId,
        raise,
        [`${IS_NEW} OR #status <> :pending OR validUntil <= :now`, { now: raise.askedAt }],
        [EXISTS],
        [putAudit(audit)],
        'Somebody asked for this already: it waits for a decision.',
      ),

    /**
     * @param revision of the budget as it was read
     * @throws ConflictError where somebody else decided it, its time is over, or another amount holds by now
     */
    decide: (
      accountId: string,
      raise: Raise,
      revision: number,
      override: Action | undefined,
      audits: readonly AuditEntry[],
    ): Promise<void> =>
      write(
        accountId,
        raise,
        ['#id = :id AND #status = :pending AND validUntil > :now', { id: raise.id, now: raise.decidedAt }],
        ['revision = :revision', { revision }],
        [...(override ? [override] : []), ...audits.map(putAudit)],
        'It was decided already, or its time is over.',
      ),
  };
};
