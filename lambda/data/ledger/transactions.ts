import { HOUR_COUNTER_DAYS } from '../../domain/calendar/range.ts';
import { DAY_SECONDS } from '../../domain/calendar/units.ts';
import { type Day, dayOf, type Hour, hourOf, monthOf } from '../../domain/calendar/utc.ts';
import { contributionOf } from '../../domain/spend/contribution.ts';
import { addCounters, type Counters, isZero, subtractCounters } from '../../domain/spend/counters.ts';
import type { RequestRecord } from '../../domain/spend/request-record.ts';
import { type RequestItem, requestItem } from '../requests/request-item.ts';
import { type Key, monthKey, namedSpendCounterKey, spendCounterName } from '../table/keys.ts';

/** One record to write: the only way that anything in the ledger changes. */
export interface Change {
  /** The record as it was read; null where there was none. */
  readonly before: RequestRecord | null;
  readonly after: RequestRecord;
  /** The answer this request is the first to be counted with: see countedResponseKey. */
  readonly countsResponse?: string | undefined;
}

export interface CounterDelta {
  readonly key: Key;
  readonly counters: Counters;
  /** Epoch seconds; day cells stay. */
  readonly expiresAt?: number;
}

/** Changes and what they come to, written together or not at all. */
export interface LedgerTransaction {
  readonly changes: readonly Change[];
  /** Of the changes' records, in the same order. */
  readonly items: readonly RequestItem[];
  readonly cells: readonly CounterDelta[];
  readonly months: readonly { readonly key: Key; readonly requests: number }[];
  /** Days already over, whose summaries these changes make stale. */
  readonly lateDays: readonly { readonly accountId: string; readonly day: Day }[];
}

/** @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html */
export const MAX_ACTIONS = 100;
/** Of 4 MB; the rest is room for what the estimate leaves out. */
const MAX_BYTES = 3_000_000;
const COUNTER_BYTES = 2_000;
/** All of a record but its details. */
const RECORD_BYTES = 2_000;

/** Epoch seconds after which the cells of an hour may be gone. */
export const hourCounterExpiry = (hour: string): number =>
  Date.parse(`${hour}:00:00Z`) / 1_000 + HOUR_COUNTER_DAYS * DAY_SECONDS;

/** What one record is counted in, and with what. */
interface Count {
  readonly accountId: string;
  readonly hour: Hour;
  readonly counterName: string;
  readonly counters: Counters;
}

const countOf = (record: RequestRecord): Count => {
  const { dimensions, counters } = contributionOf(record);
  const { accountId, startedAt } = record;
  return { accountId, hour: hourOf(startedAt), counterName: spendCounterName(dimensions), counters };
};

/** A change with what it comes to, worked out once. */
interface Prepared {
  readonly change: Change;
  readonly item: RequestItem;
  readonly before: Count | null;
  readonly after: Count;
}

const prepare = (change: Change): Prepared => ({
  change,
  item: requestItem(change.after),
  before: change.before && countOf(change.before),
  after: countOf(change.after),
});

/** What changes do to everything but the records themselves. */
class Totals {
  readonly cells = new Map<string, CounterDelta>();
  readonly months = new Map<string, { key: Key; requests: number }>();
  readonly lateDays = new Map<string, { accountId: string; day: Day }>();

  add({ before, after }: Prepared, today: Day): void {
    if (before) this.#count(before, -1);
    this.#count(after, 1);
    for (const { accountId, hour } of before ? [before, after] : [after]) {
      const day = dayOf(hour);
      if (day < today) this.lateDays.set(`${accountId}#${day}`, { accountId, day });
    }
  }

  #count({ accountId, hour, counterName, counters }: Count, sign: 1 | -1): void {
    this.#addToCounter(
      namedSpendCounterKey(accountId, 'HOUR', hour, counterName),
      counters,
      sign,
      hourCounterExpiry(hour),
    );
    this.#addToCounter(namedSpendCounterKey(accountId, 'DAY', dayOf(hour), counterName), counters, sign);
    const key = monthKey(accountId, monthOf(hour));
    const month = this.months.get(key.pk + key.sk);
    this.months.set(key.pk + key.sk, { key, requests: (month?.requests ?? 0) + sign });
  }

  #addToCounter(key: Key, counters: Counters, sign: 1 | -1, expiresAt?: number): void {
    const id = key.pk + key.sk;
    const sum = (sign === 1 ? addCounters : subtractCounters)(this.cells.get(id)?.counters ?? {}, counters);
    this.cells.set(id, { key, counters: sum, ...(expiresAt !== undefined && { expiresAt }) });
  }

  get actions(): number {
    return this.cells.size + this.months.size + this.lateDays.size;
  }
}

const actionsOf = ({ countsResponse }: Change): number => (countsResponse === undefined ? 1 : 2);

const toTransaction = (prepared: readonly Prepared[], totals: Totals): LedgerTransaction => ({
  changes: prepared.map(({ change }) => change),
  items: prepared.map(({ item }) => item),
  cells: [...totals.cells.values()].filter(({ counters }) => !isZero(counters)),
  months: [...totals.months.values()].filter(({ requests }) => requests !== 0),
  lateDays: [...totals.lateDays.values()],
});

/** Changes of the same cells stand side by side, so that a transaction touches few. */
const byCell = (changes: readonly Change[]): Prepared[] =>
  changes
    .map((change) => {
      const prepared = prepare(change);
      const { accountId, hour, counterName } = prepared.after;
      return { prepared, order: `${accountId}#${hour}#${counterName}` };
    })
    .sort((a, b) => (a.order < b.order ? -1 : Number(a.order > b.order)))
    .map(({ prepared }) => prepared);

/**
 * Packs changes into as few transactions as their limits allow: deltas of the same cell become one write.
 * Each record may appear once.
 *
 * @param today a day before it is closed, and its summary made stale by a change
 */
export const planTransactions = (changes: readonly Change[], today: Day): LedgerTransaction[] => {
  const transactions: LedgerTransaction[] = [];
  let packed: Prepared[] = [];
  let totals = new Totals();
  let actions = 0;
  let bytes = 0;
  const close = () => {
    if (packed.length > 0) transactions.push(toTransaction(packed, totals));
    packed = [];
    totals = new Totals();
    actions = 0;
    bytes = 0;
  };
  for (const prepared of byCell(changes)) {
    const { change, item } = prepared;
    const size = item.details.length + RECORD_BYTES + 4 * COUNTER_BYTES;
    // A change adds at most itself, its answer, two cells before and two after, a month and a late day.
    const most = actionsOf(change) + (change.before ? 4 : 2) + 2;
    if (bytes + size > MAX_BYTES || actions + totals.actions + most > MAX_ACTIONS) close();
    totals.add(prepared, today);
    packed.push(prepared);
    actions += actionsOf(change);
    bytes += size;
  }
  close();
  return transactions;
};
