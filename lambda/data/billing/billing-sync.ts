import type { BillingState } from '../../domain/billing/billing-state.ts';
import type { AccountStatus } from '../../domain/billing/plans.ts';
import { RETRY, retryConflicts } from '../accounts/retry-conflicts.ts';
import { openStatusCopies } from '../accounts/status-copies.ts';
import { accountKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import type { TransactionItems } from '../table/transact.ts';
import { type BillingAccount, openBillingAccounts } from './billing-accounts.ts';

/** What the payment processor says of a customer at this moment. */
export interface CustomerBilling {
  readonly state: BillingState;
  /** It is gone: the account has no customer any more. */
  readonly isDeleted: boolean;
}

export interface BillingChange {
  readonly before: BillingAccount;
  readonly after: Pick<BillingAccount, 'plan' | 'billingStatus' | 'status' | 'subscription'>;
}

/** What billing suspended, billing restores; an account that was cancelled, or that an operator holds, stays so. */
const statusAfter = ({ status, heldAt }: BillingAccount, isSuspended: boolean): AccountStatus =>
  status === 'cancelled' ? status : isSuspended || heldAt !== undefined ? 'suspended' : 'active';

/**
 * Brings an account in line with what the payment processor says now: plan, billing status, period, account status, and that
 * status on every key. Safe to call at any time, any number of times, side by side: the account is read before the processor
 * is asked, and written only if no other reading was written in between. So what is written last was also read last, and events
 * may come late, twice and in any order.
 */
export const openBillingSync = (table: Table, readBilling: (customerId: string) => Promise<CustomerBilling>) => {
  const accounts = openBillingAccounts(table);
  const copies = openStatusCopies(table);

  const updateAccount = (
    { accountId, status, stripeCustomerId, billingRevision }: BillingAccount,
    after: BillingChange['after'],
    isDeleted: boolean,
  ): TransactionItems[number] => ({
    Update: {
      TableName: table.name,
      Key: accountKey(accountId),
      UpdateExpression: `SET #plan = :plan, billingStatus = :billingStatus, #status = :status, subscription = :subscription, billingRevision = :next${isDeleted ? ', formerStripeCustomerId = :customer REMOVE stripeCustomerId' : ''}`,
      ConditionExpression: `stripeCustomerId = :customer AND #status = :statusBefore AND ${billingRevision === 0 ? 'attribute_not_exists(billingRevision)' : 'billingRevision = :revision'}`,
      ExpressionAttributeNames: { '#plan': 'plan', '#status': 'status' },
      ExpressionAttributeValues: {
        ':plan': after.plan,
        ':billingStatus': after.billingStatus,
        ':status': after.status,
        ':subscription': after.subscription,
        ':next': billingRevision + 1,
        ':customer': stripeCustomerId,
        ':statusBefore': status,
        ...(billingRevision > 0 && { ':revision': billingRevision }),
      },
    },
  });

  const write = async (before: BillingAccount, { state, isDeleted }: CustomerBilling): Promise<BillingChange> => {
    const { plan, billingStatus, subscription, isSuspended } = state;
    const after = { plan, billingStatus, subscription, status: statusAfter(before, isSuspended) };
    await copies.write(before.accountId, after.status, updateAccount(before, after, isDeleted));
    return { before, after };
  };

  /** A key that was made while the account's status changed has the old one. One made after has the new: see service-keys.ts. */
  const missedKeys = async ({ before, after }: BillingChange): Promise<boolean> =>
    before.status !== after.status && (await copies.keysWithout(before.accountId, after.status)).length > 0;

  /**
   * @returns undefined where the account has no customer
   * @throws UnavailableError where others kept changing the account; whatever reading Stripe throws
   */
  return (accountId: string): Promise<BillingChange | undefined> => {
    let first: BillingAccount | undefined;
    return retryConflicts(async () => {
      const account = await accounts.find(accountId);
      if (account?.stripeCustomerId === undefined) return undefined;
      const change = await write(account, await readBilling(account.stripeCustomerId));
      first ??= change.before;
      return (await missedKeys(change)) ? RETRY : { ...change, before: first };
    });
  };
};

export type SyncBilling = ReturnType<typeof openBillingSync>;
