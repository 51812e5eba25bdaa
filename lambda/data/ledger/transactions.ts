import { HOUR_COUNTER_DAYS } from '../../domain/calendar/range.ts';
import { DAY_SECONDS } from '../../domain/calendar/units.ts';
import { type Day, dayOf, type Hour, hourOf, type Month, monthOf } from '../../domain/calendar/utc.ts';
import { useBy } from '../../domain/limits/value-counts.ts';
import { allocationContributionsOf, contributionOf } from '../../domain/spend/contribution.ts';
import { addCounters, type Counters, isZero, subtractCounters } from '../../domain/spend/counters.ts';
import type { AllocationName } from '../../domain/spend/dimensions.ts';
import { withoutDurations } from '../../domain/spend/durations.ts';
import { storedName } from '../../domain/spend/former-names.ts';
import type { RequestRecord } from '../../domain/spend/request-record.ts';
import { mayHaveFile, requireDayInTable } from '../requests/day-files.ts';
import { type RequestItem, requestItem } from '../requests/request-item.ts';
import { type Action, IS_NEW, MAX_ACTIONS, put, update } from '../table/actions.ts';
import {
  allocationCounterKey,
  allocationCounterName,
  countedResponseKey,
  type Key,
  monthKey,
  namedSpendCounterKey,
  sessionCounterKey,
  sessionCounterName,
  spendCounterName,
} from '../table/keys.ts';
import {
  type FinishedReservation,
  finishReservations,
  itemIdOf,
  type ReservationDelta,
  reservationDeltas,
  stillReserved,
  type ValueChange,
} from './reservations.ts';
import { IS_OPEN, markForRollup } from './rollup-marks.ts';
import type { Sharding } from './sharding.ts';

/**
 * The session counter of a record, if it belongs to a session. It has the same sums as the spend counters, and they change in the same
 * transaction, so a session is exact whatever comes late, twice or again. It lives as long as the records of its day.
 */
const sessionCounterOf = (
  record: Pick<RequestRecord, 'expiresAt' | 'session' | 'client' | 'keyId'>,
): { readonly counterName: string; readonly expiresAt: number } | null => {
  const { expiresAt, session, client, keyId } = record;
  if (session === null) return null;
  const { id: sessionId, agentId = null, parentAgentId = null } = session;
  return {
    counterName: sessionCounterName({ sessionId, agentId, parentAgentId, client, keyId }),
    expiresAt,
  };
};

/** One record to write: the only way that anything in the ledger changes. */
export interface Change {
  /** The record that was read; null where there was none. */
  readonly before: RequestRecord | null;
  readonly after: RequestRecord;
  /** Id of the response that is counted with this request: see countedResponseKey. */
  readonly countsResponse?: string | undefined;
  /** Something is reserved for that response. */
  readonly isAwaited?: boolean | undefined;
  /** Id of the response that another request will count: what stays reserved is stored with it. */
  readonly awaitsResponse?: string | undefined;
  /** Reservations of the request, which its cost replaces. */
  readonly reservations?: readonly FinishedReservation[] | undefined;
}

/** Sums that a transaction adds to one spend counter, or to one session counter. */
interface SpendCounterDelta {
  readonly key: Key;
  readonly accountId: string;
  readonly counterName: string;
  readonly shard: number;
  readonly counters: Counters;
  /** Epoch seconds; day counters do not expire. */
  readonly expiresAt?: number;
  /** Only a session counter has it: the hours of the day (0 to 23) in which its requests began. */
  readonly hours?: ReadonlySet<number>;
}

interface AccountDay {
  readonly accountId: string;
  readonly day: Day;
}

/** Sums that a transaction adds to one month counter. */
interface MonthDelta {
  readonly accountId: string;
  readonly month: Month;
  readonly shard: number;
  readonly requests: number;
  /** The earliest day that these changes count in and do not mark. The transaction fails where it is closed: see closeDay. */
  readonly openDay?: Day | undefined;
  /** How the records of these changes are placed. The transaction fails where the month is sharded otherwise: see sharding.ts. */
  readonly shardedAfter: string | undefined;
}

