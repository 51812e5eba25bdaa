import type { NewAccount } from '../../data/accounts/accounts.ts';
import { requireGoodPassword } from '../../domain/accounts/passwords.ts';
import { requireRegistration } from '../../domain/accounts/registration.ts';
import { MINUTE_MS } from '../../domain/calendar/units.ts';
import { ConflictError, EmailTakenError } from '../../domain/errors.ts';
import type { Implementation } from '../../http/operation.ts';
import type { NewDirectoryUser } from '../../integrations/user-directory.ts';
import type { Identity } from './open-identity.ts';
import type { register as operation } from './operations.ts';

type Shared = 'registration' | 'newId' | 'newAccountKey' | 'sendCode' | 'now' | 'logger';

export type RegisterDependencies = Pick<Identity, Shared> & {
  readonly directory: Omit<Identity['directory'], 'changeEmail'>;
  readonly sessions: Pick<Identity['sessions'], 'logIn'>;
  readonly accounts: Pick<Identity['accounts'], 'create' | 'rollBack'>;
  readonly users: Pick<Identity['users'], 'find'>;
};

/** API Gateway stops a registration after 29 s. An older user without an account belongs to no registration in progress. */
const LONGEST_REGISTRATION_MS = MINUTE_MS;

/** @throws ConflictError where a login may be of a registration in progress */
export const requireOldLogin = ({ createdAt }: { readonly createdAt: Date }, now: Date): void => {
  if (now.getTime() - createdAt.getTime() < LONGEST_REGISTRATION_MS)
    throw new ConflictError('A registration with this e-mail address is in progress. Try again in a minute.');
};

/**
 * Registers completely or not at all: creates the user in the directory, then account, key and user in one transaction, then
 * logs in. If a step fails, the earlier steps are rolled back. If the rollback fails, it is logged, and the next registration
 * with the same e-mail cleans up.
 */
export const register = ({
  registration: admission,
  directory,
  sessions,
  accounts,
  users,
  newId,
  newAccountKey,
  sendCode,
  now,
  logger,
}: RegisterDependencies): Implementation<typeof operation> => {
  /** Deletes a login without an account: of a failed registration, or of a former member. Returns true if the e-mail is free now. */
  const removeLeftover = async ({ email, accountId }: NewDirectoryUser): Promise<boolean> => {
    const user = await directory.findByEmail(email);
    if (user === undefined) return true;
    if ((await users.find(user.userId)) !== undefined) return false;
    // The SDK repeats a creation whose response was lost, and then finds its own user.
    if (user.accountId !== accountId) requireOldLogin(user, now());
    logger.warn('deleting a login without an account', { userId: user.userId });
    await directory.deleteUser(user.userId);
    return true;
  };

  const createUser = async (user: NewDirectoryUser): Promise<string> => {
    try {
      return await directory.createUser(user);
    } catch (error) {
      if (!(error instanceof EmailTakenError) || !(await removeLeftover(user))) throw error;
      return directory.createUser(user);
    }
  };

  const rollBack = async (registration: NewAccount): Promise<void> => {
    const { userId } = registration.user;
    for (const [what, undo] of [
      ['account', () => accounts.rollBack(registration)],
      ['user', () => directory.deleteUser(userId)],
    ] as const) {
      await undo().catch((error: Error) => logger.error('registration not rolled back', { what, userId, error }));
    }
  };

  /** The account works without it, and the user can ask for another code. */
  const sendFirstCode = ({ userId, accountId, email }: NewAccount['user']): Promise<void> =>
    sendCode({ userId, accountId }, email).catch((error: Error) =>
      logger.error('verification code not sent', { userId, error }),
    );

  return async ({ body: { password, companyName, ...names } }) => {
    requireRegistration(admission, 'register');
    await requireGoodPassword('password', password, [...Object.values(names), companyName ?? '']);
    const accountId = newId();
    const accountKey = newAccountKey();
    const createdAt = now().toISOString();
    const userId = await createUser({ ...names, accountId });
    const registration: NewAccount = {
      account: {
        accountId,
        accountKey,
        status: 'active',
        plan: 'FREE',
        billingStatus: 'ACTIVE',
        ownerUserId: userId,
        activeKeys: 1,
        createdAt,
      },
      user: {
        ...names,
        userId,
        accountId,
        role: 'owner',
        emailVerifiedAt: null,
        companyName: companyName || null,
        createdAt,
      },
      keyId: newId(),
    };
    try {
      await directory.setPassword(userId, password);
      await accounts.create(registration);
      const session = await sessions.logIn(names.email, password);
      await sendFirstCode(registration.user);
      return { ...session, accountId: accountKey };
    } catch (error) {
      await rollBack(registration);
      throw error;
    }
  };
};
