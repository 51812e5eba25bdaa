import type { Account, Accounts } from '../../data/accounts/accounts.ts';
import { auditEntry } from '../../data/accounts/audit-log.ts';
import type { SignOns } from '../../data/accounts/sign-ons.ts';
import { isVerified, type User, type Users } from '../../data/accounts/users.ts';
import { accountKeyFor } from '../../domain/accounts/permissions.ts';
import { providerFor, type SignOnProviders } from '../../domain/accounts/sign-on.ts';
import { ConflictError, ForbiddenError } from '../../domain/errors.ts';
import type { Implementation } from '../../http/operation.ts';
import type { LinkIdentity } from '../../integrations/link-identity.ts';
import type { SignedOn } from '../../integrations/sign-on.ts';
import type { UserDirectory } from '../../integrations/user-directory.ts';
import type * as operations from './operations.ts';

interface SignOnDependencies {
  readonly providers: SignOnProviders;
  readonly exchange: (code: string, codeVerifier: string) => Promise<SignedOn>;
  readonly accounts: Pick<Accounts, 'find'>;
  readonly users: Pick<Users, 'find'>;
  readonly signOns: Pick<SignOns, 'accountOf' | 'join'>;
  readonly directory: Pick<UserDirectory, 'findByEmail'>;
  readonly linkIdentity: LinkIdentity;
  readonly now: () => Date;
}

export const findSignOn =
  (providers: SignOnProviders, urlOf: (provider: string) => string): Implementation<typeof operations.findSignOn> =>
  async ({ query: { email } }) => {
    const provider = providerFor(providers, email);
    return { authorizeUrl: provider === undefined ? null : urlOf(provider) };
  };

/**
 * Signs a person in who comes from an identity provider. The provider vouches for addresses of its own domains, and for no others. The
 * account is the one that uses the provider: a user of another account is refused, whatever the address.
 */
export const signOn = ({
  providers,
  exchange,
  accounts,
  users,
  signOns,
  directory,
  linkIdentity,
  now,
}: SignOnDependencies): Implementation<typeof operations.signOn> => {
  /** @throws ForbiddenError if no account uses the provider */
  const accountOf = async ({ provider, email }: SignedOn): Promise<Account> => {
    const { [provider]: domains = [] } = providers;
    const domain = email.slice(email.lastIndexOf('@') + 1);
    if (!domains.includes(domain))
      throw new ForbiddenError(
        `${provider} does not vouch for addresses of ${domain}. Ask the operator of this service.`,
      );
    const accountId = await signOns.accountOf(provider);
    const account = accountId === undefined ? undefined : await accounts.find(accountId);
    if (account?.signOn?.provider === provider) return account;
    throw new ForbiddenError(
      `No account uses ${provider} for single sign-on yet. The owner of your account can turn it on; until then, log in with a password.`,
    );
  };

  /**
   * A person with a login of the same address: of this account, it is connected with the provider, and the next sign-in is theirs. The
   * address must be verified: otherwise somebody else may have made the login, and would know its password.
   */
  const connect = async ({ accountId }: Account, { email, provider, subject, username }: SignedOn): Promise<void> => {
    const login = await directory.findByEmail(email);
    const member = login && (await users.find(login.userId));
    if (login === undefined) return;
    if (member?.accountId !== accountId)
      throw new ForbiddenError(
        'There is a login for your address that is not in the account of your organization. Delete its account or leave it, then sign in again.',
      );
    if (!isVerified(member))
      throw new ForbiddenError(
        'There is a login for your address, and the address is not verified. Log in with its password and verify it, then sign in again.',
      );
    await linkIdentity(login.userId, { provider, subject, username });
    throw new ConflictError(`Your login is now connected with ${provider}. Sign in again.`);
  };

  const join = async (
    { accountId, signOn: settings }: Account,
    person: SignedOn,
    clientAddress: string | undefined,
  ) => {
    const { email, firstName, lastName, provider, session } = person;
    const at = now();
    const role = settings?.defaultRole ?? 'viewer';
    const createdAt = at.toISOString();
    const user = {
      userId: session.userId,
      accountId,
      role,
      email,
      emailVerifiedAt: createdAt,
      firstName: firstName || email.slice(0, email.lastIndexOf('@')),
      lastName,
      companyName: null,
      createdAt,
    };
    const fact = { action: 'member.joined', subject: user.userId, details: { email, role, provider } } as const;
    const actor = { userId: user.userId, name: email };
    await signOns.join(user, provider, auditEntry(accountId, { actor, clientAddress }, fact, at));
    return user;
  };

  return async ({ body: { code, codeVerifier }, clientAddress }) => {
    if (Object.keys(providers).length === 0)
      throw new ForbiddenError('This service has no single sign-on. Log in with a password.');
    const person = await exchange(code, codeVerifier);
    const account = await accountOf(person);
    let user: User | undefined = await users.find(person.session.userId);
    if (user === undefined) {
      await connect(account, person);
      user = await join(account, person, clientAddress);
    }
    if (user.accountId !== account.accountId)
      throw new ForbiddenError(`You are a member of another account than the one that uses ${person.provider}.`);
    return { ...person.session, accountId: accountKeyFor(user.role, account.accountKey) };
  };
};
