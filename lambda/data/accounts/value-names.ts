import type { Table } from '../table/table.ts';
import { openProjects } from './projects.ts';
import { openServiceKeys } from './service-keys.ts';
import { openUsers } from './users.ts';

/** Names of the ids that are values of a dimension; none where its values are names. A member is shown by address. */
export type NamesOf = (accountId: string, by: string) => Promise<ReadonlyMap<string, string>>;

export const openValueNames = (table: Table): NamesOf => {
  const [keys, projects, users] = [openServiceKeys(table), openProjects(table), openUsers(table)];
  return async (accountId, by) => {
    if (by === 'key') return new Map((await keys.list(accountId)).map(({ keyId, name }) => [keyId, name]));
    if (by === 'project')
      return new Map((await projects.list(accountId)).map(({ projectId, name }) => [projectId, name]));
    if (by === 'member')
      return new Map((await users.recipients(accountId)).map(({ userId, email }) => [userId, email]));
    return new Map();
  };
};
