import { setTimeout as sleep } from 'node:timers/promises';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { UnavailableError } from '../../domain/errors.ts';
import type { Table } from './table.ts';

export type TransactionItems = NonNullable<TransactWriteCommandInput['TransactItems']>;

const MAX_ATTEMPTS = 5;
const FIRST_BACKOFF_MS = 20;

/** Conditions of a transaction failed, and nothing was written. `refused` is true for each action whose condition failed, in their order. */
export class ConditionsFailedError extends Error {
  override readonly name = 'ConditionsFailedError';
  readonly refused: readonly boolean[];

  constructor(cause: TransactionCanceledException) {
    super('A condition of the transaction failed.', { cause });
    this.refused = (cause.CancellationReasons ?? []).map(({ Code }) => Code === 'ConditionalCheckFailed');
  }
}

/**
 * Writes all or nothing. Retries where transactions conflict, which the SDK does not.
 *
 * @throws ConditionsFailedError
 * @throws UnavailableError where other writers keep changing the same items
 */
export const transact = async ({ client }: Pick<Table, 'client'>, items: TransactionItems): Promise<void> => {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    try {
      await client.send(new TransactWriteCommand({ TransactItems: items }));
      return;
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error;
      const codes = (error.CancellationReasons ?? []).map(({ Code }) => Code);
      if (codes.includes('ConditionalCheckFailed')) throw new ConditionsFailedError(error);
      if (!codes.includes('TransactionConflict')) throw error;
      await sleep(Math.random() * FIRST_BACKOFF_MS * 2 ** attempt);
    }
  }
  throw new UnavailableError('The account is being changed from several sides. Try again.');
};