/** How accounts' months are sharded. */
type Placement = Pick<Sharding, 'shardedAfter' | 'shardOfRequest' | 'shardOfCounter'>;

/** The name of month counters among the busy counters of an account. No spend counter has it. */
export const MONTH_COUNTER = '';

/** Changes and all that they write, together or not at all. */
export interface LedgerTransaction {
  readonly changes: readonly Change[];
  /** Items of the records, in the order of the changes. */
  readonly items: readonly RequestItem[];
  readonly spendCounters: readonly SpendCounterDelta[];
  readonly months: readonly MonthDelta[];
  /** Days whose summaries these changes make stale: those before today, and those that no month counter of the transaction checks. */
  readonly markedDays: readonly AccountDay[];
  readonly reservations: readonly ReservationDelta[];
}

/** The limit is 4 MB; the rest is room for what the estimate leaves out. */
const MAX_BYTES = 3_000_000;
const COUNTER_BYTES = 3_000;
/** A record without its details. */
const RECORD_BYTES = 2_000;

/** The longest retention of a record (400 days), an event's age, and the days that the table may take to delete. */
const ALLOCATION_COUNTER_DAYS = 450;

/** Epoch seconds after which the counters of an hour may be gone. */
export const hourCounterExpiry = (hour: string): number =>
  Date.parse(`${hour}:00:00Z`) / 1_000 + HOUR_COUNTER_DAYS * DAY_SECONDS;

/**
 * Epoch seconds after which the counters of an hour's allocation dimensions may be gone. There are none by day, so they are kept for longer
 * than any record that may still be priced again.
 */
const allocationCounterExpiry = (hour: string): number =>
  Date.parse(`${hour}:00:00Z`) / 1_000 + ALLOCATION_COUNTER_DAYS * DAY_SECONDS;

/** Longer than anything stays reserved for a response. */
const AWAITED_DAYS = 3;
const NOT_COUNTED = 'attribute_not_exists(requestId)';

/** One record's additions to spend counters. */
interface Addition {
  readonly accountId: string;
  readonly hour: Hour;
  readonly counterName: string;
  readonly counters: Counters;
  /** The same sums are added to its session, apart from durations. */
  readonly session: { readonly counterName: string; readonly expiresAt: number } | null;
  readonly allocations: readonly {
    readonly allocation: AllocationName;
    readonly counterName: string;
    readonly counters: Counters;
  }[];
}

const additionOf = (record: RequestRecord): Addition => {
  const { dimensions, counters } = contributionOf(record);
  const { accountId, startedAt } = record;
  return {
    accountId,
    hour: hourOf(startedAt),
    counterName: spendCounterName(dimensions),
    counters,
    session: sessionCounterOf(record),
    allocations: allocationContributionsOf(record).map(({ allocation, ...own }) => ({
      allocation,
      counterName: allocationCounterName(allocation, own.dimensions),
      counters: own.counters,
    })),
  };
};

const valuesOf = (record: RequestRecord, sign: 1 | -1): ValueChange[] =>
  record.countedFor.map((count) => {
    const { usedNanoUsd, unpricedRequests } = useBy(record, count);
    return {
      ...{ accountId: record.accountId, budgetId: count.budgetId, periodId: count.periodId, value: count.value },
      usedNanoUsd: sign * usedNanoUsd,
      unpricedRequests: sign * unpricedRequests,
    };
  });

/** A change with all that it writes, computed once. */
interface PreparedChange {
  readonly change: Change;
  readonly item: RequestItem;
  /** The amounts that it takes back from values of limits, and adds to them. */
  readonly values: readonly ValueChange[];
  readonly before: Addition | null;
  readonly after: Addition;
}

/** A new record is placed where its month has it; a record that was read stays where it is. */
const place = (change: Change, placement: Placement): Change => {
  const { before, after } = change;
  const shard = before
    ? before.shard
    : placement.shardOfRequest(after.accountId, monthOf(after.startedAt), after.requestId) || undefined;
  return shard === after.shard ? change : { ...change, after: { ...after, shard } };
};

