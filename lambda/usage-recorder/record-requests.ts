import pMap from 'p-map';
import type { AccountTerms } from '../data/accounts/account-terms.ts';
import { openCounterSlots } from '../data/ledger/counter-slots.ts';
import { openLedger } from '../data/ledger/ledger.ts';
import { openSharding } from '../data/ledger/sharding.ts';
import type { Change } from '../data/ledger/transactions.ts';
import { openCountedResponses } from '../data/requests/counted-responses.ts';
import { openRequests, type RequestName } from '../data/requests/requests.ts';
import type { Table } from '../data/table/table.ts';
import { DAY_MS, DAY_SECONDS } from '../domain/calendar/units.ts';
import { dayOf, endOf, monthOf } from '../domain/calendar/utc.ts';
import { UnreadableItemError } from '../domain/errors.ts';
import type { Reservation } from '../domain/limits/reservation.ts';
import { type CountedLimits, valueCountsOf } from '../domain/limits/value-counts.ts';
import type { AccountPrices } from '../domain/own-prices/apply-prices.ts';
import { lacksResults } from '../domain/price/charged-once.ts';
import {
  allocationDimensionsOf,
  allocationValueOf,
  dimensionsOf,
  isContributionKnown,
} from '../domain/spend/contribution.ts';
import { type DeclaredDimension, declaredAt } from '../domain/spend/declared-dimensions.ts';
import type { CrossDimensionName, Overflow } from '../domain/spend/dimensions.ts';
import { type Allocation, mayCost, type RequestRecord } from '../domain/spend/request-record.ts';
import { MAX_EVENT_AGE_DAYS } from '../domain/usage/limits.ts';
import type { PricedUsage } from '../domain/usage/usage.ts';
import {
  type AccountCloseEvent,
  type AccountRequestEvent,
  type FailedEvent,
  failure,
  isClose,
  nameOf,
  readApart,
} from './attribute-events.ts';
import {
  awaitedResponse,
  countableResponse,
  decideChanges,
  type LedgerState,
  onePerRequest,
} from './decide-changes.ts';

/** Result of the event of a request. The queue must deliver it again only where it `failed`. */
export type RequestResult =
  | { readonly kind: 'recorded'; readonly record: RequestRecord }
  /** The ledger already held what it says. A close event that came again has its record. */
  | { readonly kind: 'known'; readonly record?: RequestRecord | undefined }
  /** More than MAX_EVENT_AGE_DAYS old. */
  | { readonly kind: 'expired' }
  | FailedEvent;

/** Account-days that reserve counter slots at the same time. A day whose counters all have slots costs no request. */
const DAYS_AT_ONCE = 16;
/** In each round at least one of the writers that conflict succeeds. */
const MAX_ROUNDS = 6;

/** Other writers changed the same record in every round. */
class RecordContentionError extends Error {
  override readonly name = 'RecordContentionError';
}

/** The terms of an account, and the prices of its own. */
export interface RecordingTerms extends AccountTerms {
  readonly accountPrices: AccountPrices | undefined;
  /** Undefined where the account has no limits of each. */
  readonly countedLimits?: CountedLimits | undefined;
}

interface Options {
  /** At list prices, or with the account's own prices. Must not throw. */
  readonly price: (event: AccountCloseEvent, accountPrices?: AccountPrices) => PricedUsage;
  readonly now: () => number;
}

/**
 * Records the request events of some accounts: reads what the ledger holds, decides changes on top of exactly that, reserves counter
 * slots, and commits. Where other writers were faster it reads and decides again, so duplicates, reordering and concurrent recorders
 * change no sum.
 *
 * The returned function takes the terms of each account, by account id. It returns the result of every request, by nameOf.
 */
