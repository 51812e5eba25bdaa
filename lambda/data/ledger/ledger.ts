import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { isThrottlingError } from '@smithy/core/retry';
import { type Day, dayOf, monthOf } from '../../domain/calendar/utc.ts';
import type { Table } from '../table/table.ts';
import { backOff, cancellationCodes, withTable } from '../table/write.ts';
import { openReservations } from './reservations.ts';
import { openSharding, type Sharding } from './sharding.ts';
import {
  type Change,
  type LedgerTransaction,
  MONTH_COUNTER,
  packTransactions,
  type Source,
  toActions,
} from './transactions.ts';

interface CommitResult {
  readonly written: readonly Change[];
  /** Not written, because the ledger is not in the state that the change assumes: read and decide again. */
  readonly refused: readonly Change[];
  /** Not written. `permanent`: the table will never accept it. */
  readonly failed: readonly { readonly change: Change; readonly error: unknown; readonly permanent: boolean }[];
}

const MAX_ATTEMPTS = 7;
/**
 * Weight of an attempt that met nothing but reservations. Each is a gateway's single write of a millisecond: at 500 a second, two in
 * three transactions meet one, however long they wait.
 */
const ATTEMPT_AT_RESERVATIONS = 1 / 16;

const isInvalid = (error: unknown): boolean =>
  error instanceof DynamoDBServiceException && ['ValidationException', 'SerializationException'].includes(error.name);

/** Before this day every day is: all are marked for rollup. */
const NO_DAY_IS_OPEN: Day = '9999-12-31';

type MonthSource = Extract<Source, { kind: 'month' }>;

type Verdict =
  | { readonly kind: 'refused'; readonly changes: ReadonlySet<Change> }
  /** A day that was open when the transaction was made is closed by now, or a month is sharded otherwise than assumed. */
  | { readonly kind: 'outdated'; readonly months: readonly MonthSource[] }
  /** Reservations were freed before: the evaluator does that when they are old. */
  | { readonly kind: 'freed' }
  | { readonly kind: 'permanent' }
  /** `conflicting`: what other transactions had. `isContended`: it conflicted or was throttled. */
  | { readonly kind: 'retry'; readonly conflicting: readonly Source[]; readonly isContended: boolean };

/** Why a transaction failed. The codes of a cancelled transaction are in the order of its actions. */
const judge = (error: unknown, sources: readonly Source[]): Verdict => {
  const codes = cancellationCodes(error);
  if (!codes)
    return isInvalid(error)
      ? { kind: 'permanent' }
      : { kind: 'retry', conflicting: [], isContended: isThrottlingError(error as never) };
  const having = (code: string) => sources.filter((_, i) => codes[i] === code);
  const failed = having('ConditionalCheckFailed');
  const hasLeftTable = ({ after }: Change) =>
    failed.some(
      (source) =>
        source.kind === 'dayInTable' && source.accountId === after.accountId && source.day === dayOf(after.startedAt),
    );
  const refused = sources.flatMap((source) =>
    source.kind === 'change' && (failed.includes(source) || hasLeftTable(source.change)) ? source.change : [],
  );
  if (refused.length > 0) return { kind: 'refused', changes: new Set(refused) };
  if (failed.some(({ kind }) => kind === 'reservation')) return { kind: 'freed' };
  // Only records, their responses and days, reservations and month counters have conditions.
  if (failed.length > 0) return { kind: 'outdated', months: failed.filter((source) => source.kind === 'month') };
  if (codes.includes('ValidationError')) return { kind: 'permanent' };
  const conflicting = having('TransactionConflict');
  // Gateways write the items of reservations all the time: no sharding of counters ends these conflicts.
  const isContended = conflicting.some(({ kind }) => kind !== 'reservation') || codes.includes('ThrottlingError');
  return { kind: 'retry', conflicting, isContended };
};

/**
 * Groups transactions into rounds in which no account has two. All transactions of an account update its month counter, and DynamoDB
 * cancels one of two that conflict and charges for both.
 */
const toRounds = (transactions: readonly LedgerTransaction[]): LedgerTransaction[][] => {
  const rounds: { readonly accountIds: Set<string>; readonly transactions: LedgerTransaction[] }[] = [];
  for (const transaction of transactions) {
    const ownIds = [...new Set(transaction.changes.map(({ after }) => after.accountId))];
    const free = rounds.find(({ accountIds }) => !ownIds.some((accountId) => accountIds.has(accountId)));
    const round = free ?? { accountIds: new Set(), transactions: [] };
    if (!free) rounds.push(round);
    for (const accountId of ownIds) round.accountIds.add(accountId);
    round.transactions.push(transaction);
  }
  return rounds.map((round) => round.transactions);
};

