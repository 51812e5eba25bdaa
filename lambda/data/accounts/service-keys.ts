import { GetCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { maskedServiceKey, serviceKeyHash } from '../../domain/accounts/account-key.ts';
import { DEFAULT_PROJECT_ID } from '../../domain/accounts/project.ts';
import type { AccountStatus } from '../../domain/billing/plans.ts';
import type { BlockPolicy } from '../../domain/budgets/block.ts';
import { ConflictError, LimitReachedError, NotFoundError } from '../../domain/errors.ts';
import { accountKey, accountServiceKeyKey, serviceKeyKey } from '../table/keys.ts';
import { queryItems } from '../table/query-items.ts';
import type { Table } from '../table/table.ts';
import { ConditionsFailedError, type TransactionItems, transact } from '../table/transact.ts';
import { type AuditEntry, putAudit } from './audit-log.ts';
import { countKey } from './projects.ts';

const formerSecretSchema = z.object({ keyHash: z.string(), maskedKey: z.string(), validUntil: z.string() });

const serviceKeySchema = z.object({
  keyId: z.string(),
  name: z.string(),
  /** Key of the item that the gateway reads. The key itself is shown once, at creation, and not stored. */
  keyHash: z.string(),
  /** First and last characters of the key. */
  maskedKey: z.string(),
  status: z.enum(['active', 'revoked']),
  projectId: z._default(z.string(), DEFAULT_PROJECT_ID),
  /** The user who made it. Absent in keys of 0.1. */
  ownerUserId: z.optional(z.string()),
  /** ISO 8601 UTC. The gateway rejects the key from then on. */
  validUntil: z.optional(z.string()),
  /** Secrets that rotations replaced, newest first, and how long the gateway still accepts them. */
  former: z._default(z.array(formerSecretSchema), []),
  /** ISO 8601 UTC. */
  createdAt: z.string(),
  revokedAt: z.optional(z.string()),
  /** ISO 8601 UTC, updated every few minutes: see lambda/data/accounts/key-usage.ts. */
  lastUsedAt: z.optional(z.string()),
});

export type ServiceKey = z.infer<typeof serviceKeySchema>;

/** The stored form of a new, active key. */
export const newServiceKey = (
  facts: Pick<ServiceKey, 'keyId' | 'name' | 'createdAt'> &
    Partial<Pick<ServiceKey, 'projectId' | 'ownerUserId' | 'validUntil'>>,
  serviceKey: string,
): ServiceKey => ({
  projectId: DEFAULT_PROJECT_ID,
  former: [],
  ...facts,
  keyHash: serviceKeyHash(serviceKey),
  maskedKey: maskedServiceKey(serviceKey),
  status: 'active',
});

/** Hashes of all secrets of a key: the current one, and those that it replaced. The gateway has an item for each. */
export const hashesOf = ({ keyHash, former }: Pick<ServiceKey, 'keyHash' | 'former'>): string[] => [
  keyHash,
  ...former.map((secret) => secret.keyHash),
];

/** More secrets than these are not accepted at once. */
const MAX_FORMER_SECRETS = 5;

/** A key has two items: one by its hash, which the gateway reads and which has a copy of the account's status, and one in the account's list. */
export const newKeyItems = ({
  accountId,
  accountStatus,
  withoutBlocks,
  key,
}: {
  accountId: string;
  accountStatus: AccountStatus;
  withoutBlocks?: BlockPolicy | undefined;
  key: ServiceKey;
}) => [
  {
    ...serviceKeyKey(key.keyHash),
    accountId,
    keyId: key.keyId,
    keyStatus: key.status,
    accountStatus,
    validUntil: key.validUntil,
    withoutBlocks,
  },
  { ...accountServiceKeyKey(accountId, key.keyId), ...key },
];

export const openServiceKeys = ({ client, name }: Table) => {
  const find = async (accountId: string, keyId: string): Promise<ServiceKey | undefined> => {
    const { Item } = await client.send(
      new GetCommand({ TableName: name, Key: accountServiceKeyKey(accountId, keyId), ConsistentRead: true }),
    );
    return Item && serviceKeySchema.parse(Item);
  };

  const findOrThrow = async (accountId: string, keyId: string): Promise<ServiceKey> => {
    const key = await find(accountId, keyId);
    if (key === undefined) throw new NotFoundError('There is no such key.');
    return key;
  };

  const recordIn = (audit: AuditEntry | undefined): TransactionItems => (audit ? [putAudit(name, audit)] : []);

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
     * @throws NotFoundError if there is no such project
     * @throws ConflictError if the account's status changed at this moment, because the copy on the key would be wrong
     */
    create: async (
      account: {
        readonly accountId: string;
        readonly status: AccountStatus;
        readonly withoutBlocks?: BlockPolicy | undefined;
      },
      key: ServiceKey,
      limit: number,
      audit?: AuditEntry,
    ): Promise<void> => {
      const { accountId, status, withoutBlocks } = account;
      try {
        await transact({ client }, [
          {
            Update: {
              TableName: name,
              Key: accountKey(accountId),
              UpdateExpression: 'ADD activeKeys :one',
              ConditionExpression: `activeKeys < :limit AND #status = :status AND ${withoutBlocks ? 'withoutBlocks = :blocks' : 'attribute_not_exists(withoutBlocks)'}`,
              ExpressionAttributeNames: { '#status': 'status' },
              ExpressionAttributeValues: {
                ':one': 1,
                ':limit': limit,
                ':status': status,
                ...(withoutBlocks && { ':blocks': withoutBlocks }),
              },
            },
          },
          ...newKeyItems({ accountId, accountStatus: status, withoutBlocks, key }).map((Item) => ({
            Put: { TableName: name, Item, ConditionExpression: 'attribute_not_exists(pk)' },
          })),
          ...countKey(name, accountId, key.projectId, 1),
          ...recordIn(audit),
        ]);
      } catch (error) {
        if (error instanceof ConditionsFailedError && error.refused[3]) throw noProject();
        if (!(error instanceof ConditionsFailedError && error.refused[0])) throw error;
        const { Item } = await client.send(
          new GetCommand({ TableName: name, Key: accountKey(accountId), ConsistentRead: true }),
        );
        if (Item?.['status'] !== status || Item['withoutBlocks'] !== withoutBlocks)
          throw new ConflictError('Another request changed the account. Try again.');
        throw new LimitReachedError(`The plan allows ${limit} active keys. Revoke one, or upgrade the plan.`);
      }
    },

    /** @throws NotFoundError */
    find: findOrThrow,

    /**
     * Changes the name, project or end of a key. `validUntil: null` removes the end.
     *
     * @throws NotFoundError for an unknown project
     * @throws ConflictError if the key was changed or revoked in the meantime
     */
    change: async (
      key: ServiceKey,
      changes: { readonly name?: string; readonly projectId?: string; readonly validUntil?: string | null },
      audit: AuditEntry,
    ): Promise<void> => {
      const { accountId } = audit;
      const { name: newName = key.name, projectId = key.projectId, validUntil = key.validUntil ?? null } = changes;
      const isMoved = projectId !== key.projectId;
      // No secret outlives its key.
      const former = key.former.map((secret) =>
        validUntil !== null && validUntil < secret.validUntil ? { ...secret, validUntil } : secret,
      );
      const shortened = former.filter((secret, at) => secret !== key.former[at]);
      const end = validUntil === null ? 'REMOVE validUntil' : 'SET validUntil = :end';
      const endValue = validUntil !== null && { ':end': validUntil };
      try {
        await transact({ client }, [
          {
            Update: {
              TableName: name,
              Key: accountServiceKeyKey(accountId, key.keyId),
              UpdateExpression: `SET #name = :name, projectId = :project, former = :former${validUntil === null ? ' REMOVE validUntil' : ', validUntil = :end'}`,
              ConditionExpression: `keyHash = :hash AND #status = :status AND ${hasProject(key.projectId)}`,
              ExpressionAttributeNames: { '#name': 'name', '#status': 'status' },
              ExpressionAttributeValues: {
                ':name': newName,
                ':project': projectId,
                ':former': former,
                ':hash': key.keyHash,
                ':status': key.status,
                ':from': key.projectId,
                ...endValue,
              },
            },
          },
          {
            Update: {
              TableName: name,
              Key: serviceKeyKey(key.keyHash),
              UpdateExpression: end,
              ConditionExpression: 'attribute_exists(pk)',
              ...(endValue && { ExpressionAttributeValues: endValue }),
            },
          },
          putAudit(name, audit),
          ...(isMoved ? countKey(name, accountId, projectId, 1) : []),
          ...(isMoved ? countKey(name, accountId, key.projectId, -1) : []),
          ...shortened.map((secret) => ({
            Update: {
              TableName: name,
              Key: serviceKeyKey(secret.keyHash),
              UpdateExpression: 'SET validUntil = :end',
              ExpressionAttributeValues: { ':end': secret.validUntil },
            },
          })),
        ]);
      } catch (error) {
        if (!(error instanceof ConditionsFailedError)) throw error;
        if (error.refused[3] && projectId !== DEFAULT_PROJECT_ID) throw noProject();
        throw changedMeanwhile();
      }
    },

    /**
     * Gives a key a new secret. The gateway accepts the secrets before it until `overlapEnd`, or their own earlier end. The key keeps its
     * id, so its spend goes on. The account key stays the account key.
     *
     * @throws ConflictError for a revoked or expired key, for too many secrets at once, and if it was changed in the meantime
     */
    rotate: async (
      key: ServiceKey,
      {
        serviceKey,
        accountKey: shownKey,
        overlapEnd,
        now,
      }: {
        readonly serviceKey: string;
        readonly accountKey: string;
        readonly overlapEnd: string;
        readonly now: string;
      },
      audit: AuditEntry,
    ): Promise<ServiceKey> => {
      const { accountId } = audit;
      if (key.status !== 'active' || (key.validUntil ?? '~') <= now)
        throw new ConflictError('The key is revoked or has expired. Create another one.');
      const { Item: current } = await client.send(
        new GetCommand({ TableName: name, Key: serviceKeyKey(key.keyHash), ConsistentRead: true }),
      );
      if (current === undefined) throw changedMeanwhile();
      const earlier = (a: string, b: string) => (a < b ? a : b);
      const accepted = key.former.filter(({ validUntil }) => validUntil > now);
      if (accepted.length >= MAX_FORMER_SECRETS && overlapEnd > now)
        throw new ConflictError('Too many former secrets of this key are still accepted. Rotate without an overlap.');
      const former = [
        {
          keyHash: key.keyHash,
          maskedKey: key.maskedKey,
          validUntil: earlier(overlapEnd, key.validUntil ?? overlapEnd),
        },
        ...accepted.map((secret) => ({ ...secret, validUntil: earlier(overlapEnd, secret.validUntil) })),
      ];
      const next = {
        ...key,
        keyHash: serviceKeyHash(serviceKey),
        maskedKey: maskedServiceKey(serviceKey),
        // Revoking the key reaches every secret that may still be accepted, and each that the gateway may have cached.
        former: [...former, ...key.former.filter(({ validUntil }) => validUntil <= now)].slice(
          0,
          2 * MAX_FORMER_SECRETS,
        ),
      };
      /** Copies of the account's state on the key: the new secret gets them as they are at this moment. */
      const copies = ['keyStatus', 'accountStatus', 'withoutBlocks'] as const;
      const unchanged = copies.map((copy) =>
        current[copy] === undefined ? `attribute_not_exists(${copy})` : `${copy} = :${copy}`,
      );
      const values = Object.fromEntries(
        copies.filter((copy) => current[copy] !== undefined).map((copy) => [`:${copy}`, current[copy]]),
      );
      const [replaced, ...others] = former as [(typeof former)[number], ...typeof former];
      try {
        await transact({ client }, [
          {
            Put: {
              TableName: name,
              Item: { ...current, ...serviceKeyKey(next.keyHash) },
              ConditionExpression: 'attribute_not_exists(pk)',
            },
          },
          {
            Update: {
              TableName: name,
              Key: serviceKeyKey(replaced.keyHash),
              UpdateExpression: 'SET validUntil = :end',
              ConditionExpression: unchanged.join(' AND '),
              ExpressionAttributeValues: { ':end': replaced.validUntil, ...values },
            },
          },
          {
            Update: {
              TableName: name,
              Key: accountServiceKeyKey(accountId, key.keyId),
              UpdateExpression: 'SET keyHash = :next, maskedKey = :masked, former = :former',
              ConditionExpression: 'keyHash = :hash AND #status = :active',
              ExpressionAttributeNames: { '#status': 'status' },
              ExpressionAttributeValues: {
                ':next': next.keyHash,
                ':masked': next.maskedKey,
                ':former': next.former,
                ':hash': key.keyHash,
                ':active': 'active',
              },
            },
          },
          ...others.map(({ keyHash, validUntil }) => ({
            Update: {
              TableName: name,
              Key: serviceKeyKey(keyHash),
              UpdateExpression: 'SET validUntil = :end',
              ConditionExpression: 'attribute_exists(pk)',
              ExpressionAttributeValues: { ':end': validUntil },
            },
          })),
          ...(serviceKeyHash(shownKey) === key.keyHash
            ? [
                {
                  Update: {
                    TableName: name,
                    Key: accountKey(accountId),
                    UpdateExpression: 'SET accountKey = :next',
                    ConditionExpression: 'accountKey = :shown',
                    ExpressionAttributeValues: { ':next': serviceKey, ':shown': shownKey },
                  },
                },
              ]
            : []),
          putAudit(name, audit),
        ]);
      } catch (error) {
        if (error instanceof ConditionsFailedError) throw changedMeanwhile();
        throw error;
      }
      return next;
    },

    /**
     * Revokes a key with all its secrets. Revoking it again has no effect.
     *
     * @throws NotFoundError
     * @throws ConflictError if it is the last active key and `force` is not set
     */
    revoke: async (
      accountId: string,
      keyId: string,
      options: { force: boolean; revokedAt: string },
      audit?: AuditEntry,
    ): Promise<void> => {
      const key = await findOrThrow(accountId, keyId);
      if (key.status === 'revoked') return;
      try {
        await transact({ client }, [
          {
            Update: {
              TableName: name,
              Key: accountServiceKeyKey(accountId, keyId),
              UpdateExpression: 'SET #status = :revoked, revokedAt = :at',
              ConditionExpression: '#status = :active AND keyHash = :hash',
              ExpressionAttributeNames: { '#status': 'status' },
              ExpressionAttributeValues: {
                ':revoked': 'revoked',
                ':active': 'active',
                ':at': options.revokedAt,
                ':hash': key.keyHash,
              },
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
          ...hashesOf(key).map((keyHash) => ({
            Update: {
              TableName: name,
              Key: serviceKeyKey(keyHash),
              UpdateExpression: 'SET keyStatus = :revoked',
              ExpressionAttributeValues: { ':revoked': 'revoked' },
            },
          })),
          ...recordIn(audit),
        ]);
      } catch (error) {
        if (!(error instanceof ConditionsFailedError)) throw error;
        const [isChanged] = error.refused;
        if (isChanged && (await find(accountId, keyId))?.status === 'revoked') return;
        if (isChanged) throw changedMeanwhile();
        throw new ConflictError(
          'This is the last active key. Without it, all traffic is rejected. Create another key first, or send ?force=true.',
        );
      }
    },
  };
};

const changedMeanwhile = () => new ConflictError('Another request changed the key. Read it again.');
const noProject = () => new NotFoundError('There is no such project.');

/** Condition that a key is in the project `:from`. Keys of 0.1 name none. */
const hasProject = (projectId: string): string =>
  projectId === DEFAULT_PROJECT_ID ? '(attribute_not_exists(projectId) OR projectId = :from)' : 'projectId = :from';

export type ServiceKeys = ReturnType<typeof openServiceKeys>;
