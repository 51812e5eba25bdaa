import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { HOUR_COUNTER_DAYS } from '../../domain/calendar/range.ts';
import { DAY_SECONDS } from '../../domain/calendar/units.ts';
import { type Day, dayOf, type Hour, hourOf, monthOf } from '../../domain/calendar/utc.ts';
import { contributionOf } from '../../domain/spend/contribution.ts';
import { addCounters, type Counters, isZero, subtractCounters } from '../../domain/spend/counters.ts';
import { storedCounterName } from '../../domain/spend/former-names.ts';
import type { RequestRecord } from '../../domain/spend/request-record.ts';
import { type RequestItem, requestItem } from '../requests/request-item.ts';
import { countedResponseKey, type Key, monthKey, namedSpendCounterKey, spendCounterName } from '../table/keys.ts';
import { IS_OPEN, markForRollup } from './rollup-marks.ts';

/** One record to write: the only way that anything in the ledger changes. */
export interface Change {
  /** The record that was read; null where there was none. */
  readonly before: RequestRecord | null;
  readonly after: RequestRecord;
  /** Id of the response that is counted with this request: see countedResponseKey. */
  readonly countsResponse?: string | undefined;
}

/** What a transaction adds to one spend counter. */
interface SpendCounterDelta {
  readonly key: Key;
  readonly counters: Counters;
  /** Epoch seconds; day counters do not expire. */
  readonly expiresAt?: number;
}

interface AccountDay {
  readonly accountId: string;
  readonly day: Day;
}

/** Changes and all that they write, together or not at all. */
export interface LedgerTransaction {
  readonly changes: readonly Change[];
  /** Items of the records, in the order of the changes. */
  readonly items: readonly RequestItem[];
  readonly spendCounters: readonly SpendCounterDelta[];
  /** `openDay`: the earliest day that these changes count in and do not mark. The transaction fails where it is closed: see closeDay. */
  readonly months: readonly { readonly key: Key; readonly requests: number; readonly openDay?: Day | undefined }[];
  /** Days whose summaries these changes make stale: those before today, and those that no month counter of the transaction checks. */
  readonly markedDays: readonly AccountDay[];
}

/** @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html */
export const MAX_ACTIONS = 100;
/** The limit is 4 MB; the rest is room for what the estimate leaves out. */
const MAX_BYTES = 3_000_000;
const COUNTER_BYTES = 2_000;
/** A record without its details. */
const RECORD_BYTES = 2_000;

/** Epoch seconds after which the counters of an hour may be gone. */
export const hourCounterExpiry = (hour: string): number =>
  Date.parse(`${hour}:00:00Z`) / 1_000 + HOUR_COUNTER_DAYS * DAY_SECONDS;

/** What one record adds, and to which spend counter. */
interface Addition {
  readonly accountId: string;
  readonly hour: Hour;
  readonly counterName: string;
  readonly counters: Counters;
}

const additionOf = (record: RequestRecord): Addition => {
  const { dimensions, counters } = contributionOf(record);
  const { accountId, startedAt } = record;
  return { accountId, hour: hourOf(startedAt), counterName: spendCounterName(dimensions), counters };
};

/** A change with all that it writes, computed once. */
interface PreparedChange {
  readonly change: Change;
  readonly item: RequestItem;
  readonly before: Addition | null;
  readonly after: Addition;
}

const prepare = (change: Change): PreparedChange => ({
  change,
  item: requestItem(change.after),
  before: change.before && additionOf(change.before),
  after: additionOf(change.after),
});

/** What changes write apart from the records themselves. */
class Totals {
  readonly spendCounters = new Map<string, SpendCounterDelta>();
  readonly #months = new Map<string, { accountId: string; key: Key; requests: number; openDays: Set<Day> }>();
  readonly #lateDays = new Map<string, AccountDay>();

  add({ before, after }: PreparedChange, today: Day): void {
    if (before) this.#add(before, -1);
    this.#add(after, 1);
    for (const { accountId, hour } of before ? [before, after] : [after]) {
      const day = dayOf(hour);
      if (day < today) this.#lateDays.set(`${accountId}#${day}`, { accountId, day });
      else this.#monthOf(accountId, day).openDays.add(day);
    }
  }

