import { NotFoundError } from '../../domain/errors.ts';
import type { BlockPolicy } from '../../domain/limits/block.ts';
import { EXISTS, update } from '../table/actions.ts';
import { accountKey, type Key, serviceKeyKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { tryWrite } from '../table/write.ts';
import { hashesOf, openServiceKeys } from './service-keys.ts';

/**
 * Whether requests of an account may be stopped, and what happens while the gateway cannot read its blocks. The account has it, and each
 * of its keys a copy, so that the gateway admits requests of other accounts with one read.
 */
export const openBlockCopies = (table: Table) => {
  const keys = openServiceKeys(table);

  const write = (key: Key, policy: BlockPolicy | null): Promise<boolean> =>
    tryWrite(
      table,
      policy === null
        ? update(key, 'REMOVE withoutBlocks', EXISTS)
        : update(key, 'SET withoutBlocks = :policy', EXISTS, { policy }),
    );

  return {
    /**
     * Writes the account first: a key that is created after that gets the policy, and a creation at the same moment fails. Then the keys,
     * one by one: what a budget stops is in force when the last has it, and doing it again does no harm.
     *
     * @param policy null where nothing of the account may be stopped
     * @throws NotFoundError if the account is gone
     */
    write: async (accountId: string, policy: BlockPolicy | null): Promise<void> => {
      if (!(await write(accountKey(accountId), policy))) throw new NotFoundError('The account no longer exists.');
      const active = (await keys.list(accountId)).filter(({ status }) => status === 'active');
      // A secret may have been deleted meanwhile.
      for (const hash of active.flatMap(hashesOf)) await write(serviceKeyKey(hash), policy);
    },
  };
};
