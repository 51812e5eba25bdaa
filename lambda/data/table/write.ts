import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Write } from './actions.ts';
import type { Table } from './table.ts';

/** @throws ConditionalCheckFailedException */
export const write = async ({ client, name: TableName }: Table, change: Write): Promise<void> => {
  if ('Put' in change) await client.send(new PutCommand({ TableName, ...change.Put }));
  else if ('Update' in change) await client.send(new UpdateCommand({ TableName, ...change.Update }));
  else await client.send(new DeleteCommand({ TableName, ...change.Delete }));
};

/** @returns false where the condition does not hold: nothing is written then */
export const tryWrite = async (table: Table, change: Write): Promise<boolean> => {
  try {
    await write(table, change);
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
};
