import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { openServiceKeys } from '../../lambda/data/accounts/service-keys.ts';
import { openRules } from '../../lambda/data/alerts/rules.ts';
import { accountKey } from '../../lambda/data/table/keys.ts';
import type { Table } from '../../lambda/data/table/table.ts';

/** Sets what is counted on an account (active keys, rules) to what it has. */
export const recountAccount = async (table: Table, accountId: string): Promise<void> => {
  const keys = await openServiceKeys(table).list(accountId);
  const rules = await openRules(table).list(accountId);
  await table.client.send(
    new UpdateCommand({
      TableName: table.name,
      Key: accountKey(accountId),
      UpdateExpression: 'SET activeKeys = :keys, ruleCount = :rules',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: {
        ':keys': keys.filter(({ status }) => status === 'active').length,
        ':rules': rules.length,
      },
    }),
  );
};
