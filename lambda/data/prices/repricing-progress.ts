import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { repricingKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

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
export const openRepricingProgress = ({ client, name }: Table) => ({
  read: async (): Promise<RepricingProgress> => {
    const { Item } = await client.send(new GetCommand({ TableName: name, Key: repricingKey(), ConsistentRead: true }));
    return progressSchema.parse(Item ?? {});
  },
  save: async (progress: RepricingProgress): Promise<void> => {
    await client.send(new PutCommand({ TableName: name, Item: { ...repricingKey(), ...progress } }));
  },
});