const merge = (results: readonly CommitResult[]): CommitResult => ({
  written: results.flatMap(({ written }) => written),
  refused: results.flatMap(({ refused }) => refused),
  failed: results.flatMap(({ failed }) => failed),
});

/**
 * Writes request records together with the counters that they add to, in one transaction: at every moment the counters are the sums
 * of the records. Idempotent: a change is written on top of the exact record it was decided on, or not at all.
 */
export const openLedger = (
  table: Table,
  now: () => number = Date.now,
  sharding: Sharding = openSharding(table, now),
) => {
  const reservations = openReservations(table);
  const currentDay = (): Day => dayOf(new Date(now()).toISOString());

  const commit = async (changes: readonly Change[], attempt: number, today = currentDay()): Promise<CommitResult> => {
    const results: CommitResult[] = [];
    for (const round of toRounds(packTransactions(changes, today, sharding)))
      results.push(...(await Promise.all(round.map((transaction) => commitOne(transaction, attempt)))));
    return merge(results);
  };

  /** @returns false where none of the months is sharded otherwise than the transaction assumed: a day of them is closed */
  const learnSharding = async (months: readonly MonthSource[]): Promise<boolean> => {
    const isKnown = ({ accountId, month, shardedAfter }: MonthSource) =>
      sharding.shardedAfter(accountId, month) !== shardedAfter;
    await Promise.all(months.map((each) => isKnown(each) || sharding.learn(each.accountId, each.month)));
    return months.some(isKnown);
  };

  /** @param changes all of one account */
  const noteContention = async (
    changes: readonly Change[],
    { conflicting, isContended }: Extract<Verdict, { kind: 'retry' }>,
  ): Promise<void> => {
    for (const source of conflicting) {
      if (source.kind === 'month') sharding.moveCounter(source.accountId, MONTH_COUNTER, source.shard);
      if (source.kind === 'counter') sharding.moveCounter(source.accountId, source.counterName, source.shard);
    }
    if (!isContended) return;
    const months = new Set(changes.map(({ after }) => monthOf(after.startedAt)));
    const { accountId } = (changes[0] as Change).after;
    for (const month of months) await sharding.noteContention(accountId, month);
  };

  const commitOne = async (transaction: LedgerTransaction, attempt: number): Promise<CommitResult> => {
    const { changes } = transaction;
    const { actions, sources } = toActions(transaction, now());
    try {
      const TransactItems = actions.map((action) => withTable(table.name, action));
      await table.call('TransactWriteItems', { TransactItems });
      return { written: changes, refused: [], failed: [] };
    } catch (error) {
      const verdict = judge(error, sources);
      if (verdict.kind === 'refused') {
        const rest = changes.filter((change) => !verdict.changes.has(change));
        const { written, refused, failed } = await commit(rest, attempt);
        return { written, refused: [...verdict.changes, ...refused], failed };
      }
      if (verdict.kind === 'outdated' && attempt + 1 < MAX_ATTEMPTS) {
        try {
          const learned = await learnSharding(verdict.months);
          return await commit(changes, attempt + 1, learned ? undefined : NO_DAY_IS_OPEN);
        } catch {
          // The month counter cannot be read, or is busy: below, the transaction is made again later.
        }
      }
      if (verdict.kind === 'freed') {
        const held = new Set(await reservations.held(changes.flatMap((change) => change.reservations ?? [])));
        const rest = changes.map((change) => ({
          ...change,
          reservations: change.reservations?.filter((each) => held.has(each)),
        }));
        return commit(rest, attempt);
      }
      if (verdict.kind === 'permanent' && changes.length > 1) {
        // One bad change must not fail the others: halve until it is alone.
        const middle = Math.ceil(changes.length / 2);
        const first = await commit(changes.slice(0, middle), attempt);
        return merge([first, await commit(changes.slice(middle), attempt)]);
      }
      if (verdict.kind === 'permanent' || attempt + 1 >= MAX_ATTEMPTS) {
        const permanent = verdict.kind === 'permanent';
        return { written: [], refused: [], failed: changes.map((change) => ({ change, error, permanent })) };
      }
      const byAccount = [...Map.groupBy(changes, ({ after }) => after.accountId).values()];
      // The busy counters of one account must not delay the others.
      if (byAccount.length > 1) return merge(await Promise.all(byAccount.map((some) => commit(some, attempt))));
      if (verdict.kind === 'retry') await noteContention(changes, verdict);
      await backOff(attempt);
      const isAtReservations = verdict.kind === 'retry' && verdict.conflicting.length > 0 && !verdict.isContended;
      return commit(changes, attempt + (isAtReservations ? ATTEMPT_AT_RESERVATIONS : 1));
    }
  };

  return {
    /** @param changes at most one for each record, of any accounts */
    commit: (changes: readonly Change[]): Promise<CommitResult> => commit(changes, 0),
  };
};
