import type { ApiToken } from '../../data/accounts/api-tokens.ts';
import { auditOf } from '../../data/accounts/audit-log.ts';
import type { Membership } from '../../data/accounts/members.ts';
import { checkMember } from '../../data/accounts/users.ts';
import { apiTokenEmail, apiTokenPassword, maskedSecret, secretHash } from '../../domain/accounts/issued-secret.ts';
import { mayGive, requireMayGive } from '../../domain/accounts/permissions.ts';
import { hasProject } from '../../domain/accounts/scope.ts';
import { DAY_MS } from '../../domain/calendar/units.ts';
import type { Caller, CallerInput, Implementations, Input } from '../../http/operation.ts';
import type { Identity } from '../auth/open-identity.ts';
import { requireProjects } from '../keys/member-projects.ts';
import type * as operations from './operations.ts';

type Asked = Pick<Input<typeof operations.createToken>['body'], 'role' | 'projects'>;

interface Planned extends Asked {
  readonly name: string;
  /** The token is found by it. */
  readonly secret: string;
  readonly lastsMs: number;
  /** Host of the program that the token is for, where it asked. */
  readonly client?: string;
}

/** The schema leaves out what is not shown. */
const view = (token: ApiToken, lastUsedAt: string | null = null) => ({
  ...token,
  id: token.tokenId,
  projects: token.projects ?? null,
  expiresAt: token.validUntil,
  lastUsedAt,
});

/** @throws ForbiddenError, ValidationError, LimitReachedError */
const requireMayCreate = async (
  { projects: known, tokens }: Identity,
  { role: own, accountId }: Caller,
  { role, projects }: Asked,
): Promise<void> => {
  requireMayGive(own, role);
  await requireProjects(known, accountId, role, projects);
  await tokens.requireRoom(accountId);
};

/** A new token of the caller's account without its user, and its entry in the audit log. */
export const planToken = async (
  dependencies: Identity,
  input: CallerInput,
  { name, role, projects, secret, lastsMs, client }: Planned,
) => {
  const requires = () => requireMayCreate(dependencies, input.caller, { role, projects });
  // Before the token's user is made in the pool; and once more with the write.
  await requires();
  const { newId, now } = dependencies;
  const { accountId, userId: createdBy } = input.caller;
  const [tokenId, at] = [newId(), now()];
  const token: Omit<ApiToken, 'userId'> = {
    tokenId,
    accountId,
    name,
    role,
    ...(projects && { projects }),
    tokenHash: secretHash(secret),
    maskedToken: maskedSecret(secret),
    createdBy,
    createdAt: at.toISOString(),
    validUntil: new Date(at.getTime() + lastsMs).toISOString(),
  };
  const details = { name, role, ...(projects && { projects: projects.join(', ') }), ...(client && { client }) };
  const fact = { action: 'token.created', subject: tokenId, details } as const;
  return { token, audit: { ...auditOf(input, fact, at), requires } };
};

/** A user who is left over can do nothing: it has no token. */
const removeUser = ({ directory, logger }: Identity, userId: string): Promise<void> =>
  directory.deleteUser(userId).catch((error: Error) => logger.error("token's user not removed", { userId, error }));

/** Ends the access before it removes the user. */
const endToken = async (identity: Identity, input: CallerInput, id: string): Promise<void> => {
  const audit = auditOf(input, { action: 'token.revoked', subject: id }, identity.now());
  const { userId } = await identity.tokens.remove(input.caller.accountId, id, audit);
  await removeUser(identity, userId);
};

/**
 * The tokens that somebody made and that may do or see more than somebody may, after those were revoked that have to be. Where that fails,
 * it is logged, and the token stays in the list as not revoked.
 *
 * @param rights of whoever made them from now on; null for no member any more
 */
export const endTokensAbove = async (
  dependencies: Identity,
  input: CallerInput,
  createdBy: string,
  rights: Membership | null,
  revoke: boolean,
) => {
  const isWithin = ({ role, projects }: Membership) =>
    rights !== null &&
    mayGive(rights.role, role) &&
    (rights.projects === undefined || projects?.every((each) => hasProject(rights, each)));
  const { items, unreadable } = await dependencies.tokens.list(input.caller.accountId);
  const above = [
    ...items.filter((token) => !isWithin(token)),
    // What the role of a later version may do is not known.
    ...unreadable.map(({ tokenId, name, createdBy: maker }) => ({
      ...{ tokenId: String(tokenId), name: String(name), createdBy: maker, role: null },
    })),
  ].filter((token) => token.createdBy === createdBy);
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

export const manageTokens = (
  identity: Identity,
): Implementations<typeof operations, 'listTokens' | 'createToken' | 'removeToken'> => ({
  listTokens: async ({ caller: { accountId } }) => {
    const { items, unreadable } = await identity.tokens.list(accountId);
    return { items: items.map((token) => view(token, token.lastUsedAt)), unreadable: unreadable.length || undefined };
  },

  /** Creates the token's user first. */
  createToken: async (input) => {
    const { tokens, directory, newApiToken } = identity;
    const { caller, body } = input;
    const secret = newApiToken();
    const { token: planned, audit } = await planToken(identity, input, {
      ...body,
      secret,
      lastsMs: body.expiresInDays * DAY_MS,
    });
    const { accountId, tokenId } = planned;
    const email = apiTokenEmail(tokenId);
    const userId = await directory.createUser({
      email,
      firstName: 'API',
      lastName: 'token',
      accountId,
      isProgram: true,
    });
    const token = { ...planned, userId };
    try {
      await directory.setPassword(userId, apiTokenPassword(secret));
      await tokens.create(token, email, audit, checkMember(accountId, caller));
    } catch (error) {
      await removeUser(identity, userId);
      throw error;
    }
    return { ...view(token), token: secret };
  },

  removeToken: (input) => endToken(identity, input, input.params.id),
});
