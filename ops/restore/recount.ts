import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { openProjects } from '../../lambda/data/accounts/projects.ts';
import { openServiceKeys } from '../../lambda/data/accounts/service-keys.ts';
import { openRules } from '../../lambda/data/alerts/rules.ts';
import { accountKey, projectKey } from '../../lambda/data/table/keys.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import { DEFAULT_PROJECT_ID } from '../../lambda/domain/accounts/project.ts';

/** Sets what is counted on an account (active keys, rules) and on its projects (keys) to what it has. */
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
  for (const { projectId } of await openProjects(table).list(accountId))
    if (projectId !== DEFAULT_PROJECT_ID)
      await table.client.send(
        new UpdateCommand({
          TableName: table.name,
          Key: projectKey(accountId, projectId),
          UpdateExpression: 'SET keyCount = :keys',
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeValues: { ':keys': keys.filter((key) => key.projectId === projectId).length },
        }),
      );
};
