import * as z from 'zod/mini';
import { put } from '../table/actions.ts';
import { repricingKey } from '../table/keys.ts';
import { findItem } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { write } from '../table/write.ts';

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