const prepare = (change: Change): PreparedChange => ({
  change,
  item: requestItem(change.after),
  values: [...(change.before ? valuesOf(change.before, -1) : []), ...valuesOf(change.after, 1)],
  before: change.before && additionOf(change.before),
  after: additionOf(change.after),
});

/** Writes of changes apart from the records themselves. */
class Totals {
  readonly spendCounters = new Map<string, SpendCounterDelta>();
  readonly #months = new Map<string, { accountId: string; month: Month; requests: number; openDays: Set<Day> }>();
  readonly #lateDays = new Map<string, AccountDay>();
  /** Items of reservations, and of values that limits count. */
  readonly #limitItems = new Set<string>();
  readonly #placement: Placement;

  constructor(placement: Placement) {
    this.#placement = placement;
  }

  add({ change, values, before, after }: PreparedChange, today: Day): void {
    for (const each of [...(change.reservations ?? []), ...values]) this.#limitItems.add(itemIdOf(each));
    if (before) this.#add(before, -1);
    this.#add(after, 1);
    for (const { accountId, hour } of before ? [before, after] : [after]) {
      const day = dayOf(hour);
      if (day < today) this.#lateDays.set(`${accountId}#${day}`, { accountId, day });
      else this.#monthOf(accountId, day).openDays.add(day);
    }
  }

