import { GetCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { maskedServiceKey, serviceKeyHash } from '../../domain/accounts/account-key.ts';
import type { AccountStatus } from '../../domain/billing/plans.ts';
import { ConflictError, LimitReachedError, NotFoundError } from '../../domain/errors.ts';
import { accountKey, accountServiceKeyKey, serviceKeyKey } from '../table/keys.ts';
import { queryItems } from '../table/query-items.ts';
import type { Table } from '../table/table.ts';
import { ConditionsFailedError, transact } from '../table/transact.ts';

const serviceKeySchema = z.object({
  keyId: z.string(),
  name: z.string(),
  /** Key of the item that the gateway reads. The key itself is shown once, at creation, and not stored. */
  keyHash: z.string(),
  /** First and last characters of the key. */
  maskedKey: z.string(),
  status: z.enum(['active', 'revoked']),
  /** The user who made it. Absent in keys of 0.1. */
  ownerUserId: z.optional(z.string()),
  /** ISO 8601 UTC. */
  createdAt: z.string(),
  revokedAt: z.optional(z.string()),
  /** ISO 8601 UTC, updated every few minutes: see lambda/data/accounts/key-usage.ts. */
  lastUsedAt: z.optional(z.string()),
});

export type ServiceKey = z.infer<typeof serviceKeySchema>;

/** The stored form of a new, active key. */
export const newServiceKey = (
  facts: Pick<ServiceKey, 'keyId' | 'name' | 'createdAt'>,
  serviceKey: string,
): ServiceKey => ({
  ...facts,
  keyHash: serviceKeyHash(serviceKey),
  maskedKey: maskedServiceKey(serviceKey),
  status: 'active',
});

/** A key has two items: one by its hash, which the gateway reads and which has a copy of the account's status, and one in the account's list. */
export const newKeyItems = ({
  accountId,
  accountStatus,
  key,
}: {
  accountId: string;
  accountStatus: AccountStatus;
  key: ServiceKey;
}) => [
  { ...serviceKeyKey(key.keyHash), accountId, keyId: key.keyId, keyStatus: key.status, accountStatus },
  { ...accountServiceKeyKey(accountId, key.keyId), ...key },
];

export const openServiceKeys = ({ client, name }: Table) => {
  const find = async (accountId: string, keyId: string): Promise<ServiceKey | undefined> => {
    const { Item } = await client.send(
      new GetCommand({ TableName: name, Key: accountServiceKeyKey(accountId, keyId), ConsistentRead: true }),
    );
    return Item && serviceKeySchema.parse(Item);
  };

  return {
    /** All keys of an account, including revoked ones, oldest first. */
    list: async (accountId: string): Promise<ServiceKey[]> => {
      const keys: ServiceKey[] = [];
      for await (const item of queryItems(
        { client, name },
        {
          KeyConditionExpression: 'pk = :pk AND begins_with(sk, :keys)',
          ExpressionAttributeValues: {
            ':pk': accountKey(accountId).pk,
            ':keys': accountServiceKeyKey(accountId, '').sk,
          },
          ConsistentRead: true,
        },
      )) {
        keys.push(serviceKeySchema.parse(item));
      }
      return keys;
    },

    /**
     * Creates a key if the account has fewer active keys than `limit`.
     *
     * @throws LimitReachedError
     * @throws ConflictError if the account's status changed at this moment, because the copy on the key would be wrong
     */
    create: async (
      account: { readonly accountId: string; readonly status: AccountStatus },
      key: ServiceKey,
      limit: number,
    ): Promise<void> => {
      const { accountId, status } = account;
      try {
        await transact({ client }, [
          {
            Update: {
              TableName: name,
              Key: accountKey(accountId),
              UpdateExpression: 'ADD activeKeys :one',
              ConditionExpression: 'activeKeys < :limit AND #status = :status',
              ExpressionAttributeNames: { '#status': 'status' },
              ExpressionAttributeValues: { ':one': 1, ':limit': limit, ':status': status },
            },
          },
          ...newKeyItems({ accountId, accountStatus: status, key }).map((Item) => ({
            Put: { TableName: name, Item, ConditionExpression: 'attribute_not_exists(pk)' },
          })),
        ]);
      } catch (error) {
        if (!(error instanceof ConditionsFailedError && error.refused[0])) throw error;
        const { Item } = await client.send(
          new GetCommand({ TableName: name, Key: accountKey(accountId), ConsistentRead: true }),
        );
        if (Item?.['status'] !== status) throw new ConflictError('Another request changed the account. Try again.');
        throw new LimitReachedError(`The plan allows ${limit} active keys. Revoke one, or upgrade the plan.`);
      }
    },

    /**
     * Revokes a key. Revoking it again has no effect.
     *
     * @throws NotFoundError
     * @throws ConflictError if it is the last active key and `force` is not set
     */
    revoke: async (accountId: string, keyId: string, options: { force: boolean; revokedAt: string }): Promise<void> => {
      const key = await find(accountId, keyId);
      if (key === undefined) throw new NotFoundError('There is no such key.');
      if (key.status === 'revoked') return;
      const active = { '#status': 'status' };
      try {
        await transact({ client }, [
          {
            Update: {
              TableName: name,
              Key: accountServiceKeyKey(accountId, keyId),
              UpdateExpression: 'SET #status = :revoked, revokedAt = :at',
              ConditionExpression: '#status = :active',
              ExpressionAttributeNames: active,
              ExpressionAttributeValues: { ':revoked': 'revoked', ':active': 'active', ':at': options.revokedAt },
            },
          },
          {
            Update: {
              TableName: name,
              Key: accountKey(accountId),
              UpdateExpression: 'ADD activeKeys :less',
              ConditionExpression: 'activeKeys > :least',
              ExpressionAttributeValues: { ':less': -1, ':least': options.force ? 0 : 1 },
            },
          },
          {
            Update: {
              TableName: name,
              Key: serviceKeyKey(key.keyHash),
              UpdateExpression: 'SET keyStatus = :revoked',
              ExpressionAttributeValues: { ':revoked': 'revoked' },
            },
          },
        ]);
      } catch (error) {
        if (!(error instanceof ConditionsFailedError)) throw error;
        const [revokedMeanwhile] = error.refused;
        if (revokedMeanwhile) return;
        throw new ConflictError(
          'This is the last active key. Without it, all traffic is rejected. Create another key first, or send ?force=true.',
        );
      }
    },
  };
};

export type ServiceKeys = ReturnType<typeof openServiceKeys>;
