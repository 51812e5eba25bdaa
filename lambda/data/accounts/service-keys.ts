import { isDeepStrictEqual } from 'node:util';
import QuickLRU from 'quick-lru';
import * as z from 'zod/mini';
import { maskedSecret, secretHash } from '../../domain/accounts/issued-secret.ts';
import { type Role, roles } from '../../domain/accounts/permissions.ts';
import { DEFAULT_PROJECT_ID } from '../../domain/accounts/scope.ts';
import type { AccountStatus } from '../../domain/billing/plans.ts';
import { MINUTE_MS } from '../../domain/calendar/units.ts';
import { ConflictError, LimitReachedError, NotFoundError } from '../../domain/errors.ts';
import type { BlockPolicy } from '../../domain/limits/block.ts';
import { type Action, EXISTS, IS_NEW, put, update } from '../table/actions.ts';
import { accountKey, accountServiceKeyKey, serviceKeyKey } from '../table/keys.ts';
import { findAs, findItem, listItems } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { retryConflicts, transact } from '../table/write.ts';
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
  /** A copy of that member's role: see copyRoles. Absent where the key has no member or an unknown role, and in keys of earlier versions. */
  ownerRole: z.optional(
    z.pipe(
      z.string(),
      z.transform((role) => roles.find((each) => each === role)),
    ),
  ),
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

/** Name and owners of a key. An account may have tens of thousands of revoked keys: most readers take no more of them. */
const listedKeySchema = z.pick(serviceKeySchema, {
  ...{ keyId: true, name: true, status: true, revokedAt: true },
  ...{ projectId: true, ownerUserId: true },
});
export type ListedKey = z.infer<typeof listedKeySchema>;
const LISTED = 'keyId, #name, #status, revokedAt, projectId, ownerUserId';

/** The stored form of a new, active key. */
export const newServiceKey = (
  facts: Pick<ServiceKey, 'keyId' | 'name' | 'createdAt'> &
    Partial<Pick<ServiceKey, 'projectId' | 'ownerUserId' | 'ownerRole' | 'validUntil'>>,
  serviceKey: string,
): ServiceKey => ({
  projectId: DEFAULT_PROJECT_ID,
  former: [],
  ...facts,
  keyHash: secretHash(serviceKey),
  maskedKey: maskedSecret(serviceKey),
  status: 'active',
});

/** Hashes of all secrets of a key: the current one, and those that it replaced. The gateway has an item for each. */
export const hashesOf = ({ keyHash, former }: Pick<ServiceKey, 'keyHash' | 'former'>): string[] => [
  keyHash,
  ...former.map((secret) => secret.keyHash),
];

/** More secrets than these are not accepted at once. */
const MAX_FORMER_SECRETS = 5;

/** A key has two items: one by its hash, which the gateway reads and which has copies of the account's status and of what the key belongs to, and one in the account's list. */
export const newKeyItems = ({ accountId, status, withoutBlocks }: AccountState, key: ServiceKey) => [
  {
    ...serviceKeyKey(key.keyHash),
    accountId,
    keyId: key.keyId,
    keyStatus: key.status,
    accountStatus: status,
    validUntil: key.validUntil,
    withoutBlocks,
    projectId: key.projectId,
    ownerRole: key.ownerRole,
  },
  { ...accountServiceKeyKey(accountId, key.keyId), ...key },
];

/** Ends a secret, or removes its end. @param project of a key that is moved */
const setEnd = (
  { keyHash, validUntil }: { readonly keyHash: string; readonly validUntil: string | undefined },
  condition: string | null = null,
  values = {},
  project?: string,
) => {
  const move = project === undefined ? '' : 'SET projectId = :project ';
  const end = validUntil === undefined ? 'REMOVE validUntil' : `${move ? ', ' : 'SET '}validUntil = :validUntil`;
  return update(serviceKeyKey(keyHash), move + end, condition, { ...{ validUntil, project }, ...values });
};

/**
 * Long lists by account, each with the account's count of changes of keys from before it was read: it is what the table has while the
 * count is the same. Every transaction that changes what lists have counts. A release may run next to an earlier one, which does not count.
 */
const longLists = new QuickLRU<string, { readonly changes: unknown; readonly keys: ListedKey[] }>({
  ...{ maxSize: 4, maxAge: 10 * MINUTE_MS },
});
const LONG = 500;

const countChange = (accountId: string) => update(accountKey(accountId), 'ADD keyChanges :one', EXISTS, { one: 1 });