  #add({ accountId, hour, counterName, counters }: Addition, sign: 1 | -1): void {
    this.#addToSpendCounter(
      namedSpendCounterKey(accountId, 'HOUR', hour, counterName),
      counters,
      sign,
      hourCounterExpiry(hour),
    );
    this.#addToSpendCounter(namedSpendCounterKey(accountId, 'DAY', dayOf(hour), counterName), counters, sign);
    this.#monthOf(accountId, hour).requests += sign;
  }

  #monthOf(accountId: string, time: Day | Hour) {
    const key = monthKey(accountId, monthOf(time));
    const id = key.pk + key.sk;
    const month = this.#months.get(id) ?? { accountId, key, requests: 0, openDays: new Set() };
    this.#months.set(id, month);
    return month;
  }

  #addToSpendCounter(key: Key, counters: Counters, sign: 1 | -1, expiresAt?: number): void {
    const id = key.pk + key.sk;
    const sum = (sign === 1 ? addCounters : subtractCounters)(this.spendCounters.get(id)?.counters ?? {}, counters);
    this.spendCounters.set(id, { key, counters: sum, ...(expiresAt !== undefined && { expiresAt }) });
  }

  get months(): LedgerTransaction['months'] {
    return [...this.#months.values()]
      .filter(({ requests }) => requests !== 0)
      .map(({ key, requests, openDays }) => ({ key, requests, openDay: [...openDays].sort()[0] }));
  }

  get markedDays(): LedgerTransaction['markedDays'] {
    const unchecked = [...this.#months.values()]
      .filter(({ requests }) => requests === 0)
      .flatMap(({ accountId, openDays }) => [...openDays].map((day) => ({ accountId, day })));
    return [...this.#lateDays.values(), ...unchecked];
  }

  get actions(): number {
    let actions = this.spendCounters.size + this.#lateDays.size;
    for (const { requests, openDays } of this.#months.values()) actions += requests === 0 ? openDays.size : 1;
    return actions;
  }
}

/** The record, and the guard of its response where it counts one. */
const recordActionCount = ({ countsResponse }: Change): number => (countsResponse === undefined ? 1 : 2);

const toTransaction = (prepared: readonly PreparedChange[], totals: Totals): LedgerTransaction => ({
  changes: prepared.map(({ change }) => change),
  items: prepared.map(({ item }) => item),
  spendCounters: [...totals.spendCounters.values()].filter(({ counters }) => !isZero(counters)),
  months: totals.months,
  markedDays: totals.markedDays,
});

/** Sorted so that changes of the same spend counters are next to each other, and a transaction updates few of them. */
const sortBySpendCounter = (changes: readonly Change[]): PreparedChange[] =>
  changes
    .map((change) => {
      const prepared = prepare(change);
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
export const packTransactions = (changes: readonly Change[], today: Day): LedgerTransaction[] => {
  const transactions: LedgerTransaction[] = [];
  let packed: PreparedChange[] = [];
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
  for (const prepared of sortBySpendCounter(changes)) {
    const { change, item } = prepared;
    const size = item.details.length + RECORD_BYTES + 4 * COUNTER_BYTES;
    // A change adds at most itself, its response, two spend counters before and two after, a month and a marked day.
    const most = recordActionCount(change) + (change.before ? 4 : 2) + 2;
    if (bytes + size > MAX_BYTES || actions + totals.actions + most > MAX_ACTIONS) close();
    totals.add(prepared, today);
    packed.push(prepared);
    actions += recordActionCount(change);
    bytes += size;
  }
  close();
  return transactions;
};

type Actions = NonNullable<TransactWriteCommandInput['TransactItems']>;

const recordActions = (table: string, { before, after, countsResponse }: Change, item: RequestItem): Actions => {
  const put = {
    Put: {
      TableName: table,
      Item: { ...item },
      ...(before
        ? { ConditionExpression: 'revision = :before', ExpressionAttributeValues: { ':before': before.revision } }
        : { ConditionExpression: 'attribute_not_exists(pk)' }),
    },
  };
  if (countsResponse === undefined) return [put];
  // Without an expiry: a provider may keep a batch's file for as long as it likes.
  const guard = {
    Put: {
      TableName: table,
      Item: {
        ...countedResponseKey(after.accountId, after.provider, countsResponse),
        requestId: after.requestId,
      },
      ConditionExpression: 'attribute_not_exists(pk)',
    },
  };
  return [put, guard];
};

const addToSpendCounter = (table: string, { key, counters, expiresAt }: SpendCounterDelta) => {
  const entries = Object.entries(counters);
  const add = `ADD ${entries.map((_, i) => `#c${i} :c${i}`).join(', ')}`;
  return {
    Update: {
      TableName: table,
      Key: { ...key },
      UpdateExpression: expiresAt === undefined ? add : `${add} SET expiresAt = :expiresAt`,
      ExpressionAttributeNames: Object.fromEntries(entries.map(([name], i) => [`#c${i}`, storedCounterName(name)])),
      ExpressionAttributeValues: {
        ...Object.fromEntries(entries.map(([, value], i) => [`:c${i}`, value])),
        ...(expiresAt !== undefined && { ':expiresAt': expiresAt }),
      },
    },
  };
};

/** The actions of a transaction. The first ones are those of its changes: `owners` has the change of each. */
export const toActions = (
  table: string,
  { changes, items, spendCounters, months, markedDays }: LedgerTransaction,
  now: number,
): { actions: Actions; owners: readonly Change[] } => {
  const owned = changes.flatMap((change, index) =>
    recordActions(table, change, items[index] as RequestItem).map((action) => ({ change, action })),
  );
  return {
    owners: owned.map(({ change }) => change),
    actions: [
      ...owned.map(({ action }) => action),
      ...spendCounters.map((delta) => addToSpendCounter(table, delta)),
      ...months.map(({ key, requests, openDay }) => ({
        Update: {
          TableName: table,
          Key: { ...key },
          UpdateExpression: 'ADD trackedRequests :requests',
          ...(openDay !== undefined && { ConditionExpression: IS_OPEN }),
          ExpressionAttributeValues: { ':requests': requests, ...(openDay !== undefined && { ':day': openDay }) },
        },
      })),
      ...markedDays.map(({ accountId, day }) => markForRollup(table, accountId, day, now)),
    ],
  };
};
