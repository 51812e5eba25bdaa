import * as z from 'zod/mini';
import { type AccountStatus, accountStatuses, billingStatuses, planNames } from '../../domain/billing/plans.ts';
import { NotFoundError } from '../../domain/errors.ts';
import { update } from '../table/actions.ts';
import { accountKey } from '../table/keys.ts';
import { findItem } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { RETRY, retryConflicts } from '../table/write.ts';
import { openStatusCopies } from './key-copies.ts';

const standingSchema = z.object({
  status: z.enum(accountStatuses),
  plan: z.enum(planNames),
  billingStatus: z.enum(billingStatuses),
  /** When (ISO 8601 UTC) and why an operator suspended the account. A payment does not restore it. */
  heldAt: z.optional(z.string()),
  heldReason: z.optional(z.string()),
  billingRevision: z._default(z.int(), 0),
});

/** An account's status and its causes: plan, billing and hold. */
export type AccountStanding = z.infer<typeof standingSchema>;

/** The status that billing alone would give: suspended while an invoice is unpaid. */
const statusWithoutHold = ({ billingStatus }: AccountStanding): AccountStatus =>
  billingStatus === 'UNPAID' ? 'suspended' : 'active';

/** Manual suspension of accounts by operators. */
export const openAccountHolds = (table: Table) => {
  const copies = openStatusCopies(table);

  const find = async (accountId: string): Promise<AccountStanding> => {
    const item = await findItem(table, accountKey(accountId));
    if (item === undefined) throw new NotFoundError('There is no such account.');
    return standingSchema.parse(item);
  };

  /** Increments billingRevision, so that a billing sync that read the account before this change cannot overwrite it. */
  const change = (
    accountId: string,
    statusAfter: (before: AccountStanding) => AccountStatus,
    expression: string,
    values: Readonly<Record<string, string>> = {},
  ): Promise<AccountStanding> =>
    retryConflicts(async () => {
      const before = await find(accountId);
      const status = statusAfter(before);
      const { billingStatus, billingRevision: revision } = before;
      const isSame = `#status = :before AND billingStatus = :billingStatus AND ${revision === 0 ? 'attribute_not_exists(billingRevision)' : 'billingRevision = :revision'}`;
      await copies.write(
        accountId,
        status,
        update(accountKey(accountId), `${expression} ADD billingRevision :one`, isSame, {
          ...values,
          ...{ status, before: before.status, billingStatus, one: 1, revision: revision || undefined },
        }),
      );
      return (await copies.keysWithout(accountId, status)).length > 0 ? RETRY : find(accountId);
    });

  return {
    /** @throws NotFoundError */
    find,

    /** Active keys whose copy of the status differs. Empty unless a key was created while the status changed. */
    keysWithout: copies.keysWithout,

    /**
     * Suspends an account until `release`. A cancelled account stays cancelled.
     *
     * @throws NotFoundError, UnavailableError
     */
    hold: (accountId: string, { at, reason }: { readonly at: string; readonly reason: string }) =>
      change(
        accountId,
        ({ status }) => (status === 'cancelled' ? status : 'suspended'),
        'SET #status = :status, heldAt = :at, heldReason = :reason',
        { at, reason },
      ),

    /**
     * Ends a hold or a cancellation. Billing decides the status again.
     *
     * @throws NotFoundError, UnavailableError
     */
    release: (accountId: string) =>
      change(accountId, statusWithoutHold, 'SET #status = :status REMOVE heldAt, heldReason'),

    /** Rejects the requests of an account that is being deleted, and records no more of them. @throws NotFoundError, UnavailableError */
    cancel: (accountId: string, at: string) =>
      change(accountId, () => 'cancelled', 'SET #status = :status, deletedAt = :at', { at }),

    statusWithoutHold,
  };
};
