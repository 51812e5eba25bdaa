import { z } from 'zod';
import { openAccounts } from '../lambda/data/accounts/accounts.ts';
import { openKeyOwners } from '../lambda/data/accounts/key-owners.ts';
import type { Table } from '../lambda/data/table/table.ts';
import { isWellFormedAccountKey, serviceKeyHash } from '../lambda/domain/accounts/account-key.ts';
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
 * @throws CommandError where no account has that key
 */
export const accountIdOf = async (table: Table, name: string): Promise<string> => {
  if (UUID.test(name)) return name;
  const keyHash = serviceKeyHash(name);
  const owner = (await openKeyOwners(table).find([keyHash])).get(keyHash);
  if (!owner) throw new CommandError('There is no such account.');
  return owner.accountId;
};

/**
 * The internal ids of the accounts that a command is for: the named account, else all.
 *
 * @throws CommandError where no account has that key
 */
export async function* accountIdsOf(table: Table, name: string | undefined): AsyncGenerator<string> {
  if (name === undefined) yield* openAccounts(table).allIds();
  else yield await accountIdOf(table, name);
}
