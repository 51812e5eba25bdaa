import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { DAY_SECONDS } from '../../domain/calendar/units.ts';
import { stripeEventKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/** Stripe repeats an event for three days, and people may send one again for thirty. @see https://docs.stripe.com/webhooks#retries */
const REMEMBERED_SECONDS = 40 * DAY_SECONDS;

/** Which events of the payment processor have been worked off. */
export const openBillingEvents = ({ client, name }: Table, now: () => number = Date.now) => ({
  isDone: async (eventId: string): Promise<boolean> => {
    const { Item } = await client.send(
      new GetCommand({ TableName: name, Key: stripeEventKey(eventId), ConsistentRead: true }),
    );
    return Item !== undefined;
  },

  /** Only after all its effects are written: what was cut off in between is to be done again. */
  markDone: async (eventId: string, type: string): Promise<void> => {
    const doneAt = now();
    await client.send(
      new PutCommand({
        TableName: name,
        Item: {
          ...stripeEventKey(eventId),
          type,
          doneAt: new Date(doneAt).toISOString(),
          expiresAt: Math.floor(doneAt / 1_000) + REMEMBERED_SECONDS,
        },
      }),
    );
  },
});

export type BillingEvents = ReturnType<typeof openBillingEvents>;