export const openRequestRecorder = (table: Table, { price, now }: Options) => {
  const requests = openRequests(table, now);
  const countedResponses = openCountedResponses(table);
  const counterSlots = openCounterSlots(table, now);
  const sharding = openSharding(table, now);
  const ledger = openLedger(table, now, sharding);
  const shardOf = ({ accountId, startedAt, requestId }: RequestName) =>
    sharding.shardOfRequest(accountId, monthOf(startedAt), requestId);

  /** @returns the state, and why it is not known for some events */
  const readState = async (events: readonly AccountRequestEvent[], consistent: boolean) => {
    const records = new Map<string, RequestRecord>();
    const countedWith = new Map<string, string>();
    const awaited = new Map<string, readonly Reservation[]>();
    const opened = new Set<string>();
    const failed = await readApart(events, async (some) => {
      const [closes, opens] = [some.filter(isClose), some.filter((event) => !isClose(event))];
      const responses = closes.flatMap((event) => {
        const priced = price(event);
        return countableResponse(event, priced) ?? awaitedResponse(event, priced) ?? [];
      });
      for (const name of await requests.present(opens, { consistent, shardOf })) opened.add(nameOf(name));
      for (const record of await requests.findMany(closes, { consistent, shardOf })) {
        // A later version counted it in a way that this one cannot take back.
        if (record.outcome === 'unknown' && !isContributionKnown(record))
          throw new UnreadableItemError('The provenance of a record is not known.');
        records.set(nameOf(record), record);
      }
      if (responses.length === 0) return;
      const found = await countedResponses.find(responses);
      for (const [key, requestId] of found.countedWith) countedWith.set(key, requestId);
      for (const [key, reservations] of found.awaited) awaited.set(key, reservations);
    });
    return { state: { records, opened, responses: { countedWith, awaited } } satisfies LedgerState, failed };
  };

  /**
   * The same changes at the overflow levels that their day's counter slots allow, under the allocation dimensions that the account has
   * declared, and the values of its limits of each. All changes are of one account and day.
   */
  const reserveSlots = async (
    changes: readonly Change[],
    declared: readonly DeclaredDimension[],
    countedLimits: CountedLimits | undefined,
  ): Promise<Change[]> => {
    const { accountId, startedAt } = (changes[0] as Change).after;
    const allocations = changes.map(({ after }) =>
      (['client', ...declaredAt(declared, after.startedAt)] as const).map((name) => ({
        name,
        value: allocationValueOf(after, name),
      })),
    );
    const wanted = changes.map(({ after }, index) => [
      { dimensions: dimensionsOf(after), mayCost: mayCost(after) },
      ...(allocations[index] ?? []).map(({ name, value }) => ({
        dimensions: allocationDimensionsOf(after, name, value),
        allocation: name,
        mayCost: mayCost(after),
      })),
    ]);
    const overflows = (await counterSlots.reserve(accountId, dayOf(startedAt), wanted.flat())).values();
    const next = () => overflows.next().value as Overflow;
    return changes.map((change, index) => {
      const { level, kept } = next();
      // A cross keeps only its own dimensions.
      const keptDimensions = kept.length > 0 ? (kept as CrossDimensionName[]) : undefined;
      const own = (allocations[index] ?? []).map(({ name, value }): [string, Allocation] => {
        const overflow = next();
        return [name, { value, level: overflow.level, kept: [...overflow.kept] }];
      });
      const countedFor = countedLimits ? valueCountsOf(change.after, countedLimits, change.reservations) : [];
      const counted = { overflowLevel: level, keptDimensions, allocations: Object.fromEntries(own), countedFor };
      const after = { ...change.after, ...counted };
      return { ...change, after };
    });
  };

  return async (
    events: readonly AccountRequestEvent[],
    termsOf: ReadonlyMap<string, RecordingTerms>,
  ): Promise<Map<string, RequestResult>> => {
    const results = new Map<string, RequestResult>();
    // From the end of its day on: a limit of each that is made on the 31st counts all requests of the month by their records.
    const expiresAt = ({ accountId, startedAt }: RequestName) =>
      endOf(dayOf(startedAt)).getTime() / 1_000 + (termsOf.get(accountId)?.retentionDays ?? 0) * DAY_SECONDS;

    /** If the slots of a day cannot be reserved, only that day fails. */
    const reserveAll = async (changes: readonly Change[]): Promise<Change[]> => {
      const byDay = Map.groupBy(changes, ({ after }) => `${after.accountId}#${dayOf(after.startedAt)}`);
      const reserveOrFail = async (ofDay: readonly Change[]): Promise<Change[]> => {
        try {
          const { accountId } = (ofDay[0] as Change).after;
          const { dimensions = [], countedLimits } = termsOf.get(accountId) ?? {};
          return await reserveSlots(ofDay, dimensions, countedLimits);
        } catch (error) {
          for (const { after } of ofDay) results.set(nameOf(after), failure(error));
          return [];
        }
      };
      return (await pMap(byDay.values(), reserveOrFail, { concurrency: DAYS_AT_ONCE })).flat();
    };

    let pending = onePerRequest(events);
    for (const [name, event] of pending) {
      // Its record may have existed and be gone by now, so nobody can tell whether it was counted.
      if (Date.parse(event.startedAt) + MAX_EVENT_AGE_DAYS * DAY_MS > now()) continue;
      results.set(name, { kind: 'expired' });
      pending.delete(name);
    }
    // Most close events are the first event of their request, and a refused write reveals the others at no cost. Most open events are
    // not the first, and reading their records costs less than a refused write. The status of an ended batch, and a part of its results,
    // count nothing, so that no write is refused where its results are counted.
    let toRead: readonly AccountRequestEvent[] = [...pending.values()].filter(
      (event) => !isClose(event) || lacksResults(event.reading),
    );
    for (let round = 0; pending.size > 0; round++) {
      const { state, failed: unread } = await readState(toRead, round > 0);
      for (const [event, error] of unread) {
        results.set(nameOf(event), failure(error));
        pending.delete(nameOf(event));
      }
      const recordedAt = new Date(now()).toISOString();
      const changes = decideChanges(pending.values(), state, {
        price: (event) => price(event, termsOf.get(event.accountId)?.accountPrices),
        recordedAt,
        expiresAt,
      });
      const changed = new Set(changes.map(({ after }) => nameOf(after)));
      for (const name of pending.keys())
        if (!changed.has(name)) results.set(name, { kind: 'known', record: state.records.get(name) });
      const { written, refused, failed } = await ledger.commit(await reserveAll(changes));
      for (const { after } of written) results.set(nameOf(after), { kind: 'recorded', record: after });
      for (const { change, error, permanent } of failed) results.set(nameOf(change.after), failure(error, permanent));
      const overtaken = new Set(refused.map(({ after }) => nameOf(after)));
      pending = new Map([...pending].filter(([name]) => overtaken.has(name)));
      if (pending.size === 0) break;
      if (round + 1 === MAX_ROUNDS) {
        const error = new RecordContentionError('A record kept changing while an event was being recorded.');
        for (const name of pending.keys()) results.set(name, failure(error));
        break;
      }
      toRead = [...pending.values()];
    }
    return results;
  };
};
