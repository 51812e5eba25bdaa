import * as z from 'zod/mini';
import { costDifferenceSchema } from '../../domain/price/cost-differences.ts';
import { IS_NEW, put } from '../table/actions.ts';
import { priceChangeKey, priceChangePrefix, repricingKey, spendPartition } from '../table/keys.ts';
import { findItem, itemsUnder } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { tryWrite, write } from '../table/write.ts';

const storedSchema = z.object({
  version: z.int(),
  day: z.iso.date(),
  /** ISO 8601. */
  repricedAt: z.iso.datetime(),
  differences: z.array(costDifferenceSchema),
});

/** Effect of a version of the prices on the costs of one day. */
export type PriceChangeOfDay = z.infer<typeof storedSchema>;

/** Kept longer than the requests of most plans. */
const KEPT_SECONDS = 400 * 24 * 3_600;

/** Effect of changed prices on the costs of an account. */
export const openPriceChanges = (table: Table) => ({
  /** Notes a day's differences before they are made, once: a run that is repeated finds less to change, and does not count it again. */
  note: async (accountId: string, change: PriceChangeOfDay): Promise<void> => {
    const { version, day, repricedAt, differences } = change;
    const expiresAt = Math.floor(Date.parse(repricedAt) / 1_000) + KEPT_SECONDS;
    const item = { ...priceChangeKey(accountId, version, day), version, day, repricedAt, differences, expiresAt };
    await tryWrite(table, put(item, IS_NEW));
  },

  /** All days of all versions, the newest version first. */
  async *of(accountId: string): AsyncGenerator<PriceChangeOfDay> {
    const under = { pk: spendPartition(accountId), sk: `${priceChangePrefix}#` };
    for await (const item of itemsUnder(table, under, { ScanIndexForward: false })) yield storedSchema.parse(item);
  },
});

export type PriceChanges = ReturnType<typeof openPriceChanges>;

const progressSchema = z.object({
  /** The version that all requests are priced with, as far as prices changed. 0: the book in the code. */
  done: z._default(z.int(), 0),
  /** The work that goes on. Days are worked on from `first` to `last`; the cursor is the account-day that was finished last. */
  job: z._default(
    z.nullable(
      z.object({
        to: z.int(),
        first: z.iso.date(),
        last: z.iso.date(),
        cursor: z.nullable(z.object({ day: z.iso.date(), accountId: z.string() })),
      }),
    ),
    null,
  ),
});

export type RepricingProgress = z.infer<typeof progressSchema>;

/** How far requests have been priced again after price changes: one item. */
export const openRepricingProgress = (table: Table) => ({
  read: async (): Promise<RepricingProgress> => progressSchema.parse((await findItem(table, repricingKey())) ?? {}),
  save: (progress: RepricingProgress): Promise<void> => write(table, put({ ...repricingKey(), ...progress })),
});
