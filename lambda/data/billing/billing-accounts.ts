import * as z from 'zod/mini';
import { accountStatuses, billingStatuses, planNames } from '../../domain/billing/plans.ts';
import { ConflictError } from '../../domain/errors.ts';
import { EXISTS, put, update } from '../table/actions.ts';
import { batchRead, chunk } from '../table/batch.ts';
import {
  accountKey,
  stripeCustomerKey,
  stripeCustomersIndexKey,
  stripeCustomersIndexPartition,
} from '../table/keys.ts';
import { findAs, itemsOfIndex } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { transact } from '../table/write.ts';

const subscriptionSchema = z.object({ id: z.string(), periodStart: z.string(), periodEnd: z.string() });

/** The members of the account item that billing uses. */
const billingAccountSchema = z.object({
  accountId: z.string(),
  status: z.enum(accountStatuses),
  plan: z.enum(planNames),
  billingStatus: z.enum(billingStatuses),
  ownerUserId: z.string(),
  activeKeys: z.int().check(z.nonnegative()),
  stripeCustomerId: z.optional(z.string()),
  /** The previous customer, which was deleted in Stripe. */
  formerStripeCustomerId: z.optional(z.string()),
  /** The subscription that pays for the plan; null on FREE. */
  subscription: z._default(z.nullable(subscriptionSchema), null),
  /** When an operator suspended the account: see account-holds.ts. */
  heldAt: z.optional(z.string()),
  /** Incremented by every write of Stripe's state. A sync that read an older revision is not written. */
  billingRevision: z._default(z.int(), 0),
});

export type BillingAccount = z.infer<typeof billingAccountSchema>;
export type BillingAccounts = ReturnType<typeof openBillingAccounts>;

/** Number of accounts per batch read. */
const BATCH = 100;

const customerSchema = z.object({ accountId: z.string() });

export const openBillingAccounts = (table: Table) => {
  const find = (accountId: string): Promise<BillingAccount | undefined> =>
    findAs(table, accountKey(accountId), billingAccountSchema);

  const readAll = async (accountIds: readonly string[]): Promise<BillingAccount[]> => {
    const items = await batchRead(table, accountIds.map(accountKey), { consistent: true });
    return items.map((item) => billingAccountSchema.parse(item));
  };

  return {
    find,

    /** The account of a customer, even if the customer was deleted; undefined for a customer of another system. */
    ownerOf: async (customerId: string): Promise<string | undefined> => {
      return (await findAs(table, stripeCustomerKey(customerId), customerSchema))?.accountId;
    },

    /**
     * Assigns a customer to the account and replaces `account.stripeCustomerId`, if any.
     *
     * @throws ConflictError if the account has received another customer in the meantime
     */
    link: async (account: BillingAccount, customerId: string): Promise<void> => {
      const { accountId, stripeCustomerId: former } = account;
      const asItWas = former === undefined ? 'attribute_not_exists(stripeCustomerId)' : 'stripeCustomerId = :former';
      const change = `SET stripeCustomerId = :customerId${former === undefined ? '' : ', formerStripeCustomerId = :former'}`;
      const isSame = `${EXISTS} AND (stripeCustomerId = :customerId OR ${asItWas})`;
      await transact(
        table,
        [
          update(accountKey(accountId), change, isSame, { customerId, former }),
          put({ ...stripeCustomerKey(customerId), ...stripeCustomersIndexKey(customerId), accountId }),
        ],
        () => new ConflictError("Another request changed the account's billing. Try again."),
      );
    },

    /** All accounts with a customer, in batches, each account once, however many customers it has had. */
    async *all(): AsyncGenerator<BillingAccount[]> {
      const found = new Set<string>();
      for await (const item of itemsOfIndex(table, stripeCustomersIndexPartition))
        found.add(customerSchema.parse(item).accountId);
      for (const batch of chunk([...found], BATCH)) yield await readAll(batch);
    },
  };
};
