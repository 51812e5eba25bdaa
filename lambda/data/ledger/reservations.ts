import * as z from 'zod/mini';
import { DAY_SECONDS, HOUR_MS, MINUTE_MS } from '../../domain/calendar/units.ts';
import type { ValueCount, ValueUse } from '../../domain/limits/each.ts';
import { isOldReservation, type Reservation } from '../../domain/limits/reservation.ts';
import { valueExpiry } from '../../domain/limits/value-counts.ts';
import { update } from '../table/actions.ts';
import { type Key, limitValueKey, reservedBudgetKey } from '../table/keys.ts';
import { findItem } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { tryWrite } from '../table/write.ts';

/*
 * One item for each budget that requests reserve from, and period. `committed` = `finished` + `unreserved` + the reservations: of running
 * requests `m` and a minute each, of responses whose result is awaited `p` and an hour each. `finished`: costs of requests that had
 * reserved. `unreserved`: the rest of what the ledger shows as used. A limit of each has such an item for each value: there `finished` is
 * all that is used, from the first request on, since the ledger's transactions count it.
 */

/** One request's replacement of its reservation. */
export interface FinishedReservation extends Reservation {
  readonly accountId: string;
  /** Amount that the budget counts from now on. */
  readonly costNanoUsd: number;
  /** Amount that may come on top, since the cost is not known. */
  readonly uncertainNanoUsd: number;
  /** It waited for a result, which is counted now. */
  readonly wasPending?: boolean | undefined;
  /** Uncertain amounts stay reserved until the result is counted. */
  readonly isPending?: boolean | undefined;
}

/** Result of a request's reservations. @param costNanoUsd null where it is not known */
export const finishedReservations = (
  reservations: readonly Reservation[],
  accountId: string,
  costNanoUsd: number | null,
  states: Pick<FinishedReservation, 'wasPending' | 'isPending'> = {},
): FinishedReservation[] =>
  reservations.map((each) => ({
    ...each,
    ...states,
    accountId,
    costNanoUsd: costNanoUsd ?? each.unknownNanoUsd,
    uncertainNanoUsd: costNanoUsd === null ? Math.max(0, each.nanoUsd - each.unknownNanoUsd) : 0,
  }));

/** The part that stays reserved until a result is counted. */
export const stillReserved = (finished: readonly FinishedReservation[]): Reservation[] =>
  finished
    .filter(({ isPending }) => isPending)
    .map(({ budgetId, periodId, minute, uncertainNanoUsd, unknownNanoUsd, value }) => ({
      budgetId,
      periodId,
      minute,
      nanoUsd: uncertainNanoUsd,
      unknownNanoUsd,
      ...(value !== undefined && { value }),
    }));

export interface ValueChange extends Pick<ValueCount, 'budgetId' | 'periodId' | 'value'>, ValueUse {
  readonly accountId: string;
}

/** A transaction's change of one item. */
export interface ReservationDelta {
  readonly key: Key;
  readonly finishedNanoUsd: number;
  /** Excess of requests over what they had reserved. */
  readonly excessNanoUsd: number;
  readonly uncertainNanoUsd: number;
  /** By the item's member of reservations: those that end, and those that become pending. */
  readonly ended: ReadonlyMap<string, number>;
  readonly pending: ReadonlyMap<string, number>;
  /** The change of a value's requests of unknown cost, and the epoch seconds after which it may be gone. */
  readonly ofValue?: { readonly unpricedRequests: number; readonly expiresAt: number } | undefined;
}

const keyOf = ({ accountId, budgetId, periodId, value }: FinishedReservation | ValueChange): Key =>
  value === undefined
    ? reservedBudgetKey(accountId, budgetId, periodId)
    : limitValueKey(accountId, budgetId, periodId, value);

/** Distinguishes the items that reservations and values are in. */
export const itemIdOf = (each: FinishedReservation | ValueChange): string => Object.values(keyOf(each)).join(' ');

const pendingMember = (minute: number): string => `p${Math.floor((minute * MINUTE_MS) / HOUR_MS)}`;
const memberOf = ({ minute, wasPending }: FinishedReservation): string =>
  wasPending ? pendingMember(minute) : `m${minute}`;

const sumBy = (
  of: readonly FinishedReservation[],
  member: (each: FinishedReservation) => string,
  nanoUsd: (each: FinishedReservation) => number,
): Map<string, number> => {
  const sums = new Map<string, number>();
  for (const each of of) sums.set(member(each), (sums.get(member(each)) ?? 0) + nanoUsd(each));
  return sums;
};

const total = (amounts: Iterable<number>): number => [...amounts].reduce((sum, each) => sum + each, 0);

