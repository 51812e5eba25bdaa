import * as z from 'zod/mini';
import { type AccountStatus, accountStatuses } from '../../domain/billing/plans.ts';
import { type Action, EXISTS, update } from '../table/actions.ts';
import { batchRead } from '../table/batch.ts';
import { type Key, serviceKeyKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { transact } from '../table/write.ts';
import { hashesOf, openServiceKeys } from './service-keys.ts';

/** @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html */
const MAX_ACTIONS = 100;

const copySchema = z.object({ pk: z.string(), sk: z.string(), accountStatus: z.enum(accountStatuses) });

/** Each key has a copy of its account's status, so that the gateway admits a request with one read. */
export const openStatusCopies = (table: Table) => {
  const keys = openServiceKeys(table);

  /** Active keys whose copy differs from the status. Revoked keys are rejected whatever their copy. */
  const keysWithout = async (accountId: string, status: AccountStatus): Promise<Key[]> => {
    const active = (await keys.list(accountId)).filter((key) => key.status === 'active');
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