export const openServiceKeys = (table: Table) => {
  const find = (accountId: string, keyId: string): Promise<ServiceKey | undefined> =>
    findAs(table, accountServiceKeyKey(accountId, keyId), serviceKeySchema);

  const list = async (accountId: string): Promise<ListedKey[]> => {
    const known = longLists.get(accountId);
    const account = known && (await findItem(table, accountKey(accountId), { attributes: 'keyChanges' }));
    const changes = account && (account['keyChanges'] ?? 0);
    if (known && changes !== undefined && known.changes === changes) return known.keys;
    const options = { ProjectionExpression: LISTED };
    const keys = await listItems(table, accountServiceKeyKey(accountId, ''), listedKeySchema.parse, options);
    if (keys.length >= LONG) longLists.set(accountId, { changes, keys });
    return keys;
  };

  const listActive = async (accountId: string): Promise<ServiceKey[]> => {
    // Few of a long list are active.
    if (longLists.has(accountId)) {
      const active = (await list(accountId)).filter(({ status }) => status === 'active');
      const found = await Promise.all(active.map(({ keyId }) => find(accountId, keyId)));
      return found.flatMap((key) => (key?.status === 'active' ? [key] : []));
    }
    const options = { FilterExpression: '#status = :active' };
    return listItems(table, accountServiceKeyKey(accountId, ''), serviceKeySchema.parse, options, { active: 'active' });
  };

  return {
    /** All keys of an account, including revoked ones, oldest first. */
    list,

    /** The same with all that is stored of them. */
    listWhole: (accountId: string): Promise<ServiceKey[]> =>
      listItems(table, accountServiceKeyKey(accountId, ''), serviceKeySchema.parse),

    /** All that is stored of the active ones. */
    listActive,

    /**
     * Creates a key if the account has fewer active keys than `limit`.
     *
     * @param checks of the key's member
     * @throws LimitReachedError
     * @throws NotFoundError if there is no such project
     * @throws ConflictError if the account's status or the member changed at this moment, because the copies on the key would be wrong
     */
    create: async (
      account: AccountState,
      key: ServiceKey,
      limit: number,
      audit?: AuditEntry,
      ...checks: Action[]
    ): Promise<void> => {
      const { accountId, status, withoutBlocks } = account;
      await transact(
        table,
        [
          update(
            accountKey(accountId),
            'ADD activeKeys :one, keyChanges :one',
            `activeKeys < :limit AND ${hasState(account)}`,
            { one: 1, limit, status, withoutBlocks },
          ),
          ...newKeyItems(account, key).map((item) => put(item, IS_NEW)),
          ...checks,
          ...countKey(accountId, key.projectId, 1),
          ...(audit ? [putAudit(audit)] : []),
        ],
        async ([isRefused, , , ...refused]) => {
          if (refused[checks.length]) return noProject();
          if (refused.includes(true))
            return new ConflictError('Another request changed the member of the key. Try again.');
          if (!isRefused) return undefined;
          const item = await findItem(table, accountKey(accountId));
          return item?.['status'] !== status || item['withoutBlocks'] !== withoutBlocks
            ? new ConflictError('Another request changed the account. Try again.')
            : new LimitReachedError(`The plan allows ${limit} active keys. Revoke one, or upgrade the plan.`);
        },
      );
    },

    find,

    /**
     * Writes on active keys what access rules choose by: the role of the key's member, and the project, where the gateway has no copy of it.
     * Doing it again does no harm.
     *
     * @param readRoles called again at the end: the last to write may have read first
     * @param concerns the keys to write
     */
    copyRoles: async (
      accountId: string,
      readRoles: () => Promise<ReadonlyMap<string, Role>>,
      concerns?: (key: ServiceKey) => boolean,
    ): Promise<void> => {
      const copy = async (roles: ReadonlyMap<string, Role>) => {
        const isOne = concerns ?? (({ ownerUserId = '' }: ServiceKey) => roles.has(ownerUserId));
        for (const key of (await listActive(accountId)).filter(isOne)) {
          const role = roles.get(key.ownerUserId ?? '') ?? key.ownerRole;
          const set = role === undefined ? '' : ', ownerRole = :role';
          const change = `SET projectId = if_not_exists(projectId, :project)${set}`;
          const values = { project: key.projectId, role };
          await transact(table, [
            // A secret that it gets at this moment would have the former role.
            update(accountServiceKeyKey(accountId, key.keyId), change, 'keyHash = :hash', {
              ...values,
              hash: key.keyHash,
            }),
            ...hashesOf(key).map((hash) =>
              update(serviceKeyKey(hash), change, 'keyId = :keyId', { ...values, keyId: key.keyId }),
            ),
          ]);
        }
        return roles;
      };
      let written: ReadonlyMap<string, Role> | undefined;
      for (let roles = await readRoles(); !isDeepStrictEqual(roles, written); roles = await readRoles())
        written = await retryConflicts(() => copy(roles));
    },

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
      const { name = key.name, projectId = key.projectId, validUntil = key.validUntil ?? null } = changes;
      const isMoved = projectId !== key.projectId;
      // No secret outlives its key.
      const former = key.former.map((secret) =>
        validUntil !== null && validUntil < secret.validUntil ? { ...secret, validUntil } : secret,
      );
      const changed = former.filter((secret, at) => isMoved || secret !== key.former[at]);
      const project = isMoved ? projectId : undefined;
      const end = validUntil ?? undefined;
      const change = end === undefined ? ' REMOVE validUntil' : ', validUntil = :end';
      await transact(
        table,
        [
          update(
            accountServiceKeyKey(accountId, key.keyId),
            `SET #name = :name, projectId = :projectId, former = :former${change}`,
            `keyHash = :hash AND #status = :status AND #name = :formerName AND ${hasEnd(key)} AND ${hasProject(key.projectId)}`,
            {
              ...{ name, projectId, former, end, hash: key.keyHash, status: key.status, from: key.projectId },
              ...{ formerName: key.name, formerEnd: key.validUntil },
            },
          ),
          putAudit(audit),
          ...(isMoved ? countKey(accountId, projectId, 1) : []),
          ...(isMoved ? countKey(accountId, key.projectId, -1) : []),
          // The secrets of a revoked key may be those of another by now: see handOver.
          ...(key.status === 'active' ? [{ ...key, validUntil: end }, ...changed] : []).map((secret) =>
            setEnd(secret, EXISTS, {}, project),
          ),
          countChange(accountId),
        ],
        (refused) => (isMoved && refused[2] && projectId !== DEFAULT_PROJECT_ID ? noProject() : changedMeanwhile()),
      );
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
        account,
        overlapEnd,
        now,
      }: {
        readonly serviceKey: string;
        readonly account: AccountState & { readonly accountKey: string };
        readonly overlapEnd: string;
        readonly now: string;
      },
      audit: AuditEntry,
    ): Promise<ServiceKey> => {
      const { accountId } = audit;
      if (key.status !== 'active' || (key.validUntil ?? '~') <= now)
        throw new ConflictError('The key is revoked or has expired. Create another one.');
      const current = await findItem(table, serviceKeyKey(key.keyHash));
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
        keyHash: secretHash(serviceKey),
        maskedKey: maskedSecret(serviceKey),
        // Revoking the key reaches every secret that may still be accepted, and each that the gateway may have cached.
        former: [...former, ...key.former.filter(({ validUntil }) => validUntil <= now)].slice(
          0,
          2 * MAX_FORMER_SECRETS,
        ),
      };
      /** The new secret has these of the current one, as they are at this moment. */
      const copies = ['keyStatus', 'projectId', 'ownerRole'] as const;
      const unchanged = copies.map((copy) =>
        current[copy] === undefined ? `attribute_not_exists(${copy})` : `${copy} = :${copy}`,
      );
      const values = Object.fromEntries(copies.map((copy) => [copy, current[copy]]));
      const { status, withoutBlocks, accountKey: shownKey } = account;
      const [replaced, ...others] = former as [(typeof former)[number], ...typeof former];
      await transact(
        table,
        [
          put({ ...current, ...serviceKeyKey(next.keyHash), accountStatus: status, withoutBlocks }, IS_NEW),
          setEnd(replaced, unchanged.join(' AND '), values),
          update(
            accountServiceKeyKey(accountId, key.keyId),
            'SET keyHash = :next, maskedKey = :masked, former = :former',
            `keyHash = :hash AND #status = :active AND ${hasEnd(key)}`,
            {
              ...{ next: next.keyHash, masked: next.maskedKey, former: next.former },
              ...{ hash: key.keyHash, active: 'active', formerEnd: key.validUntil },
            },
          ),
          ...others.map((secret) => setEnd(secret, EXISTS)),
          update(accountKey(accountId), 'SET accountKey = :shown', `accountKey = :shownKey AND ${hasState(account)}`, {
            shown: secretHash(shownKey) === key.keyHash ? serviceKey : shownKey,
            ...{ shownKey, status, withoutBlocks },
          }),
          putAudit(audit),
        ],
        changedMeanwhile,
      );
      return next;
    },

    /**
     * Gives an active key to another member: as a key with another id and the same secrets, so that what was spent stays the former
     * member's, and clients go on. The gateway follows within 60 seconds.
     *
     * @param checks of that member
     * @throws ConflictError if the member was changed in the meantime
     */
    handOver: (
      formerId: string,
      to: { readonly keyId: string; readonly ownerUserId: string; readonly ownerRole: Role; readonly at: string },
      audit: AuditEntry,
      ...checks: Action[]
    ): Promise<void> =>
      retryConflicts(async () => {
        const { accountId } = audit;
        const { keyId, ownerUserId, ownerRole, at } = to;
        const key = await find(accountId, formerId);
        if (key?.status !== 'active') return;
        const next = { ...key, keyId, ownerUserId, ownerRole, createdAt: at, lastUsedAt: undefined };
        await transact(
          table,
          [
            update(
              accountServiceKeyKey(accountId, key.keyId),
              'SET #status = :revoked, revokedAt = :at',
              `#status = :active AND keyHash = :hash AND #name = :name AND ${hasEnd(key)} AND ${hasProject(key.projectId)}`,
              {
                ...{ revoked: 'revoked', active: 'active', at, hash: key.keyHash, name: key.name },
                ...{ formerEnd: key.validUntil, from: key.projectId },
              },
            ),
            put({ ...accountServiceKeyKey(accountId, keyId), ...next }, IS_NEW),
            ...hashesOf(key).map((hash) =>
              update(serviceKeyKey(hash), 'SET keyId = :next, ownerRole = :role', 'keyId = :keyId', {
                ...{ next: keyId, role: ownerRole, keyId: key.keyId },
              }),
            ),
            ...countKey(accountId, key.projectId, 1),
            ...checks,
            countChange(accountId),
            putAudit(audit),
          ],
          ([isChanged]) => (isChanged ? undefined : changedMeanwhile()),
        );
      }),

    /**
     * Revokes a key with all its secrets, also those that it gets at the same moment. Revoking it again has no effect.
     *
     * @throws NotFoundError
     * @throws ConflictError if it is the last active key and `force` is not set, and if its secrets are another's by now: see handOver
     */
    revoke: (
      accountId: string,
      keyId: string,
      options: { force: boolean; revokedAt: string },
      audit?: AuditEntry,
    ): Promise<void> =>
      retryConflicts(async () => {
        const key = await find(accountId, keyId);
        if (key === undefined) throw new NotFoundError('There is no such key.');
        if (key.status === 'revoked') {
          const next = (await listActive(accountId)).find((each) => hashesOf(each).includes(key.keyHash));
          if (next === undefined) return;
          throw new ConflictError(`The key went to another member, and is ${next.keyId} since. Revoke that one.`);
        }
        await transact(
          table,
          [
            update(
              accountServiceKeyKey(accountId, keyId),
              'SET #status = :revoked, revokedAt = :revokedAt',
              '#status = :active AND keyHash = :hash',
              { revoked: 'revoked', active: 'active', revokedAt: options.revokedAt, hash: key.keyHash },
            ),
            update(accountKey(accountId), 'ADD activeKeys :less, keyChanges :one', 'activeKeys > :least', {
              ...{ less: -1, one: 1, least: options.force ? 0 : 1 },
            }),
            ...hashesOf(key).map((keyHash) =>
              update(serviceKeyKey(keyHash), 'SET keyStatus = :revoked', EXISTS, { revoked: 'revoked' }),
            ),
            ...(audit ? [putAudit(audit)] : []),
          ],
          ([isChanged, isLast]) => {
            if (isChanged) return undefined;
            if (!isLast) return changedMeanwhile();
            return new ConflictError(
              'This is the last active key. Without it, all traffic is rejected. Create another key first, or send ?force=true.',
            );
          },
        );
      }),
  };
};

interface AccountState {
  readonly accountId: string;
  readonly status: AccountStatus;
  readonly withoutBlocks?: BlockPolicy | undefined;
}

/** Condition that the account has what keys have copies of as it was read, at `:status` and `:withoutBlocks`. */
const hasState = ({ withoutBlocks }: AccountState): string =>
  `#status = :status AND ${withoutBlocks ? 'withoutBlocks = :withoutBlocks' : 'attribute_not_exists(withoutBlocks)'}`;

const changedMeanwhile = () => new ConflictError('Another request changed the key. Read it again.');
const noProject = () => new NotFoundError('There is no such project.');

/** Condition that a key ends as it did when it was read, at `:formerEnd`. */
const hasEnd = ({ validUntil }: ServiceKey): string =>
  validUntil === undefined ? 'attribute_not_exists(validUntil)' : 'validUntil = :formerEnd';

/** Condition that a key is in the project `:from`. Keys of 0.1 name none. */
const hasProject = (projectId: string): string =>
  projectId === DEFAULT_PROJECT_ID ? '(attribute_not_exists(projectId) OR projectId = :from)' : 'projectId = :from';

export type ServiceKeys = ReturnType<typeof openServiceKeys>;
