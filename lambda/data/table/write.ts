import type { Write } from './actions.ts';
import { isConditionFailed } from './refusal.ts';
import type { Table } from './table.ts';

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
