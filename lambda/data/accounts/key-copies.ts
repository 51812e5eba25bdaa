import * as z from 'zod/mini';
import { type AccountStatus, accountStatuses } from '../../domain/billing/plans.ts';
import { NotFoundError } from '../../domain/errors.ts';
import type { BlockPolicy } from '../../domain/limits/block.ts';
import { type Action, EXISTS, MAX_ACTIONS, update } from '../table/actions.ts';
import { batchRead } from '../table/batch.ts';
import { accountKey, type Key, serviceKeyKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { transact, tryWrite } from '../table/write.ts';
import { hashesOf, openServiceKeys } from './service-keys.ts';

/* What each key has a copy of, so that the gateway admits a request with one read: the account's status, and whether it has blocks. */

const copySchema = z.object({ pk: z.string(), sk: z.string(), accountStatus: z.enum(accountStatuses) });

export const openStatusCopies = (table: Table) => {
  const keys = openServiceKeys(table);

  /** Active keys whose copy differs from the status. Revoked keys are rejected whatever their copy. */
  const keysWithout = async (accountId: string, status: AccountStatus): Promise<Key[]> => {
    const active = await keys.listActive(accountId);
    const copies = await batchRead(table, active.flatMap(hashesOf).map(serviceKeyKey), { consistent: true });
    return copies.map((copy) => copySchema.parse(copy)).filter(({ accountStatus }) => accountStatus !== status);
  };

  return {
    keysWithout,

    /**
     * Writes the account and its keys in one transaction. A plan may have a hundred keys, which with the account is one action
     * too many. The extra key is written first, so that everything is written once the account is. A key that is created at this
     * moment may be missed: check keysWithout afterwards. A key created later has the new status: see service-keys.ts.
     *
     * @param change the update of the account's item
     * @throws ConditionsFailedError if the condition of the change fails
     */
    write: async (accountId: string, status: AccountStatus, change: Action): Promise<void> => {
      const copies = (await keysWithout(accountId, status)).map((key) =>
        update(key, 'SET accountStatus = :status', EXISTS, { status }),
      );
      for (const copy of copies.splice(MAX_ACTIONS - 1)) await transact(table, [copy]);
      await transact(table, [change, ...copies]);
    },
  };
};

/**
 * Whether requests of an account may be stopped, and what happens while the gateway cannot read its blocks. The account has it, and each
 * of its keys a copy, so that the gateway admits requests of other accounts with one read.
 */
export const openBlockCopies = (table: Table) => {
  const keys = openServiceKeys(table);

  const write = async (accountId: string, change: string, policy?: BlockPolicy): Promise<void> => {
    const writeOn = (key: Key): Promise<boolean> => tryWrite(table, update(key, change, EXISTS, { policy }));
    if (!(await writeOn(accountKey(accountId)))) throw new NotFoundError('The account no longer exists.');
    // A secret may have been deleted meanwhile.
    for (const hash of (await keys.listActive(accountId)).flatMap(hashesOf)) await writeOn(serviceKeyKey(hash));
  };

  return {
    /**
     * Writes the account first: a key that is created after that gets the policy, and a creation at the same moment fails. Then the keys,
     * one by one: what a budget stops is in force when the last has it, and doing it again does no harm.
     *
     * @param policy null where nothing of the account may be stopped
     * @throws NotFoundError if the account is gone
     */
    write: (accountId: string, policy: BlockPolicy | null): Promise<void> =>
      write(accountId, policy ? 'SET withoutBlocks = :policy' : 'REMOVE withoutBlocks', policy ?? undefined),

    /**
     * Has the gateway look for blocks. Before they are stored: wherever this process ends, what is stored is in force.
     *
     * @throws NotFoundError if the account is gone
     */
    expect: (accountId: string): Promise<void> =>
      write(accountId, 'SET withoutBlocks = if_not_exists(withoutBlocks, :policy)', 'pass'),
  };
};
