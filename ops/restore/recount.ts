import { openProjects } from '../../lambda/data/accounts/projects.ts';
import { openServiceKeys } from '../../lambda/data/accounts/service-keys.ts';
import { openRules } from '../../lambda/data/alerts/rules.ts';
import { EXISTS, update } from '../../lambda/data/table/actions.ts';
import { accountKey, projectKey } from '../../lambda/data/table/keys.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import { write } from '../../lambda/data/table/write.ts';
import { DEFAULT_PROJECT_ID } from '../../lambda/domain/accounts/project.ts';

/** Sets what is counted on an account (active keys, rules) and on its projects (keys) to what it has. */
export const recountAccount = async (table: Table, accountId: string): Promise<void> => {
  const keys = await openServiceKeys(table).list(accountId);
  const rules = await openRules(table).list(accountId);
  const activeKeys = keys.filter(({ status }) => status === 'active').length;
  const change = 'SET activeKeys = :keys, ruleCount = :rules';
  await write(table, update(accountKey(accountId), change, EXISTS, { keys: activeKeys, rules: rules.length }));
  for (const { projectId } of await openProjects(table).list(accountId)) {
    if (projectId === DEFAULT_PROJECT_ID) continue;
    const keyCount = keys.filter((key) => key.projectId === projectId).length;
    await write(table, update(projectKey(accountId, projectId), 'SET keyCount = :keys', EXISTS, { keys: keyCount }));
  }
};
