import * as z from 'zod/mini';
import { planNames, plans } from '../../domain/billing/plans.ts';
import { accountKey, deletedAccountKey } from '../table/keys.ts';
import { findItem } from '../table/read.ts';
import { recentlyRead } from '../table/recently-read.ts';
import type { Table } from '../table/table.ts';
import { storedDimensions } from './declared-dimensions.ts';

const MAX_ENTRIES = 10_000;

const stored = z.object({
  plan: z.catch(z.enum(planNames), 'FREE'),
  dimensions: storedDimensions,
  withoutBlocks: z.optional(z.string()),
  deletedAt: z.optional(z.string()),
  hasOwnPrices: z._default(z.boolean(), false),
  countsValues: z._default(z.boolean(), false),
});

/**
 * The terms of accounts, cached for a minute: a retention, or a declared dimension, takes effect so late. What is recorded meanwhile
 * counts as it says on the record, so no sum is wrong: requests without a declared dimension show under `(unknown)`. An account that is
 * not there has those of a FREE one.
 */
export const openAccountTerms = (table: Table, now: () => number = Date.now) => {
  const lately = { consistent: false };
  const read = async (accountId: string) => {
    const account = await findItem(table, accountKey(accountId), lately);
    const { plan, dimensions, withoutBlocks, deletedAt, hasOwnPrices, countsValues } = stored.parse(account ?? {});
    return {
      /** The account is deleted, or being deleted: nothing more is recorded for it. */
      isDeleted:
        deletedAt !== undefined ||
        (account === undefined && (await findItem(table, deletedAccountKey(accountId), lately)) !== undefined),
      /** How long their records are kept, and entries of the audit log are shown. */
      retentionDays: plans[plan].requestRetentionDays,
      /** Names that the account declared, now or before. */
      dimensions,
      /** A budget or pause of the account may stop requests. */
      hasBlocks: withoutBlocks !== undefined,
      /** The account has, or had, prices of its own: see own-prices.ts. */
      hasOwnPrices,
      /** The account has, or had, a limit of each: see data/ledger/limit-values.ts. */
      countsValues,
    };
  };
  return { find: recentlyRead(read, MAX_ENTRIES, now) };
};

/** An account's plan and its declarations. */
export type AccountTerms = Awaited<ReturnType<ReturnType<typeof openAccountTerms>['find']>>;
