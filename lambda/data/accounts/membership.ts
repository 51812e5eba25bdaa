import { isIn, type Principal, scopeOf } from '../../domain/accounts/scope.ts';
import { UnauthenticatedError } from '../../domain/errors.ts';
import { recentlyRead } from '../table/recently-read.ts';
import type { Table } from '../table/table.ts';
import { openServiceKeys } from './service-keys.ts';
import { hasEnded, openUsers } from './users.ts';

/** Reads which keys of an account somebody sees who sees a part of it only; undefined for everybody else. A new key counts at once. */
export const openSeenKeys = (table: Table) => {
  const keys = openServiceKeys(table);
  return async (accountId: string, principal: Principal): Promise<ReadonlySet<string> | undefined> => {
    const { sees } = scopeOf(principal);
    if (sees.keyIds === undefined) return undefined;
    const seen = (await keys.list(accountId)).filter((key) => isIn(sees, key));
    return new Set(seen.map(({ keyId }) => keyId));
  };
};

const MAX_ENTRIES = 10_000;

/**
 * Account and role of each user, cached for a minute: for reads, a removed user loses access, ended sessions are refused, and a role with
 * fewer rights holds, within this time. Users without an account are not cached, because their registration may be in progress.
 *
 * @param appClientId the app client whose tokens are accepted
 */
export const openMembership = (table: Table, appClientId: string) => {
  const users = openUsers(table);
  const seenKeys = openSeenKeys(table);
  const find = recentlyRead(users.find, MAX_ENTRIES);
  return {
    /**
     * Undefined for a user without an account, and for a token of another app client.
     *
     * @param isFresh true to read the table
     * @throws UnauthenticatedError if the session has ended
     */
    membershipOf: async (
      token: { readonly userId: string; readonly audience: string; readonly authTime: number },
      isFresh = false,
    ) => {
      if (token.audience !== appClientId) return undefined;
      const user = await find(token.userId, () => !isFresh);
      if (user === undefined) return undefined;
      if (hasEnded(user, token.authTime)) throw new UnauthenticatedError('This session was ended. Log in again.');
      const { accountId, role, projects, tokenId, email, firstName } = user;
      const keyIds = await seenKeys(accountId, user);
      // The mail address of a person, or the name of a token.
      return { accountId, role, projects, keyIds, tokenId, name: tokenId === undefined ? email : firstName };
    },
  };
};
