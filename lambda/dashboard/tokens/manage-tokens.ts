import type { Logger } from '@aws-lambda-powertools/logger';
import type { ApiToken, ApiTokens } from '../../data/accounts/api-tokens.ts';
import { auditEntry } from '../../data/accounts/audit-log.ts';
import type { Projects } from '../../data/accounts/projects.ts';
import { apiTokenEmail, apiTokenPassword, maskedSecret, secretHash } from '../../domain/accounts/issued-secret.ts';
import { mayGive, type Role, requireMayGive } from '../../domain/accounts/permissions.ts';
import { DAY_MS } from '../../domain/calendar/units.ts';
import type { Implementation, Input } from '../../http/operation.ts';
import type { UserDirectory } from '../../integrations/user-directory.ts';
import { requireProjects } from '../keys/member-projects.ts';
import type * as operations from './operations.ts';

/** Who changes something, for the audit log. */
type AuditedInput = Pick<Input<typeof operations.removeToken>, 'caller' | 'clientAddress'>;

export interface TokenDependencies {
  readonly tokens: ApiTokens;
  readonly projects: Pick<Projects, 'list'>;
  readonly directory: Pick<UserDirectory, 'createUser' | 'setPassword' | 'deleteUser'>;
  readonly newApiToken: () => string;
  readonly newTokenId: () => string;
  readonly now: () => Date;
  readonly logger: Pick<Logger, 'error'>;
}

const view = (
  { tokenId, name, maskedToken, role, projects, createdBy, createdAt, validUntil }: ApiToken,
  lastUsedAt: string | undefined,
) => ({
  id: tokenId,
  name,
  maskedToken,
  role,
  projects: projects ?? null,
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

/** @throws ForbiddenError, ValidationError, LimitReachedError */
export const requireMayCreate = async (
  { projects: known, tokens }: Pick<TokenDependencies, 'projects' | 'tokens'>,
  { role: own, accountId }: AuditedInput['caller'],
  { role, projects }: Pick<Input<typeof operations.createToken>['body'], 'role' | 'projects'>,
): Promise<void> => {
  requireMayGive(own, role);
  await requireProjects(known, accountId, role, projects);
  await tokens.requireRoom(accountId);
};

/** Creates the token's user first: without the items of the token, such a user can do nothing. */
export const createToken =
  ({
    tokens,
    projects: known,
    directory,
    newApiToken,
    newTokenId,
    now,
    logger,
  }: TokenDependencies): Implementation<typeof operations.createToken> =>
  async ({ caller, clientAddress, body: { name, role, projects, expiresInDays } }) => {
    const { accountId } = caller;
    await requireMayCreate({ projects: known, tokens }, caller, { role, projects });
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
      ...(projects && { projects }),
      tokenHash: secretHash(secret),
      maskedToken: maskedSecret(secret),
      createdBy: caller.userId,
      createdAt: createdAt.toISOString(),
      validUntil: new Date(createdAt.getTime() + expiresInDays * DAY_MS).toISOString(),
    };
    try {
      await directory.setPassword(userId, apiTokenPassword(secret));
      const fact = {
        action: 'token.created',
        subject: tokenId,
        details: { name, role, ...(projects && { projects: projects.join(', ') }) },
      } as const;
      await tokens.create(token, email, auditEntry(accountId, { actor: caller, clientAddress }, fact, createdAt));
    } catch (error) {
      await directory
        .deleteUser(userId)
        .catch((failure: Error) => logger.error("token's user not removed", { userId, error: failure }));
      throw error;
    }
    return { ...view(token, undefined), token: secret };
  };

export type TokenEnding = Pick<TokenDependencies, 'tokens' | 'directory' | 'logger' | 'now'>;

/** Ends the access before it removes the user: a user who is left over can do nothing. */
const endToken = async (
  { tokens, directory, logger, now }: TokenEnding,
  { caller, clientAddress }: AuditedInput,
  id: string,
): Promise<void> => {
  const { accountId } = caller;
  const fact = { action: 'token.revoked', subject: id } as const;
  const audit = auditEntry(accountId, { actor: caller, clientAddress }, fact, now());
  const { userId } = await tokens.remove(accountId, id, audit);
  await directory
    .deleteUser(userId)
    .catch((error: Error) => logger.error("token's user not removed", { userId, error }));
};

export const removeToken =
  (dependencies: TokenEnding): Implementation<typeof operations.removeToken> =>
  async (input) => {
    await endToken(dependencies, input, input.params.id);
    return undefined;
  };

/**
 * The tokens that somebody made and that may do more than a role, after those were revoked that have to be. One that cannot be revoked now
 * is logged, and stays in the list as not revoked.
 *
 * @param role of whoever made them from now on; null for no member any more
 */
export const endTokensAbove = async (
  dependencies: TokenEnding,
  input: AuditedInput,
  { createdBy, role, revoke }: { readonly createdBy: string; readonly role: Role | null; readonly revoke: boolean },
) => {
  const above = (await dependencies.tokens.list(input.caller.accountId)).filter(
    (token) => token.createdBy === createdBy && (role === null || !mayGive(role, token.role)),
  );
  const tokens = [];
  for (const { tokenId: id, name, role: own } of above) {
    const end = () =>
      endToken(dependencies, input, id).then(
        () => true,
        (error: Error) => {
          dependencies.logger.error('token not revoked', { tokenId: id, error });
          return false;
        },
      );
    tokens.push({ id, name, role: own, isRevoked: revoke && (await end()) });
  }
  return tokens;
};
