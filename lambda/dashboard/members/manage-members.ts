import { type AuditedInput, auditOf } from '../../data/accounts/audit-log.ts';
import type { ServiceKey } from '../../data/accounts/service-keys.ts';
import { checkMember, type User } from '../../data/accounts/users.ts';
import { projectRoles, type Role, requireMayGive } from '../../domain/accounts/permissions.ts';
import { invalid, NotFoundError } from '../../domain/errors.ts';
import type { Implementation, Implementations } from '../../http/operation.ts';
import type { Identity } from '../auth/open-identity.ts';
import { requireProjects } from '../keys/member-projects.ts';
import { endTokensAbove } from '../tokens/manage-tokens.ts';
import type * as operations from './operations.ts';

const view = (user: User) => ({ ...user, projects: user.projects ?? null });

const detailsOf = ({ email, role, projects }: Pick<User, 'email' | 'role' | 'projects'>) => ({
  email,
  role,
  projects: projects?.join(', ') ?? 'all',
});

const copyRoles = ({ keys, users }: Identity, accountId: string, userIds: readonly string[]): Promise<void> =>
  keys.copyRoles(accountId, async () => {
    const found = await Promise.all(userIds.map(users.find));
    return new Map(found.flatMap((user) => (user?.accountId === accountId ? [[user.userId, user.role]] : [])));
  });

/** Ends a membership, and the sessions. Without it nobody gets in, so that a failure of the latter is logged and not returned. */
const end = async (
  { members, sessions, logger, now }: Identity,
  from: AuditedInput,
  { userId, email, role }: Pick<User, 'userId' | 'email'> & { readonly role: string },
  action: 'member.removed' | 'member.left',
): Promise<void> => {
  await members.remove(userId, auditOf(from, { action, subject: userId, details: { email, role } }, now()));
  await sessions.endSessions(userId).catch((error: Error) => logger.error('sessions not ended', { userId, error }));
};

/** @throws ValidationError where nobody else of the account can get the keys */
const requireHeir = (members: readonly User[], userId: string, to: string | undefined): User => {
  const heir = members.find((each) => each.userId === to && to !== userId);
  if (heir === undefined) throw invalid('to', 'must be another member of the account');
  return heir;
};

/** Revokes a key of somebody who has left, or gives it to another member. @returns false where it stays as it is, which is logged */
const passOn = async (
  { keys, newId, logger, now }: Identity,
  input: Parameters<Implementation<typeof operations.removeMember>>[0],
  key: ServiceKey,
  becomes: 'keep' | 'revoke' | 'hand-over',
  heir: User | undefined,
): Promise<boolean> => {
  const { accountId } = input.caller;
  const at = now();
  const auditFor = (action: 'key.revoked' | 'key.handed_over', details: Record<string, string>) =>
    auditOf(input, { action, subject: key.keyId, details: { name: key.name, ...details } }, at);
  try {
    if (becomes === 'keep') return false;
    const revokedAt = at.toISOString();
    if (heir === undefined)
      await keys.revoke(accountId, key.keyId, { force: true, revokedAt }, auditFor('key.revoked', {}));
    else {
      const [keyId, { userId: ownerUserId, role: ownerRole }] = [newId(), heir];
      const audit = auditFor('key.handed_over', { to: heir.email, newId: keyId });
      const to = { keyId, ownerUserId, ownerRole, at: revokedAt };
      await keys.handOver(key.keyId, to, audit, checkMember(accountId, heir));
    }
    return true;
  } catch (error) {
    logger.error('key of a removed member stays', { keyId: key.keyId, error: error as Error });
    return false;
  }
};

export const manageMembers = (
  identity: Identity,
): Implementations<
  typeof operations,
  'listMembers' | 'changeMember' | 'transferOwnership' | 'removeMember' | 'leaveAccount'
> => ({
  listMembers: async ({ caller: { accountId } }) => ({ items: (await identity.members.list(accountId)).map(view) }),

  changeMember: async (input) => {
    const { members, now } = identity;
    const { caller, params, body } = input;
    const { userId } = params;
    const { revokeTokens: revoke, ...changes } = body;
    const member = await members.find(caller.accountId, userId);
    const role: Role = changes.role ?? member.role;
    requireMayGive(caller.role, role);
    const requires = () => requireProjects(identity.projects, caller.accountId, role, changes.projects);
    const mayHaveProjects = (projectRoles as readonly Role[]).includes(role);
    const projects =
      (changes.projects === undefined && mayHaveProjects ? member.projects : changes.projects) ?? undefined;
    const changed = { ...member, role, projects };
    const [details, before] = [detailsOf(changed), detailsOf(member)];
    const fact = { action: 'member.role_changed', subject: userId, details, before } as const;
    await members.change(member, { role, projects }, { ...auditOf(input, fact, now()), requires });
    await copyRoles(identity, caller.accountId, [userId]);
    const tokens = await endTokensAbove(identity, input, userId, changed, revoke);
    return { ...view(changed), tokens };
  },

  transferOwnership: async (input) => {
    const { members, now } = identity;
    const { caller, params, query } = input;
    const { userId } = params;
    requireMayGive(caller.role, 'owner');
    const { email } = await members.find(caller.accountId, userId);
    const fact = { action: 'ownership.transferred', subject: userId, details: { email } } as const;
    await members.transferOwnership(caller.userId, userId, auditOf(input, fact, now()));
    await copyRoles(identity, caller.accountId, [caller.userId, userId]);
    const revoke = query.revokeTokens === 'true';
    return { tokens: await endTokensAbove(identity, input, caller.userId, { role: 'admin' }, revoke) };
  },

  /** Once more, it finishes what a request began that ran out of time, though the user is no member any more. */
  removeMember: async (input) => {
    const { members, keys } = identity;
    const { accountId } = input.caller;
    const { userId } = input.params;
    const { revokeTokens, keys: becomes, to } = input.query;
    const member = await members.findRemovable(accountId, userId);
    const heir = becomes === 'hand-over' ? requireHeir(await members.list(accountId), userId, to) : undefined;
    if (member) await end(identity, input, member, 'member.removed');
    const owned = (await keys.listActive(accountId)).filter(({ ownerUserId }) => ownerUserId === userId);
    const kept = [];
    for (const key of owned) if (!(await passOn(identity, input, key, becomes, heir))) kept.push(key);
    const tokens = await endTokensAbove(identity, input, userId, null, revokeTokens === 'true');
    if (!member && owned.length + tokens.length === 0) throw new NotFoundError('There is no such member.');
    return { activeKeys: kept.map(({ keyId, name, maskedKey }) => ({ id: keyId, name, maskedKey })), tokens };
  },

  leaveAccount: async (input) => {
    const { accountId, userId } = input.caller;
    await end(identity, input, await identity.members.find(accountId, userId), 'member.left');
    await endTokensAbove(identity, input, userId, null, true);
  },
});