  #add({ accountId, hour, counterName, counters, session, allocations }: Addition, sign: 1 | -1): void {
    const [month, day] = [monthOf(hour), dayOf(hour)];
    const shardOf = (name: string) => this.#placement.shardOfCounter(accountId, month, name);
    const shard = shardOf(counterName);
    const name = { accountId, counterName, shard };
    const ofHour = namedSpendCounterKey(accountId, 'HOUR', hour, counterName, shard);
    const ofDay = namedSpendCounterKey(accountId, 'DAY', day, counterName, shard);
    this.#addToSpendCounter({ ...name, key: ofHour, expiresAt: hourCounterExpiry(hour) }, counters, sign);
    this.#addToSpendCounter({ ...name, key: ofDay }, counters, sign);
    if (session) {
      const ownShard = shardOf(session.counterName);
      const key = sessionCounterKey(accountId, day, session.counterName, ownShard);
      const hours = new Set([Number(hour.slice(-2))]);
      const sums = withoutDurations(counters);
      this.#addToSpendCounter({ ...session, accountId, shard: ownShard, key, hours }, sums, sign);
    }
    const expiresAt = allocationCounterExpiry(hour);
    for (const { allocation, counterName: ownName, counters: own } of allocations) {
      const busy = { accountId, counterName: `${allocation}#${ownName}`, shard: shardOf(`${allocation}#${ownName}`) };
      const key = allocationCounterKey(accountId, allocation, hour, ownName, busy.shard);
      this.#addToSpendCounter({ ...busy, key, expiresAt }, own, sign);
    }
    this.#monthOf(accountId, hour).requests += sign;
  }

  #monthOf(accountId: string, time: Day | Hour) {
    const id = `${accountId}#${monthOf(time)}`;
    const month = this.#months.get(id) ?? { accountId, month: monthOf(time), requests: 0, openDays: new Set() };
    this.#months.set(id, month);
    return month;
  }

  #addToSpendCounter(counter: Omit<SpendCounterDelta, 'counters'>, counters: Counters, sign: 1 | -1): void {
    const id = counter.key.pk + counter.key.sk;
    const before = this.spendCounters.get(id);
    const sum = (sign === 1 ? addCounters : subtractCounters)(before?.counters ?? {}, counters);
    const hours = counter.hours && new Set([...(before?.hours ?? []), ...counter.hours]);
    this.spendCounters.set(id, { ...counter, counters: sum, ...(hours && { hours }) });
  }

  get months(): LedgerTransaction['months'] {
    return [...this.#months.values()]
      .filter(({ requests }) => requests !== 0)
      .map(({ accountId, month, requests, openDays }) => ({
        accountId,
        month,
        shard: this.#placement.shardOfCounter(accountId, month, MONTH_COUNTER),
        requests,
        openDay: [...openDays].sort()[0],
        shardedAfter: this.#placement.shardedAfter(accountId, month),
      }));
  }

  get markedDays(): LedgerTransaction['markedDays'] {
    const unchecked = [...this.#months.values()]
      .filter(({ requests }) => requests === 0)
      .flatMap(({ accountId, openDays }) => [...openDays].map((day) => ({ accountId, day })));
    return [...this.#lateDays.values(), ...unchecked];
  }

  get actions(): number {
    // A late day is marked, and checked where it may have left the table.
    let actions = this.spendCounters.size + this.#limitItems.size + 2 * this.#lateDays.size;
    for (const { requests, openDays } of this.#months.values()) actions += requests === 0 ? openDays.size : 1;
    return actions;
  }
}

/** The record, and its response where it counts or awaits one. */
const recordActionCount = ({ countsResponse, awaitsResponse }: Change): number =>
  (countsResponse ?? awaitsResponse) === undefined ? 1 : 2;

const toTransaction = (prepared: readonly PreparedChange[], totals: Totals): LedgerTransaction => ({
  changes: prepared.map(({ change }) => change),
  items: prepared.map(({ item }) => item),
  spendCounters: [...totals.spendCounters.values()].filter(({ counters }) => !isZero(counters)),
  months: totals.months,
  markedDays: totals.markedDays,
  reservations: reservationDeltas(
    prepared.flatMap(({ change }) => change.reservations ?? []),
    prepared.flatMap(({ values }) => values),
  ),
});

/** Sorted so that changes of the same spend counters are next to each other, and a transaction updates few of them. */
const sortBySpendCounter = (changes: readonly Change[], placement: Placement): PreparedChange[] =>
  changes
    .map((change) => {
      const prepared = prepare(place(change, placement));
      const { accountId, hour, counterName } = prepared.after;
      return { prepared, order: `${accountId}#${hour}#${counterName}` };
    })
    .sort((a, b) => (a.order < b.order ? -1 : Number(a.order > b.order)))
    .map(({ prepared }) => prepared);

/**
 * Packs changes into as few transactions as the limits allow: deltas of the same spend counter become one write.
 * Each record may appear once.
 *
 * @param today days before it are marked for rollup
 */
export const packTransactions = (changes: readonly Change[], today: Day, placement: Placement): LedgerTransaction[] => {
  const transactions: LedgerTransaction[] = [];
  let packed: PreparedChange[] = [];
  let totals = new Totals(placement);
  let actions = 0;
  let bytes = 0;
  const close = () => {
    if (packed.length > 0) transactions.push(toTransaction(packed, totals));
    packed = [];
    totals = new Totals(placement);
    actions = 0;
    bytes = 0;
  };
  for (const prepared of sortBySpendCounter(changes, placement)) {
    const { change, item, values, before, after } = prepared;
    // Two spend counters, a session counter, and those of allocation dimensions, before and after.
    const counterCount = (before ? 6 : 3) + (before?.allocations.length ?? 0) + after.allocations.length;
    const size = item.details.length + RECORD_BYTES + counterCount * COUNTER_BYTES;
    // A change adds at most itself, its response, its counters, a month, and a marked and checked day.
    const most = recordActionCount(change) + counterCount + 3 + (change.reservations?.length ?? 0) + values.length;
    if (bytes + size > MAX_BYTES || actions + totals.actions + most > MAX_ACTIONS) close();
    totals.add(prepared, today);
    packed.push(prepared);
    actions += recordActionCount(change);
    bytes += size;
  }
  close();
  return transactions;
};

const recordActions = (change: Change, item: RequestItem): Action[] => {
  const { before, after, countsResponse, isAwaited, awaitsResponse, reservations = [] } = change;
  const record = before ? put(item, 'revision = :before', { before: before.revision }) : put(item, IS_NEW);
  const responseId = countsResponse ?? awaitsResponse;
  if (responseId === undefined) return [record];
  const guard = countedResponseKey(after.accountId, after.provider, responseId);
  // Without an expiry: a provider may keep a batch's file for as long as it likes.
  if (countsResponse !== undefined)
    return [record, put({ ...guard, requestId: after.requestId }, isAwaited ? NOT_COUNTED : IS_NEW)];
  const expiresAt = Math.floor(Date.parse(after.startedAt) / 1_000) + AWAITED_DAYS * DAY_SECONDS;
  return [record, put({ ...guard, reservations: stillReserved(reservations), expiresAt }, IS_NEW)];
};

const addToSpendCounter = ({ key, counters, expiresAt, hours }: SpendCounterDelta) => {
  const entries = Object.entries(counters);
  const add = `ADD ${entries.map((_, i) => `#c${i} :c${i}`).join(', ')}${hours ? ', activeHours :hours' : ''}`;
  return {
    Update: {
      Key: { ...key },
      UpdateExpression: expiresAt === undefined ? add : `${add} SET expiresAt = :expiresAt`,
      ExpressionAttributeNames: Object.fromEntries(entries.map(([name], i) => [`#c${i}`, storedName(name)])),
      ExpressionAttributeValues: {
        ...Object.fromEntries(entries.map(([, value], i) => [`:c${i}`, value])),
        ...(expiresAt !== undefined && { ':expiresAt': expiresAt }),
        ...(hours && { ':hours': hours }),
      },
    },
  };
};

const addToMonth = ({ accountId, month, shard, requests, openDay: day, shardedAfter: after }: MonthDelta) => {
  const isSharded = after === undefined ? 'attribute_not_exists(shardedAfter)' : 'shardedAfter = :after';
  return update(
    monthKey(accountId, month, shard),
    'ADD trackedRequests :requests',
    day === undefined ? isSharded : `${isSharded} AND (${IS_OPEN})`,
    { requests, after, day },
  );
};

/** Purpose of an action of a transaction. */
export type Source =
  | { readonly kind: 'change'; readonly change: Change }
  | ({ readonly kind: 'counter' } & SpendCounterDelta)
  | ({ readonly kind: 'month' } & MonthDelta)
  | ({ readonly kind: 'reservation' } & ReservationDelta)
  | { readonly kind: 'mark' }
  | ({ readonly kind: 'dayInTable' } & AccountDay);

/** Values of periods that ended long ago are gone: nothing brings them back. */
const isKept =
  (now: number) =>
  ({ ofValue }: ReservationDelta): boolean =>
    ofValue === undefined || ofValue.expiresAt > now / 1_000;

/** The actions of a transaction, and what each of them is for. */
export const toActions = (
  { changes, items, spendCounters, months, markedDays, reservations }: LedgerTransaction,
  now: number,
): { readonly actions: readonly Action[]; readonly sources: readonly Source[] } => {
  const all: { readonly action: Action; readonly source: Source }[] = [
    ...changes.flatMap((change, index) =>
      recordActions(change, items[index] as RequestItem).map((action) => ({
        action,
        source: { kind: 'change' as const, change },
      })),
    ),
    ...spendCounters.map((delta) => ({
      action: addToSpendCounter(delta),
      source: { kind: 'counter' as const, ...delta },
    })),
    ...months.map((delta) => ({
      action: addToMonth(delta),
      source: { kind: 'month' as const, ...delta },
    })),
    ...reservations.filter(isKept(now)).map((delta) => ({
      action: finishReservations(delta),
      source: { kind: 'reservation' as const, ...delta },
    })),
    ...markedDays.map(({ accountId, day }) => ({
      action: markForRollup(accountId, day, now),
      source: { kind: 'mark' as const },
    })),
    ...markedDays
      .filter(({ day }) => mayHaveFile(day, now))
      .map(({ accountId, day }) => ({
        action: requireDayInTable(accountId, day),
        source: { kind: 'dayInTable' as const, accountId, day },
      })),
  ];
  return { actions: all.map(({ action }) => action), sources: all.map(({ source }) => source) };
};
