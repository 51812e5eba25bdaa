import * as z from 'zod/mini';
import { RESERVATION_MINUTES, type Reservation } from '../../domain/budgets/reservation.ts';
import { DAY_SECONDS, MINUTE_MS } from '../../domain/calendar/units.ts';
import { update } from '../table/actions.ts';
import { findItem } from '../table/find-item.ts';
import { type Key, reservedBudgetKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { tryWrite } from '../table/write.ts';

/*
 * One item for each budget that requests reserve from, and period. `committed` = `finished` + `unreserved` + the reservations, `m` and a minute
 * each. `finished`: costs of requests that had reserved. `unreserved`: the rest of what the ledger shows as used.
 */

/** What one request replaces its reservation with: its cost. */
export interface FinishedReservation extends Reservation {
  readonly accountId: string;
  readonly costNanoUsd: number;
}

/** What a transaction changes in one item. */
export interface ReservationDelta {
  readonly key: Key;
  readonly finishedNanoUsd: number;
  /** What requests cost more than they had reserved. */
  readonly excessNanoUsd: number;
  /** Freed, by minute. */
  readonly freed: ReadonlyMap<number, number>;
}

const keyOf = ({ accountId, budgetId, periodId }: FinishedReservation): Key =>
  reservedBudgetKey(accountId, budgetId, periodId);

/** One delta for each item. */
export const reservationDeltas = (finished: readonly FinishedReservation[]): ReservationDelta[] =>
  [...Map.groupBy(finished, (each) => Object.values(keyOf(each)).join(' ')).values()].map((ofItem) => {
    const freed = new Map<number, number>();
    for (const { minute, nanoUsd } of ofItem) freed.set(minute, (freed.get(minute) ?? 0) + nanoUsd);
    return {
      key: keyOf(ofItem[0] as FinishedReservation),
      finishedNanoUsd: ofItem.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0),
      excessNanoUsd: ofItem.reduce((sum, { costNanoUsd, nanoUsd }) => sum + Math.max(0, costNanoUsd - nanoUsd), 0),
      freed,
    };
  });

/** Fails where one of the minutes was freed before: then the request's cost is in the ledger, and `adjust` finds it there. */
export const finishReservations = ({ key, finishedNanoUsd, excessNanoUsd, freed }: ReservationDelta) => {
  const minutes = [...freed];
  const total = minutes.reduce((sum, [, nanoUsd]) => sum + nanoUsd, 0);
  return {
    Update: {
      Key: { ...key },
      UpdateExpression: `ADD committed :committed, finished :finished, excess :excess, ${minutes.map((_, i) => `#m${i} :m${i}`).join(', ')}`,
      ConditionExpression: minutes.map((_, i) => `attribute_exists(#m${i})`).join(' AND '),
      ExpressionAttributeNames: Object.fromEntries(minutes.map(([minute], i) => [`#m${i}`, `m${minute}`])),
      ExpressionAttributeValues: {
        ':committed': finishedNanoUsd - total,
        ':finished': finishedNanoUsd,
        ':excess': excessNanoUsd,
        ...Object.fromEntries(minutes.map(([, nanoUsd], i) => [`:m${i}`, -nanoUsd])),
      },
    },
  };
};

const stored = z.catchall(
  z.object({
    committed: z._default(z.number(), 0),
    finished: z._default(z.number(), 0),
    unreserved: z._default(z.number(), 0),
    excess: z._default(z.number(), 0),
    /** What was used when the item was made. */
    initial: z._default(z.number(), 0),
    /** What `finished` was when it was compared with the ledger, and when, in epoch milliseconds. */
    comparedFinished: z.optional(z.number()),
    comparedAt: z.optional(z.number()),
  }),
  z.unknown(),
);

/** What a budget's item says. */
export interface BudgetItem {
  readonly exists: boolean;
  readonly finishedNanoUsd: number;
  readonly unreservedNanoUsd: number;
  /** Of it, what was used before the budget reserved anything. */
  readonly initialNanoUsd: number;
  /** What requests cost more than they had reserved. */
  readonly excessNanoUsd: number;
  /** By minute. */
  readonly reserved: ReadonlyMap<number, number>;
  readonly compared: { readonly finishedNanoUsd: number; readonly atMs: number } | null;
}

/** Reads of the ledger may be so late. */
const LATE_READ_MS = 1_500;
const KEPT_DAYS = 40;

