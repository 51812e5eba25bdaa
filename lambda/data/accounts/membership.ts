import QuickLRU from 'quick-lru';
import type { Table } from '../table/table.ts';
import { openUsers } from './users.ts';

/** A removed user loses access within this time. */
const TTL_MS = 60_000;
const MAX_ENTRIES = 10_000;

/** The account of each user, cached for a minute. Users without an account are not cached, because their registration may be in progress. */
export const openMembership = (table: Table) => {
  const users = openUsers(table);
  const cache = new QuickLRU<string, string>({ maxSize: MAX_ENTRIES, maxAge: TTL_MS });
  return {
    accountOf: async (userId: string): Promise<string | undefined> => {
      const cached = cache.get(userId);
      if (cached !== undefined) return cached;
      const user = await users.find(userId);
      if (user) cache.set(userId, user.accountId);
      return user?.accountId;
    },
  };
};
