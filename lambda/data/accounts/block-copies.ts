import type { BlockPolicy } from '../../domain/budgets/block.ts';
import { NotFoundError } from '../../domain/errors.ts';
import { accountKey, type Key, serviceKeyKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { ConditionsFailedError, transact } from '../table/transact.ts';
import { hashesOf, openServiceKeys } from './service-keys.ts';

/**
 * Whether requests of an account may be stopped, and what happens while the gateway cannot read its blocks. The account has it, and each
 * of its keys a copy, so that the gateway admits requests of other accounts with one read.
 */
export const openBlockCopies = (table: Table) => {
  const keys = openServiceKeys(table);

  const update = (key: Key, policy: BlockPolicy | null) => ({
    Update: {
      TableName: table.name,
      Key: key,
      UpdateExpression: policy === null ? 'REMOVE withoutBlocks' : 'SET withoutBlocks = :policy',
      ConditionExpression: 'attribute_exists(pk)',
      ...(policy !== null && { ExpressionAttributeValues: { ':policy': policy } }),
    },
  });

  return {
    /**
     * Writes the account first: a key that is created after that gets the policy, and a creation at the same moment fails. Then the keys,
     * one by one: what a budget stops is in force when the last has it, and doing it again does no harm.
     *
     * @param policy null where nothing of the account may be stopped
     * @throws NotFoundError if the account is gone
     */
    write: async (accountId: string, policy: BlockPolicy | null): Promise<void> => {
      const write = (key: Key) => transact(table, [update(key, policy)]);
      try {
        await write(accountKey(accountId));
      } catch (error) {
        if (!(error instanceof ConditionsFailedError)) throw error;
        throw new NotFoundError('The account no longer exists.');
      }
      const active = (await keys.list(accountId)).filter(({ status }) => status === 'active');
      for (const hash of active.flatMap(hashesOf)) {
        try {
          await write(serviceKeyKey(hash));
        } catch (error) {
          // A secret that was deleted meanwhile.
          if (!(error instanceof ConditionsFailedError)) throw error;
        }
      }
    },
  };
};