export const openReservations = (table: Table, now: () => number = Date.now) => {
  const read = async (key: Key): Promise<BudgetItem> => {
    const found = await findItem(table, key);
    const item = stored.parse(found ?? {});
    const { finished, unreserved, excess, initial, comparedFinished, comparedAt } = item;
    const minutes = Object.entries(item).filter(([member]) => /^m\d+$/.test(member));
    return {
      exists: found !== undefined,
      finishedNanoUsd: finished,
      unreservedNanoUsd: unreserved,
      initialNanoUsd: initial,
      excessNanoUsd: excess,
      reserved: new Map(minutes.map(([member, nanoUsd]) => [Number(member.slice(1)), Number(nanoUsd)])),
      compared: comparedFinished === undefined ? null : { finishedNanoUsd: comparedFinished, atMs: comparedAt ?? 0 },
    };
  };

  /** Frees what requests reserved long ago: their process died, or they still run and will be found in the ledger. */
  const freeOld = async (key: Key, { reserved }: BudgetItem): Promise<void> => {
    const oldest = Math.floor(now() / MINUTE_MS) - RESERVATION_MINUTES;
    for (const [minute, nanoUsd] of reserved) {
      if (minute > oldest) continue;
      const member = `#m${minute}`;
      await tryWrite(
        table,
        update(key, `ADD committed :less REMOVE ${member}`, `${member} = :nanoUsd`, { less: -nanoUsd, nanoUsd }),
      );
    }
  };

  const adjust = async (key: Key, before: BudgetItem, usedNanoUsd: number): Promise<void> => {
    const item = await read(key);
    const isStill =
      item.finishedNanoUsd === before.finishedNanoUsd &&
      (!before.exists ||
        (before.compared?.finishedNanoUsd === before.finishedNanoUsd && now() - before.compared.atMs >= LATE_READ_MS));
    const least = usedNanoUsd - item.finishedNanoUsd;
    const change = (isStill ? least : Math.max(item.unreservedNanoUsd, least)) - item.unreservedNanoUsd;
    if (change !== 0 || item.compared?.finishedNanoUsd !== item.finishedNanoUsd)
      await tryWrite(
        table,
        update(
          key,
          'SET comparedFinished = :finished, comparedAt = :now, expiresAt = if_not_exists(expiresAt, :expiresAt), initial = if_not_exists(initial, :initial) ADD committed :change, unreserved :change',
          'attribute_not_exists(unreserved) OR unreserved = :was',
          {
            finished: item.finishedNanoUsd,
            initial: item.exists ? 0 : change,
            now: now(),
            expiresAt: Math.floor(now() / 1_000) + KEPT_DAYS * DAY_SECONDS,
            change,
            was: item.unreservedNanoUsd,
          },
        ),
      );
    await freeOld(key, item);
  };

  return {
    /** The item of a budget and period, consistently. */
    read: (
      accountId: string,
      { budgetId, periodId }: Pick<Reservation, 'budgetId' | 'periodId'>,
    ): Promise<BudgetItem> => read(reservedBudgetKey(accountId, budgetId, periodId)),

    /** Of the reservations, those that were not freed before. */
    held: async (finished: readonly FinishedReservation[]): Promise<FinishedReservation[]> => {
      const items = Map.groupBy(finished, (each) => Object.values(keyOf(each)).join(' '));
      const found = await Promise.all(
        [...items.values()].map(async (ofItem) => {
          const { reserved } = await read(keyOf(ofItem[0] as FinishedReservation));
          return ofItem.filter(({ minute }) => reserved.has(minute));
        }),
      );
      return found.flat();
    },

    /**
     * Makes the items of an account's budgets agree with the ledger, and frees old reservations. What the ledger has and no reservation
     * brought there (requests from before the budget, on WebSockets, of freed reservations; changed prices) is `unreserved`. While requests are
     * recorded, item and ledger are never read at one moment: then `unreserved` only rises, to what it is at least. It is exact once nothing was
     * recorded for a moment.
     *
     * Call it before the ledger is read.
     *
     * @returns takes what the ledger shows as used, in nano-USD, by budget
     */
    compare: async (accountId: string, budgets: readonly Pick<Reservation, 'budgetId' | 'periodId'>[]) => {
      const items = await Promise.all(
        budgets.map(async ({ budgetId, periodId }) => {
          const key = reservedBudgetKey(accountId, budgetId, periodId);
          return { budgetId, key, before: await read(key) };
        }),
      );
      return async (usedNanoUsd: ReadonlyMap<string, number>): Promise<void> => {
        for (const { budgetId, key, before } of items) {
          const used = usedNanoUsd.get(budgetId);
          if (used !== undefined) await adjust(key, before, used);
        }
      };
    },
  };
};

export type Reservations = ReturnType<typeof openReservations>;
