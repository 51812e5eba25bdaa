import * as z from 'zod/mini';
import type { SignOn } from '../../domain/accounts/sign-on.ts';
import { ConflictError } from '../../domain/errors.ts';
import { check, IS_NEW, put, remove, update } from '../table/actions.ts';
import { accountKey, signOnKey } from '../table/keys.ts';
import { findAs } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { transact } from '../table/write.ts';
import { type AuditEntry, putAudit } from './audit-log.ts';
import { type NewUser, newUserItems } from './users.ts';

const linkSchema = z.object({ accountId: z.string() });

/** Which account uses which identity provider: at most one each. The account's item has its settings. */
export const openSignOns = (table: Table) => ({
  /** Internal id of the account that uses a provider. */
  accountOf: async (provider: string): Promise<string | undefined> => {
    return (await findAs(table, signOnKey(provider), linkSchema))?.accountId;
  },

  /**
   * Changes an account's single sign-on, or ends it.
   *
   * @param former what it was when it was read
   * @throws ConflictError if another account uses the provider, or another request changed the settings
   */
  set: async (
    accountId: string,
    former: SignOn | undefined,
    signOn: SignOn | undefined,
    audit: AuditEntry,
  ): Promise<void> => {
    const isOther = former !== undefined && former.provider !== signOn?.provider;
    const change = signOn === undefined ? 'REMOVE signOn' : 'SET signOn = :signOn';
    const isSame = former === undefined ? 'attribute_not_exists(signOn)' : 'signOn = :former';
    const isFree = 'attribute_not_exists(pk) OR accountId = :accountId';
    await transact(
      table,
      [
        update(accountKey(accountId), change, isSame, { former, signOn }),
        putAudit(audit),
        ...(signOn ? [put({ ...signOnKey(signOn.provider), accountId }, isFree, { accountId })] : []),
        ...(isOther ? [remove(signOnKey(former.provider))] : []),
      ],
      ([isChanged]) =>
        new ConflictError(
          isChanged
            ? 'Another request changed the settings of single sign-on. Read them again.'
            : 'Another account uses this identity provider. Ask the operator of this service.',
        ),
    );
  },

  /** Makes a person who signed in for the first time a member, if its settings are as they were read. @throws ConflictError */
  join: (user: NewUser, signOn: SignOn | undefined, audit: AuditEntry): Promise<void> =>
    transact(
      table,
      [
        check(accountKey(user.accountId), 'signOn = :signOn', { signOn }),
        ...newUserItems(user).map((item) => put(item, IS_NEW)),
        putAudit(audit),
      ],
      () => new ConflictError('Sign in again.'),
    ),
});
