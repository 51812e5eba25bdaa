import { LRUCache } from 'lru-cache';
import type { Table } from '../table/table.ts';
import { openUsers } from './users.ts';

/** A removed user is out after this time at the latest. */
const REMEMBERED_MS = 60_000;
const MAX_REMEMBERED = 10_000;

/** Which account a user belongs to, remembered for a minute. A user without one is looked up each time: registration may be under way. */
export const openMembership = (table: Table) => {
  const users = openUsers(table);
  const remembered = new LRUCache<string, string>({ max: MAX_REMEMBERED, ttl: REMEMBERED_MS });
  return {
    accountOf: async (userId: string): Promise<string | undefined> => {
      const known = remembered.get(userId);
      if (known !== undefined) return known;
      const user = await users.find(userId);
      if (user) remembered.set(userId, user.accountId);
      return user?.accountId;
    },
  };
};
