import { z } from 'zod';
import { openAccounts } from '../lambda/data/accounts/accounts.ts';
import { openKeyOwners } from '../lambda/data/accounts/key-owners.ts';
import { accountKey } from '../lambda/data/table/keys.ts';
import { findItem } from '../lambda/data/table/read.ts';
import type { Table } from '../lambda/data/table/table.ts';
import { isWellFormedAccountKey, secretHash } from '../lambda/domain/accounts/issued-secret.ts';
import { CommandError } from './command.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Names by which an operator finds an account. */
export const accountName = z
  .string()
  .refine(
    (name) => UUID.test(name) || isWellFormedAccountKey(name),
    'KEY is no account key or id: a character is missing or wrong.',
  );

/**
 * The internal id of the account that an operator names by one of its service keys or by that id.
 *
 * @throws CommandError where no account has that key or id
 */
export const accountIdOf = async (table: Table, name: string): Promise<string> => {
  const keyHash = secretHash(name);
  const accountId = UUID.test(name)
    ? (await findItem(table, accountKey(name))) && name
    : (await openKeyOwners(table).find([keyHash])).get(keyHash)?.accountId;
  if (accountId === undefined) throw new CommandError('There is no such account.');
  return accountId;
};

/**
 * The internal ids of the accounts that a command is for: the named account, else all.
 *
 * @throws CommandError where no account has that key or id
 */
export async function* accountIdsOf(table: Table, name: string | undefined): AsyncGenerator<string> {
  if (name === undefined) yield* openAccounts(table).allIds();
  else yield await accountIdOf(table, name);
}
