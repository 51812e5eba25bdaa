import type { Accounts } from '../../data/accounts/accounts.ts';
import { hasEnded, isVerified, type Users } from '../../data/accounts/users.ts';
import { accountKeyFor, mayGive, permissionsOf, roles } from '../../domain/accounts/permissions.ts';
import { UnauthenticatedError } from '../../domain/errors.ts';
import type { Implementation } from '../../http/operation.ts';
import type { VerifyToken } from '../../integrations/token-verifier.ts';
import type { me as operation } from './operations.ts';

interface MeDependencies {
  readonly verifyToken: VerifyToken;
  readonly accounts: Pick<Accounts, 'find'>;
  readonly users: Pick<Users, 'find'>;
}

export const me =
  ({ verifyToken, accounts, users }: MeDependencies): Implementation<typeof operation> =>
  async ({ authorization }) => {
    const { userId, authTime } = await verifyToken(authorization);
    const user = await users.find(userId);
    const account = user && (await accounts.find(user.accountId));
    if (user === undefined || account === undefined)
      throw new UnauthenticatedError('The user of this token no longer exists. Log in again.');
    if (hasEnded(user, authTime)) throw new UnauthenticatedError('This session has ended. Log in again.');
    return {
      user: {
        ...user,
        totpEnabled: user.totpEnabled ?? false,
        reviewSince: user.reviewSince ?? null,
        emailVerified: isVerified(user),
        permissions: permissionsOf(user.role),
        grantableRoles: roles.filter((role) => mayGive(user.role, role)),
      },
      account: {
        ...account,
        accountId: accountKeyFor(user.role, account.accountKey),
        requiresTotp: account.requiresTotp ?? false,
      },
    };
  };
