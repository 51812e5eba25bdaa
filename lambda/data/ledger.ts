import { setTimeout as sleep } from 'node:timers/promises';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { dayOf } from '../domain/spend/periods.ts';
import { countedAnswerKey } from './keys.ts';
import { type CellDelta, type Change, type LedgerTransaction, planTransactions } from './ledger-plan.ts';
import { requestItem } from './request-item.ts';
import type { Table } from './table.ts';
import { markUnsealed } from './unsealed.ts';

/** What became of each change. */
export interface Committed {
  readonly written: readonly Change[];
  /** The ledger is not as the change took it to be: read again, and decide again. Nothing of it was written. */
  readonly refused: readonly Change[];
  /** Not written. `permanent`: the table will never take it. */
  readonly failed: readonly { readonly change: Change; readonly error: unknown; readonly permanent: boolean }[];
}

type Actions = NonNullable<TransactWriteCommandInput['TransactItems']>;

const MAX_ATTEMPTS = 7;
const FIRST_BACKOFF_MS = 20;
const MAX_BACKOFF_MS = 1_000;
/** OpenAI keeps responses for 30 days; after that none can be fetched again. */
const ANSWER_DAYS = 60;

const recordActions = (table: string, { before, after, countsAnswer }: Change): Actions => {
  const put = {
    Put: {
      TableName: table,
      Item: requestItem(after),
      ...(before
        ? { ConditionExpression: 'revision = :before', ExpressionAttributeValues: { ':before': before.revision } }
        : { ConditionExpression: 'attribute_not_exists(pk)' }),
    },
  };
  if (countsAnswer === undefined) return [put];
  const guard = {
    Put: {
      TableName: table,
      Item: {
        ...countedAnswerKey(after.accountId, after.provider, countsAnswer),
        requestId: after.requestId,
        expiresAt: Math.floor(Date.parse(after.startedAt) / 1_000) + ANSWER_DAYS * 86_400,
      },
      ConditionExpression: 'attribute_not_exists(pk)',
    },
  };
  return [put, guard];
};

const addToCell = (table: string, { key, counters, expiresAt }: CellDelta) => {
  const entries = Object.entries(counters);
  const add = `ADD ${entries.map((_, i) => `#c${i} :c${i}`).join(', ')}`;
  return {
    Update: {
      TableName: table,
      Key: { ...key },
      UpdateExpression: expiresAt === undefined ? add : `${add} SET expiresAt = :expiresAt`,
      ExpressionAttributeNames: Object.fromEntries(entries.map(([name], i) => [`#c${i}`, name])),
      ExpressionAttributeValues: {
        ...Object.fromEntries(entries.map(([, value], i) => [`:c${i}`, value])),
        ...(expiresAt !== undefined && { ':expiresAt': expiresAt }),
      },
    },
  };
};

/** The actions of a transaction, and which change each of the first ones belongs to. */
const toActions = (
  table: string,
  { changes, cells, months, lateDays }: LedgerTransaction,
  now: number,
): { actions: Actions; owners: readonly Change[] } => {
  const owned = changes.flatMap((change) => recordActions(table, change).map((action) => ({ change, action })));
  return {
    owners: owned.map(({ change }) => change),
    actions: [
      ...owned.map(({ action }) => action),
      ...cells.map((cell) => addToCell(table, cell)),
      ...months.map(({ key, requests }) => ({
        Update: {
          TableName: table,
          Key: { ...key },
          UpdateExpression: 'ADD trackedRequests :requests',
          ExpressionAttributeValues: { ':requests': requests },
        },
      })),
      ...lateDays.map(({ accountId, day }) => markUnsealed(table, accountId, day, now)),
    ],
  };
};

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
 * Writes request records and the counters they add to, always in one transaction: the sums of the counters are the sums of the
 * records at every moment. Idempotent: a change is written on top of the exact record it was decided on, or not at all.
 */
export const openLedger = (table: Table, now: () => number = Date.now) => {
  const commit = async (changes: readonly Change[], attempt: number): Promise<Committed> => {
    const today = dayOf(new Date(now()).toISOString());
    const results = await Promise.all(
      planTransactions(changes, today).map((transaction) => commitOne(transaction, attempt)),
    );
    return {
      written: results.flatMap(({ written }) => written),
      refused: results.flatMap(({ refused }) => refused),
      failed: results.flatMap(({ failed }) => failed),
    };
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
        const halves = [changes.slice(0, middle), changes.slice(middle)];
        const [left, right] = await Promise.all(halves.map((half) => commit(half, attempt)));
        return merge(left as Committed, right as Committed);
      }
      if (verdict.kind === 'permanent' || attempt + 1 >= MAX_ATTEMPTS) {
        const permanent = verdict.kind === 'permanent';
        return { written: [], refused: [], failed: changes.map((change) => ({ change, error, permanent })) };
      }
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

const merge = (left: Committed, right: Committed): Committed => ({
  written: [...left.written, ...right.written],
  refused: [...left.refused, ...right.refused],
  failed: [...left.failed, ...right.failed],
});
