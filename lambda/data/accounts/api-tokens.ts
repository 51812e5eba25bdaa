import * as z from 'zod/mini';
import { isWellFormedApiToken, maskedSecret, secretHash } from '../../domain/accounts/issued-secret.ts';
import { roles } from '../../domain/accounts/permissions.ts';
import { ConflictError, LimitReachedError, NotFoundError } from '../../domain/errors.ts';
import { type Action, EXISTS, IS_NEW, put, remove, update } from '../table/actions.ts';
import { batchRead } from '../table/batch.ts';
import { accountApiTokenKey, apiTokenKey, userKey } from '../table/keys.ts';
import { findAs, findItem, listReadable } from '../table/read.ts';
import { recentlyRead } from '../table/recently-read.ts';
import type { Table } from '../table/table.ts';
import { retryConflicts, transact, tryTransact } from '../table/write.ts';
import { type AuditEntry, putAudit } from './audit-log.ts';
import { openLastUse } from './key-usage.ts';
import { openSeenKeys } from './membership.ts';
import type { User } from './users.ts';

/** Far more than an account needs. Each token has a user in the user pool. */
const MAX_TOKENS = 100;

/** A program sends these to get the token that it was promised. */
const grantSchema = z.object({
  clientId: z.string(),
  redirectUri: z.string(),
  codeChallenge: z.string(),
  /** ISO 8601 UTC: how long the token will work. */
  validUntil: z.string(),
});

/** The members of both items of a token. */
const ownerSchema = z.object({
  tokenId: z.string(),
  name: z.string(),
  accountId: z.string(),
  role: z.enum(roles),
  /** Ids of the projects that it is limited to. Absent for all. */
  projects: z.optional(z.array(z.string())),
  /** The token's user in the user pool. */
  userId: z.string(),
  /** ISO 8601 UTC. Not the table's time to live: the user pool's user has to be removed with the token. */
  validUntil: z.string(),
  /** Until the program has fetched the token, which is a code so far. */
  grant: z.optional(grantSchema),
});

const apiTokenSchema = z.extend(ownerSchema, {
  /** Key of the item that a look-up reads. The token itself is shown once, at creation, and not stored. */
  tokenHash: z.string(),
  /** First and last characters of the token. */
  maskedToken: z.string(),
  /** Id of the user who created it. */
  createdBy: z.string(),
  /** ISO 8601 UTC. */
  createdAt: z.string(),
});

export type ApiToken = z.infer<typeof apiTokenSchema>;
export type ApiTokenOwner = z.infer<typeof ownerSchema>;

/** As much of a token as removing it takes. */
const removableSchema = z.pick(apiTokenSchema, { tokenHash: true, userId: true });

const lastUseSchema = z.object({ tokenId: z.string(), lastUsedAt: z.optional(z.string()) });

/** A token has three items: one by its hash, which look-ups read, one in the account's list, and its user. */
const itemsOf = (token: ApiToken, user: User) => [
  { ...apiTokenKey(token.tokenHash), ...ownerSchema.parse(token) },
  { ...accountApiTokenKey(token.accountId, token.tokenId), ...token },
  { ...userKey(token.userId), ...user },
];