/** One delta for each item. @param values what the same changes add to values, and take back */
export const reservationDeltas = (
  finished: readonly FinishedReservation[],
  values: readonly ValueChange[] = [],
): ReservationDelta[] =>
  [...Map.groupBy([...finished, ...values], itemIdOf).values()].flatMap((changes) => {
    const ofItem = changes.filter((each): each is FinishedReservation => 'minute' in each);
    const used = changes.filter((each): each is ValueChange => !('minute' in each));
    const pending = ofItem.filter(({ isPending }) => isPending);
    const uncertain = ofItem.filter(({ isPending }) => !isPending);
    const [{ periodId, value }] = changes as [FinishedReservation | ValueChange];
    const usedNanoUsd = total(used.map((each) => each.usedNanoUsd));
    const unpricedRequests = total(used.map((each) => each.unpricedRequests));
    if (ofItem.length === 0 && usedNanoUsd === 0 && unpricedRequests === 0) return [];
    return {
      key: keyOf(changes[0] as FinishedReservation),
      ofValue: value === undefined ? undefined : { unpricedRequests, expiresAt: valueExpiry(periodId) },
      finishedNanoUsd: value === undefined ? total(ofItem.map(({ costNanoUsd }) => costNanoUsd)) : usedNanoUsd,
      excessNanoUsd: total(ofItem.map(({ costNanoUsd, nanoUsd }) => Math.max(0, costNanoUsd - nanoUsd))),
      uncertainNanoUsd: total(uncertain.map(({ uncertainNanoUsd }) => uncertainNanoUsd)),
      ended: sumBy(ofItem, memberOf, ({ nanoUsd }) => nanoUsd),
      pending: sumBy(
        pending,
        ({ minute }) => pendingMember(minute),
        ({ uncertainNanoUsd }) => uncertainNanoUsd,
      ),
    };
  });

/** Fails where one of the reservations was freed before: then the request's cost is in the ledger, and `adjust` finds it there. */
export const finishReservations = (delta: ReservationDelta) => {
  const { key, finishedNanoUsd, excessNanoUsd, uncertainNanoUsd, ended, pending, ofValue } = delta;
  const members = [...new Set([...ended.keys(), ...pending.keys()])];
  const sums = ['committed', 'finished', 'excess', 'uncertain', ...(ofValue ? ['unpriced'] : [])];
  const additions = [...sums.map((name) => `${name} :${name}`), ...members.map((_, i) => `#m${i} :m${i}`)];
  return {
    Update: {
      Key: { ...key },
      UpdateExpression: `ADD ${additions.join(', ')}${ofValue ? ' SET expiresAt = :expiresAt' : ''}`,
      ...(members.length > 0 && {
        ConditionExpression: [...ended.keys()].map((_, i) => `attribute_exists(#m${i})`).join(' AND '),
        ExpressionAttributeNames: Object.fromEntries(members.map((member, i) => [`#m${i}`, member])),
      }),
      ExpressionAttributeValues: {
        ...(ofValue && { ':unpriced': ofValue.unpricedRequests, ':expiresAt': ofValue.expiresAt }),
        ':committed': finishedNanoUsd - total(ended.values()) + total(pending.values()),
        ':finished': finishedNanoUsd,
        ':excess': excessNanoUsd,
        ':uncertain': uncertainNanoUsd,
        ...Object.fromEntries(
          members.map((member, i) => [`:m${i}`, (pending.get(member) ?? 0) - (ended.get(member) ?? 0)]),
        ),
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
    uncertain: z._default(z.number(), 0),
    /** Spend when the item was made. */
    initial: z._default(z.number(), 0),
    /** Requests of unknown cost, of a value. */
    unpriced: z._default(z.number(), 0),
    /** Value of `finished` when it was compared with the ledger, and the time in epoch milliseconds. */
    comparedFinished: z.optional(z.number()),
    comparedAt: z.optional(z.number()),
  }),
  z.unknown(),
);

/** Sums of a budget's item. */
export type BudgetItem = ReturnType<typeof parseBudgetItem>;

export const parseBudgetItem = (found: Record<string, unknown> | undefined) => {
  const item = stored.parse(found ?? {});
  const { finished, unreserved, excess, uncertain, initial, unpriced, comparedFinished, comparedAt } = item;
  const reserved = Object.entries(item).filter(([member]) => /^[mp]\d+$/.test(member));
  return {
    exists: found !== undefined,
    finishedNanoUsd: finished,
    unreservedNanoUsd: unreserved,
    /** The part that was used before the budget reserved anything. */
    initialNanoUsd: initial,
    /** Excess of requests over what they had reserved. */
    excessNanoUsd: excess,
    /** Reservations of requests whose cost nobody knows: they failed, or were never heard of again. */
    uncertainNanoUsd: uncertain,
    unpricedRequests: unpriced,
    /** By the item's member: `m` and a minute, `p` and an hour. */
    reserved: new Map(reserved.map(([member, nanoUsd]) => [member, Number(nanoUsd)])),
    compared: comparedFinished === undefined ? null : { finishedNanoUsd: comparedFinished, atMs: comparedAt ?? 0 },
  };
};

/** Reads of the ledger may be so late. */
const LATE_READ_MS = 1_500;
const KEPT_DAYS = 40;

export const openReservations = (table: Table, now: () => number = Date.now) => {
  const read = async (key: Key): Promise<BudgetItem> => parseBudgetItem(await findItem(table, key));

  /** Frees what requests reserved long ago: their process died, or they still run and will be found in the ledger. */
  const freeOld = async (key: Key, { reserved }: BudgetItem): Promise<void> => {
    for (const [name, nanoUsd] of reserved) {
      if (!isOldReservation(name, now())) continue;
      const member = `#${name}`;
      await tryWrite(
        table,
        update(key, `ADD committed :less, uncertain :nanoUsd REMOVE ${member}`, `${member} = :nanoUsd`, {
          less: -nanoUsd,
          nanoUsd,
        }),
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

    /** The reservations that were not freed before. */
    held: async (finished: readonly FinishedReservation[]): Promise<FinishedReservation[]> => {
      const items = Map.groupBy(finished, itemIdOf);
      const found = await Promise.all(
        [...items.values()].map(async (ofItem) => {
          const { reserved } = await read(keyOf(ofItem[0] as FinishedReservation));
          return ofItem.filter((each) => reserved.has(memberOf(each)));
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
