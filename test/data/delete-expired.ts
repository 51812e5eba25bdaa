import { accountKey } from '../../lambda/data/table/keys.ts';
import type { Table } from '../../lambda/data/table/table.ts';

/** Deletes the items of an account that have expired, as the table does on its own. */
export const deleteExpired = async (table: Table, accountId: string, now: number) => {
  const { Items = [] } = await table.call('Scan', {
    TableName: table.name,
    FilterExpression: 'begins_with(pk, :account) AND expiresAt <= :now',
    ExpressionAttributeValues: { ':account': accountKey(accountId).pk, ':now': now / 1_000 },
  });
  for (const { pk, sk } of Items) await table.call('DeleteItem', { TableName: table.name, Key: { pk, sk } });
};
