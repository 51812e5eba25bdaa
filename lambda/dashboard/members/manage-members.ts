import type { Logger } from '@aws-lambda-powertools/logger';
import { auditOf } from '../../data/accounts/audit-log.ts';
import type { Members } from '../../data/accounts/members.ts';
import type { ServiceKeys } from '../../data/accounts/service-keys.ts';
import type { User } from '../../data/accounts/users.ts';
import { requireMayGive } from '../../domain/accounts/permissions.ts';
import type { Implementation } from '../../http/operation.ts';
import type { UserSessions } from '../../integrations/user-sessions.ts';
import type * as operations from './operations.ts';

export interface MemberDependencies {
  readonly members: Members;
  readonly keys: Pick<ServiceKeys, 'list'>;
  readonly sessions: Pick<UserSessions, 'endSessions'>;
  readonly now: () => Date;
  readonly logger: Pick<Logger, 'error'>;
}

const view = ({ userId, email, firstName, lastName, role, createdAt }: User) => ({
  userId,
  email,
  firstName,
  lastName,
  role,
  createdAt,
});

export const listMembers =
  ({ members }: Pick<MemberDependencies, 'members'>): Implementation<typeof operations.listMembers> =>
  async ({ caller: { accountId } }) => ({ items: (await members.list(accountId)).map(view) });

export const changeRole =
  ({ members, now }: Pick<MemberDependencies, 'members' | 'now'>): Implementation<typeof operations.changeRole> =>
  async (input) => {
    const {
      caller,
      params: { userId },
      body: { role },
    } = input;
    requireMayGive(caller.role, role);
    const member = await members.find(caller.accountId, userId);
    const details = { email: member.email, from: member.role, to: role };
    await members.changeRole(
      userId,
      role,
      auditOf(input, { action: 'member.role_changed', subject: userId, details }, now()),
    );
    return view({ ...member, role });
  };

export const transferOwnership =
  ({
    members,
    now,
  }: Pick<MemberDependencies, 'members' | 'now'>): Implementation<typeof operations.transferOwnership> =>
  async (input) => {
    const {
      caller,
      params: { userId },
    } = input;
    requireMayGive(caller.role, 'owner');
    const { email } = await members.find(caller.accountId, userId);
    await members.transferOwnership(
      caller.userId,
      userId,
      auditOf(input, { action: 'ownership.transferred', subject: userId, details: { email } }, now()),
    );
    return undefined;
  };

/**
 * Ends the sessions of a user who is no member any more. The membership already keeps the user out, so a failure is logged and not
 * returned.
 */
const endSessions = (
  { sessions, logger }: Pick<MemberDependencies, 'sessions' | 'logger'>,
  { userId }: User,
): Promise<void> =>
  sessions.endSessions(userId).catch((error: Error) => logger.error('sessions not ended', { userId, error }));

export const removeMember =
  (dependencies: MemberDependencies): Implementation<typeof operations.removeMember> =>
  async (input) => {
    const { members, keys, now } = dependencies;
    const {
      caller: { accountId },
      params: { userId },
    } = input;
    const member = await members.find(accountId, userId);
    const details = { email: member.email, role: member.role };
    await members.remove(userId, auditOf(input, { action: 'member.removed', subject: userId, details }, now()));
    await endSessions(dependencies, member);
    const owned = (await keys.list(accountId)).filter((key) => key.status === 'active' && key.ownerUserId === userId);
    return { activeKeys: owned.map(({ keyId, name, maskedKey }) => ({ id: keyId, name, maskedKey })) };
  };

export const leaveAccount =
  (dependencies: MemberDependencies): Implementation<typeof operations.leaveAccount> =>
  async (input) => {
    const { members, now } = dependencies;
    const { accountId, userId } = input.caller;
    const member = await members.find(accountId, userId);
    const details = { email: member.email, role: member.role };
    await members.remove(userId, auditOf(input, { action: 'member.left', subject: userId, details }, now()));
    await endSessions(dependencies, member);
    return undefined;
  };
