import { DAY_SECONDS } from '../../domain/calendar/units.ts';
import { put } from '../table/actions.ts';
import { stripeEventKey } from '../table/keys.ts';
import { findItem } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { write } from '../table/write.ts';

/** Stripe retries an event for three days, and its users can resend it for thirty. @see https://docs.stripe.com/webhooks#retries */
const REMEMBERED_SECONDS = 40 * DAY_SECONDS;

/** Processed events of the payment processor. */
export const openBillingEvents = (table: Table, now: () => number = Date.now) => ({
  isDone: async (eventId: string): Promise<boolean> => (await findItem(table, stripeEventKey(eventId))) !== undefined,

  /** Call only after all effects of the event are written, so that an interrupted event is processed again. */
  markDone: async (eventId: string, type: string): Promise<void> => {
    const doneAt = now();
    await write(
      table,
      put({
        ...stripeEventKey(eventId),
        type,
        doneAt: new Date(doneAt).toISOString(),
        expiresAt: Math.floor(doneAt / 1_000) + REMEMBERED_SECONDS,
      }),
    );
  },
});

export type BillingEvents = ReturnType<typeof openBillingEvents>;
