import QuickLRU from 'quick-lru';
import type { Table } from '../table/table.ts';
import { openUsers, type User } from './users.ts';

/** A removed user loses access, and a changed role holds, within this time. */
const TTL_MS = 60_000;
const MAX_ENTRIES = 10_000;

interface Membership extends Pick<User, 'accountId' | 'role'> {
  /** The user's mail address. */
  readonly name: string;
}

/** Account and role of each user, cached for a minute. Users without an account are not cached, because their registration may be in progress. */
export const openMembership = (table: Table) => {
  const users = openUsers(table);
  const cache = new QuickLRU<string, Membership>({ maxSize: MAX_ENTRIES, maxAge: TTL_MS });
  return {
    membershipOf: async (userId: string): Promise<Membership | undefined> => {
      const cached = cache.get(userId);
      if (cached !== undefined) return cached;
      const user = await users.find(userId);
      if (user === undefined) return undefined;
      const membership = { accountId: user.accountId, role: user.role, name: user.email };
      cache.set(userId, membership);
      return membership;
    },
  };
};
