import { setTimeout as sleep } from 'node:timers/promises';
import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { UnavailableError } from '../../domain/errors.ts';
import type { Action, Write } from './actions.ts';
import { type ChainedPut, linkWrites } from './chain.ts';
import type { Table } from './table.ts';

const FIRST_MS = 20;
const MAX_MS = 1_000;

/**
 * A random pause that grows with each attempt, from 0 on, up to a second: writers that conflicted once should not conflict again.
 *
 * @see https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter/
 */
export const backOff = (attempt: number): Promise<void> =>
  sleep(Math.random() * Math.min(MAX_MS, FIRST_MS * 2 ** attempt));

/** The table refused a write, since its condition does not hold. */
export const isConditionFailed = (error: unknown): error is ConditionalCheckFailedException =>
  error instanceof ConditionalCheckFailedException;

/**
 * Why each action of a transaction was refused, in their order, such as `ConditionalCheckFailed` or `None`; undefined where the error is
 * another.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
 */
export const cancellationCodes = (error: unknown): string[] | undefined =>
  error instanceof TransactionCanceledException
    ? (error.CancellationReasons ?? []).map(({ Code = 'None' }) => Code)
    : undefined;

/** @throws ConditionalCheckFailedException */
export const write = async ({ call, name: TableName }: Table, change: Write): Promise<void> => {
  if ('Put' in change) await call('PutItem', { TableName, ...change.Put });
  else if ('Update' in change) await call('UpdateItem', { TableName, ...change.Update });
  else await call('DeleteItem', { TableName, ...change.Delete });
};

/** @returns false where the condition does not hold: nothing is written then */
export const tryWrite = async (table: Table, change: Write): Promise<boolean> => {
  try {
    await write(table, change);
    return true;
  } catch (error) {
    if (isConditionFailed(error)) return false;
    throw error;
  }
};

/** An action as a transaction takes it. */
export const withTable = (
  TableName: string,
  action: Action,
): NonNullable<TransactWriteCommandInput['TransactItems']>[number] =>
  Object.fromEntries(Object.entries(action).map(([kind, input]) => [kind, { TableName, ...input }]));

/** The SDK does not try a cancelled transaction again, whatever the reason. */
const TEMPORARY: ReadonlySet<string> = new Set([
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]);
/** Attempts of one transaction, and of reading, deciding and writing. */
const MAX_ATTEMPTS = 6;
/** All changes of an account are links of one chain, so that they meet more often. */
const MAX_CHAINED_ATTEMPTS = 20;

/** Conditions of a transaction failed, and nothing was written. `refused` is true for each action whose condition failed, in their order. */
export class ConditionsFailedError extends Error {
  override readonly name = 'ConditionsFailedError';
  readonly refused: readonly boolean[];

  constructor(cause: unknown, codes: readonly string[]) {
    super('A condition of the transaction failed.', { cause });
    this.refused = codes.map((code) => code === 'ConditionalCheckFailed');
  }
}

type Refusal = Error | undefined;

/**
 * Writes all or nothing. Retries where transactions conflict or are throttled, which `call` does not.
 *
 * @param refusal the error to throw where conditions failed, by what `refused` of ConditionsFailedError says
 * @param actions links of a chain are written last, whatever their place, and never refused
 * @throws ConditionsFailedError without `refusal`, and where it returns none
 * @throws UnavailableError where other writers keep changing the same items, or the table throttles them
 */
export const transact = async (
  table: Table,
  actions: readonly (Action | ChainedPut)[],
  refusal?: (refused: readonly boolean[]) => Refusal | Promise<Refusal>,
): Promise<void> => {
  const links = actions.filter((action) => 'ChainedPut' in action);
  const others = actions.filter((action): action is Action => !('ChainedPut' in action));
  const attempts = links.length > 0 ? MAX_CHAINED_ATTEMPTS : MAX_ATTEMPTS;
  for (let attempt = 0; attempt < attempts; attempt++) {
    try {
      const writes = [...others, ...(await linkWrites(table, links))];
      await table.call('TransactWriteItems', { TransactItems: writes.map((action) => withTable(table.name, action)) });
      return;
    } catch (error) {
      const codes = cancellationCodes(error);
      if (!codes) throw error;
      const ofOthers = codes.slice(0, others.length).values();
      const own = actions.map((action) => ('ChainedPut' in action ? 'None' : (ofOthers.next().value ?? 'None')));
      if (own.includes('ConditionalCheckFailed')) {
        const failed = new ConditionsFailedError(error, own);
        throw (await refusal?.(failed.refused)) ?? failed;
      }
      const isOvertaken = links.length > 0 && codes.at(-1) === 'ConditionalCheckFailed';
      if (!isOvertaken && !codes.some((code) => TEMPORARY.has(code))) throw error;
      await backOff(attempt);
    }
  }
  throw new UnavailableError('The account is being changed from several sides. Try again.');
};

/** The same. @returns false where conditions failed */
export const tryTransact = async (table: Table, actions: readonly (Action | ChainedPut)[]): Promise<boolean> => {
  try {
    await transact(table, actions);
    return true;
  } catch (error) {
    if (error instanceof ConditionsFailedError) return false;
    throw error;
  }
};

/** An attempt returns this to be run again at once. */
export const RETRY = Symbol('retry');

/**
 * Runs a read-decide-write attempt again when another writer changed the account between its read and its write, after a random,
 * growing pause.
 *
 * @throws UnavailableError if other writers keep changing the account; any other error of the attempt
 */
export const retryConflicts = async <T>(attempt: () => Promise<T | typeof RETRY>): Promise<T> => {
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
    try {
      const result = await attempt();
      if (result !== RETRY) return result;
    } catch (error) {
      if (!(error instanceof ConditionsFailedError)) throw error;
      await backOff(attempts);
    }
  }
  throw new UnavailableError('Other requests are changing the account. Try again.');
};
