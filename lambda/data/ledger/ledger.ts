import { setTimeout as sleep } from 'node:timers/promises';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { dayOf } from '../../domain/calendar/utc.ts';
import type { Table } from '../table/table.ts';
import { toActions } from './transaction-actions.ts';
import { type Change, type LedgerTransaction, planTransactions } from './transactions.ts';

/** What became of each change. */
export interface Committed {
  readonly written: readonly Change[];
  /** The ledger is not as the change took it to be: read again, and decide again. Nothing of it was written. */
  readonly refused: readonly Change[];
  /** Not written. `permanent`: the table will never take it. */
  readonly failed: readonly { readonly change: Change; readonly error: unknown; readonly permanent: boolean }[];
}

const MAX_ATTEMPTS = 7;
const FIRST_BACKOFF_MS = 20;
const MAX_BACKOFF_MS = 1_000;

const isInvalid = (error: unknown): boolean =>
  error instanceof Error && ['ValidationException', 'SerializationException'].includes(error.name);

type Verdict =
  | { readonly kind: 'refused'; readonly changes: ReadonlySet<Change> }
  | { readonly kind: 'permanent' }
  | { readonly kind: 'retry' };

/** Reads why a transaction did not happen: codes stand in the order of its actions. */
const judge = (error: unknown, owners: readonly Change[]): Verdict => {
  if (!(error instanceof TransactionCanceledException)) return { kind: isInvalid(error) ? 'permanent' : 'retry' };
  const codes = (error.CancellationReasons ?? []).map(({ Code }) => Code);
  const refused = new Set(owners.filter((_, i) => codes[i] === 'ConditionalCheckFailed'));
  if (refused.size > 0) return { kind: 'refused', changes: refused };
  return { kind: codes.includes('ValidationError') ? 'permanent' : 'retry' };
};

/**
 * Transactions in rounds, in each of which no account has two: its month counter is in all of its transactions, and DynamoDB cancels one
 * that meets another, charging for both.
 */
const inRounds = (transactions: readonly LedgerTransaction[]): LedgerTransaction[][] => {
  const rounds: { readonly accountIds: Set<string>; readonly transactions: LedgerTransaction[] }[] = [];
  for (const transaction of transactions) {
    const own = [...new Set(transaction.changes.map(({ after }) => after.accountId))];
    const free = rounds.find(({ accountIds }) => !own.some((accountId) => accountIds.has(accountId)));
    const round = free ?? { accountIds: new Set(), transactions: [] };
    if (!free) rounds.push(round);
    for (const accountId of own) round.accountIds.add(accountId);
    round.transactions.push(transaction);
  }
  return rounds.map((round) => round.transactions);
};

const merge = (results: readonly Committed[]): Committed => ({
  written: results.flatMap(({ written }) => written),
  refused: results.flatMap(({ refused }) => refused),
  failed: results.flatMap(({ failed }) => failed),
});

/**
 * Writes request records and the counters they add to, always in one transaction: the sums of the counters are the sums of the
 * records at every moment. Idempotent: a change is written on top of the exact record it was decided on, or not at all.
 */
export const openLedger = (table: Table, now: () => number = Date.now) => {
  const commit = async (changes: readonly Change[], attempt: number): Promise<Committed> => {
    const today = dayOf(new Date(now()).toISOString());
    const results: Committed[] = [];
    for (const round of inRounds(planTransactions(changes, today)))
      results.push(...(await Promise.all(round.map((transaction) => commitOne(transaction, attempt)))));
    return merge(results);
  };

  const commitOne = async (transaction: LedgerTransaction, attempt: number): Promise<Committed> => {
    const { changes } = transaction;
    const { actions, owners } = toActions(table.name, transaction, now());
    try {
      await table.client.send(new TransactWriteCommand({ TransactItems: actions }));
      return { written: changes, refused: [], failed: [] };
    } catch (error) {
      const verdict = judge(error, owners);
      if (verdict.kind === 'refused') {
        const rest = changes.filter((change) => !verdict.changes.has(change));
        const { written, refused, failed } = await commit(rest, attempt);
        return { written, refused: [...verdict.changes, ...refused], failed };
      }
      if (verdict.kind === 'permanent' && changes.length > 1) {
        // One bad change must not take the others down with it.
        const middle = Math.ceil(changes.length / 2);
        const first = await commit(changes.slice(0, middle), attempt);
        return merge([first, await commit(changes.slice(middle), attempt)]);
      }
      if (verdict.kind === 'permanent' || attempt + 1 >= MAX_ATTEMPTS) {
        const permanent = verdict.kind === 'permanent';
        return { written: [], refused: [], failed: changes.map((change) => ({ change, error, permanent })) };
      }
      const ofAccounts = [...Map.groupBy(changes, ({ after }) => after.accountId).values()];
      // One account's busy counters must not hold up the others.
      if (ofAccounts.length > 1) return merge(await Promise.all(ofAccounts.map((some) => commit(some, attempt))));
      // Full jitter: writers that met once should not meet again. @see https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter/
      await sleep(Math.random() * Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** attempt));
      return commit(changes, attempt + 1);
    }
  };

  return {
    /** @param changes each of another record; they need not be of one account */
    commit: (changes: readonly Change[]): Promise<Committed> => commit(changes, 0),
  };
};
