import type { BillingState } from '../../domain/billing/billing-state.ts';
import type { AccountStatus } from '../../domain/billing/plans.ts';
import { auditEntry, openAuditLog } from '../accounts/audit-log.ts';
import { openStatusCopies } from '../accounts/key-copies.ts';
import { update } from '../table/actions.ts';
import { accountKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { RETRY, retryConflicts } from '../table/write.ts';
import { type BillingAccount, openBillingAccounts } from './billing-accounts.ts';

/** A customer's current state at the payment processor. */
export interface CustomerBilling {
  readonly state: BillingState;
  /** True if the customer was deleted; the account then has none. */
  readonly isDeleted: boolean;
}

export interface BillingChange {
  readonly before: BillingAccount;
  readonly after: Pick<BillingAccount, 'plan' | 'billingStatus' | 'status' | 'subscription'>;
}

/** Billing restores what billing suspended. A cancelled account stays cancelled, and a held account stays suspended. */
const statusAfter = ({ status, heldAt }: BillingAccount, isSuspended: boolean): AccountStatus =>
  status === 'cancelled' ? status : isSuspended || heldAt !== undefined ? 'suspended' : 'active';

/**
 * Updates an account to the payment processor's current state: plan, billing status, period, account status and the copy of
 * the status on every key. Safe to call at any time, repeatedly and concurrently: it reads the account before it asks the
 * processor, and writes only if no other sync has written in between. So the last write has the latest state, and events may
 * arrive late, twice and in any order.
 */
export const openBillingSync = (table: Table, readBilling: (customerId: string) => Promise<CustomerBilling>) => {
  const accounts = openBillingAccounts(table);
  const copies = openStatusCopies(table);
  const auditLog = openAuditLog(table);

  const updateAccount = (
    { accountId, status: statusBefore, stripeCustomerId: customer, billingRevision: revision }: BillingAccount,
    after: BillingChange['after'],
    isDeleted: boolean,
  ) =>
    update(
      accountKey(accountId),
      `SET #plan = :plan, billingStatus = :billingStatus, #status = :status, subscription = :subscription, billingRevision = :next${isDeleted ? ', formerStripeCustomerId = :customer REMOVE stripeCustomerId' : ''}`,
      `stripeCustomerId = :customer AND #status = :statusBefore AND ${revision === 0 ? 'attribute_not_exists(billingRevision)' : 'billingRevision = :revision'}`,
      { ...after, next: revision + 1, customer, statusBefore, revision: revision || undefined },
    );

  const write = async (before: BillingAccount, { state, isDeleted }: CustomerBilling): Promise<BillingChange> => {
    const { plan, billingStatus, subscription, isSuspended } = state;
    const after = { plan, billingStatus, subscription, status: statusAfter(before, isSuspended) };
    await copies.write(before.accountId, after.status, updateAccount(before, after, isDeleted));
    return { before, after };
  };

  /** True if a key was created while the status changed: its copy is the old one. Later keys have the new one: see service-keys.ts. */
  const hasMissedKeys = async ({ before, after }: BillingChange): Promise<boolean> =>
    before.status !== after.status && (await copies.keysWithout(before.accountId, after.status)).length > 0;

  /** Who changed it is not known: a person at the payment processor, or time. */
  const recordChange = async ({ before, after }: BillingChange): Promise<void> => {
    const { plan, billingStatus, status } = after;
    if (before.plan === plan && before.billingStatus === billingStatus && before.status === status) return;
    const details = { from: before.plan, to: plan, billingStatus, status };
    await auditLog.record(auditEntry(before.accountId, {}, { action: 'plan.changed', details }, new Date()));
  };

  /**
   * @returns undefined if the account has no customer
   * @throws UnavailableError if other writers keep changing the account; errors of reading Stripe
   */
  return async (accountId: string): Promise<BillingChange | undefined> => {
    let first: BillingAccount | undefined;
    const change = await retryConflicts(async () => {
      const account = await accounts.find(accountId);
      if (account?.stripeCustomerId === undefined) return undefined;
      const change = await write(account, await readBilling(account.stripeCustomerId));
      first ??= change.before;
      return (await hasMissedKeys(change)) ? RETRY : { ...change, before: first };
    });
    if (change) await recordChange(change);
    return change;
  };
};

export type SyncBilling = ReturnType<typeof openBillingSync>;
