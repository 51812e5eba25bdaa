import { setTimeout as sleep } from 'node:timers/promises';
import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { UnavailableError } from '../../domain/errors.ts';
import type { Action } from './actions.ts';
import { cancellationCodes } from './refusal.ts';
import type { Table } from './table.ts';

/** An action as a transaction takes it. */
export const withTable = (
  TableName: string,
  action: Action,
): NonNullable<TransactWriteCommandInput['TransactItems']>[number] =>
  Object.fromEntries(Object.entries(action).map(([kind, input]) => [kind, { TableName, ...input }]));

const MAX_ATTEMPTS = 5;
const FIRST_BACKOFF_MS = 20;

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
 * Writes all or nothing. Retries where transactions conflict, which `call` does not.
 *
 * @param refusal the error to throw where conditions failed, by what `refused` of ConditionsFailedError says
 * @throws ConditionsFailedError without `refusal`, and where it returns none
 * @throws UnavailableError where other writers keep changing the same items
 */
export const transact = async (
  { call, name }: Table,
  actions: readonly Action[],
  refusal?: (refused: readonly boolean[]) => Refusal | Promise<Refusal>,
): Promise<void> => {
  const TransactItems = actions.map((action) => withTable(name, action));
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    try {
      await call('TransactWriteItems', { TransactItems });
      return;
    } catch (error) {
      const codes = cancellationCodes(error);
      if (!codes) throw error;
      if (codes.includes('ConditionalCheckFailed')) {
        const failed = new ConditionsFailedError(error, codes);
        throw (await refusal?.(failed.refused)) ?? failed;
      }
      if (!codes.includes('TransactionConflict')) throw error;
      await sleep(Math.random() * FIRST_BACKOFF_MS * 2 ** attempt);
    }
  }
  throw new UnavailableError('The account is being changed from several sides. Try again.');
};

/** The same. @returns false where conditions failed */
export const tryTransact = async (table: Table, actions: readonly Action[]): Promise<boolean> => {
  try {
    await transact(table, actions);
    return true;
  } catch (error) {
    if (error instanceof ConditionsFailedError) return false;
    throw error;
  }
};