export const openApiTokens = (table: Table) => {
  const list = (accountId: string) => listReadable(table, accountApiTokenKey(accountId, ''), apiTokenSchema.parse);

  return {
    /** All tokens of an account, also expired ones, oldest first, with the time of their last use. */
    list: async (accountId: string) => {
      const { items, unreadable } = await list(accountId);
      const keys = items.map(({ tokenHash }) => apiTokenKey(tokenHash));
      const uses = (await batchRead(table, keys, { consistent: false })).map((item) => lastUseSchema.parse(item));
      const lastUses = new Map(uses.map(({ tokenId, lastUsedAt }) => [tokenId, lastUsedAt]));
      return { items: items.map((token) => ({ ...token, lastUsedAt: lastUses.get(token.tokenId) })), unreadable };
    },

    userIds: async (accountId: string): Promise<string[]> => (await list(accountId)).items.map(({ userId }) => userId),

    /** @throws LimitReachedError */
    requireRoom: async (accountId: string): Promise<void> => {
      const { items, unreadable } = await list(accountId);
      if (items.length + unreadable.length >= MAX_TOKENS)
        throw new LimitReachedError(`An account can have ${MAX_TOKENS} API tokens. Remove one first.`);
    },

    /** @param email of the token's user in the user pool. @param checks of who creates it. @throws ConflictError where they fail */
    create: async (token: ApiToken, email: string, audit: AuditEntry, ...checks: Action[]): Promise<void> => {
      const { userId, accountId, role, projects, name: firstName, createdAt, tokenId, validUntil } = token;
      const names = { email, firstName, lastName: '', companyName: null };
      const items = itemsOf(token, { userId, accountId, role, projects, ...names, createdAt, tokenId, validUntil });
      await transact(
        table,
        [...items.map((item) => put(item, IS_NEW)), putAudit(audit), ...checks],
        () => new ConflictError('Another request changed your rights. Try again.'),
      );
    },

    /** The token that a code stands for. */
    pending: (code: string): Promise<ApiTokenOwner | undefined> =>
      findAs(table, apiTokenKey(secretHash(code)), ownerSchema),

    /** Replaces the code of a token by the token. @returns false where the code was used, or the token removed, in the meantime */
    redeem: async (
      { grant: _, ...owner }: ApiTokenOwner,
      { validUntil }: z.infer<typeof grantSchema>,
      { code, token }: { readonly code: string; readonly token: string },
      audit: AuditEntry,
    ): Promise<boolean> => {
      const tokenHash = secretHash(token);
      const change = 'SET tokenHash = :tokenHash, maskedToken = :maskedToken, validUntil = :validUntil REMOVE #grant';
      const values = { tokenHash, maskedToken: maskedSecret(token), validUntil };
      const actions = [
        remove(apiTokenKey(secretHash(code)), EXISTS),
        put({ ...apiTokenKey(tokenHash), ...owner, validUntil }, IS_NEW),
        update(accountApiTokenKey(owner.accountId, owner.tokenId), change, EXISTS, values),
        putAudit(audit),
      ];
      return tryTransact(table, actions);
    },

    /**
     * Removes a token, even while a program fetches it. It is refused within a minute.
     *
     * @returns the token as it was
     * @throws NotFoundError
     */
    remove: (accountId: string, tokenId: string, audit: AuditEntry): Promise<z.infer<typeof removableSchema>> =>
      retryConflicts(async () => {
        const item = await findItem(table, accountApiTokenKey(accountId, tokenId));
        if (item === undefined) throw new NotFoundError('There is no such token.');
        const token = removableSchema.parse(item);
        const { tokenHash } = token;
        await transact(table, [
          remove(accountApiTokenKey(accountId, tokenId), 'tokenHash = :tokenHash', { tokenHash }),
          ...[apiTokenKey(tokenHash), userKey(token.userId)].map((key) => remove(key)),
          putAudit(audit),
        ]);
        return token;
      }),
  };
};

const MAX_ENTRIES = 10_000;

/** Looks tokens up when they are used, and notes the use. */
export const openApiTokenUse = (table: Table, nowMs: () => number) => {
  const seenKeys = openSeenKeys(table);
  const note = openLastUse(table);

  const find = recentlyRead((tokenHash) => findAs(table, apiTokenKey(tokenHash), ownerSchema), MAX_ENTRIES, nowMs);

  return {
    /** Undefined if there is no such token, it was removed more than a minute ago, or it has expired. */
    ownerOf: async (
      token: string,
    ): Promise<(ApiTokenOwner & { readonly keyIds: ReadonlySet<string> | undefined }) | undefined> => {
      if (!isWellFormedApiToken(token)) return undefined;
      const tokenHash = secretHash(token);
      const owner = await find(tokenHash);
      if (owner === undefined || Date.parse(owner.validUntil) <= nowMs()) return undefined;
      await note(apiTokenKey(tokenHash), new Date(nowMs()).toISOString());
      return { ...owner, keyIds: await seenKeys(owner.accountId, owner) };
    },
  };
};
