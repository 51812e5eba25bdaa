import type { Logger } from '@aws-lambda-powertools/logger';
import type { ApiToken, ApiTokens } from '../../data/accounts/api-tokens.ts';
import { auditEntry } from '../../data/accounts/audit-log.ts';
import { apiTokenEmail, apiTokenPassword, maskedSecret, secretHash } from '../../domain/accounts/issued-secret.ts';
import { requireMayGive } from '../../domain/accounts/permissions.ts';
import { DAY_MS } from '../../domain/calendar/units.ts';
import type { Implementation } from '../../http/operation.ts';
import type { UserDirectory } from '../../integrations/user-directory.ts';
import type * as operations from './operations.ts';

interface TokenDependencies {
  readonly tokens: ApiTokens;
  readonly directory: Pick<UserDirectory, 'createUser' | 'setPassword' | 'deleteUser'>;
  readonly newApiToken: () => string;
  readonly newTokenId: () => string;
  readonly now: () => Date;
  readonly logger: Pick<Logger, 'error'>;
}

const view = (
  { tokenId, name, maskedToken, role, createdBy, createdAt, validUntil }: ApiToken,
  lastUsedAt: string | undefined,
) => ({
  id: tokenId,
  name,
  maskedToken,
  role,
  createdBy,
  createdAt,
  expiresAt: validUntil,
  lastUsedAt: lastUsedAt ?? null,
});

export const listTokens =
  ({ tokens }: Pick<TokenDependencies, 'tokens'>): Implementation<typeof operations.listTokens> =>
  async ({ caller: { accountId } }) => ({
    items: (await tokens.list(accountId)).map((token) => view(token, token.lastUsedAt)),
  });

/** Creates the token's user first: without the items of the token, such a user can do nothing. */
export const createToken =
  ({
    tokens,
    directory,
    newApiToken,
    newTokenId,
    now,
    logger,
  }: TokenDependencies): Implementation<typeof operations.createToken> =>
  async ({ caller, clientAddress, body: { name, role, expiresInDays } }) => {
    requireMayGive(caller.role, role);
    const { accountId } = caller;
    await tokens.requireRoom(accountId);
    const secret = newApiToken();
    const tokenId = newTokenId();
    const createdAt = now();
    const email = apiTokenEmail(tokenId);
    const userId = await directory.createUser({
      email,
      firstName: 'API',
      lastName: 'token',
      accountId,
      isProgram: true,
    });
    const token: ApiToken = {
      tokenId,
      accountId,
      userId,
      name,
      role,
      tokenHash: secretHash(secret),
      maskedToken: maskedSecret(secret),
      createdBy: caller.userId,
      createdAt: createdAt.toISOString(),
      validUntil: new Date(createdAt.getTime() + expiresInDays * DAY_MS).toISOString(),
    };
    try {
      await directory.setPassword(userId, apiTokenPassword(secret));
      const fact = { action: 'token.created', subject: tokenId, details: { name, role } } as const;
      await tokens.create(token, email, auditEntry(accountId, { actor: caller, clientAddress }, fact, createdAt));
    } catch (error) {
      await directory
        .deleteUser(userId)
        .catch((failure: Error) => logger.error("token's user not removed", { userId, error: failure }));
      throw error;
    }
    return { ...view(token, undefined), token: secret };
  };

/** Ends the access before it removes the user: a user who is left over can do nothing. */
export const removeToken =
  ({
    tokens,
    directory,
    logger,
    now,
  }: Pick<TokenDependencies, 'tokens' | 'directory' | 'logger' | 'now'>): Implementation<
    typeof operations.removeToken
  > =>
  async ({ caller, clientAddress, params: { id } }) => {
    const { accountId } = caller;
    const fact = { action: 'token.revoked', subject: id } as const;
    const audit = auditEntry(accountId, { actor: caller, clientAddress }, fact, now());
    const { userId } = await tokens.remove(accountId, id, audit);
    await directory
      .deleteUser(userId)
      .catch((error: Error) => logger.error("token's user not removed", { userId, error }));
    return undefined;
  };
