import type { Account } from '../../data/accounts/accounts.ts';
import { auditEntry } from '../../data/accounts/audit-log.ts';
import { isVerified, type User } from '../../data/accounts/users.ts';
import { isOfProvider, providerFor } from '../../domain/accounts/sign-on.ts';
import { ConflictError, ForbiddenError } from '../../domain/errors.ts';
import { identityLinkedMail } from '../../domain/mail/account-mails.ts';
import type { Implementation } from '../../http/operation.ts';
import type { Person, SignedOn } from '../../integrations/sign-on.ts';
import type { Identity } from '../auth/open-identity.ts';
import { accountKeyFor } from '../auth/sessions.ts';
import type * as operations from './operations.ts';

export const findSignOn =
  ({ providers, urlOf }: Identity): Implementation<typeof operations.findSignOn> =>
  async ({ query: { email } }) => {
    const provider = providerFor(providers, email);
    return { authorizeUrl: provider === undefined ? null : urlOf(provider) };
  };

/**
 * The account that uses the person's provider, which vouches for addresses of its own domains and for no others.
 *
 * @throws ForbiddenError if no account uses the provider
 */
const accountOf = async ({ providers, signOns, accounts }: Identity, { provider, email }: Person): Promise<Account> => {
  const domain = email.slice(email.lastIndexOf('@') + 1);
  if (!providers[provider]?.domains.includes(domain))
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

const isAddressVerified = ({ providers }: Identity, { provider, isEmailVerified }: Person): boolean =>
  isEmailVerified || providers[provider]?.verifiesAddresses === true;

/**
 * Whoever is not known by the provider's id is known by the address alone, which people may be able to change there.
 *
 * @throws ForbiddenError
 */
const requireVerifiedAddress = (dependencies: Identity, person: Person): void => {
  if (isAddressVerified(dependencies, person)) return;
  const { provider } = person;
  throw new ForbiddenError(
    `${provider} does not say that your address is verified. Verify it there and sign in again. If ${provider} verifies every address, the operator of this service can say so (verifiesAddresses).`,
  );
};

/**
 * Signs a person in who comes from an identity provider. A user of another account than the one that uses the provider is refused,
 * whatever the address. Where a member has a login of the same address, its password is asked for first: `linkLogin`.
 */
export const signOn = (dependencies: Identity): Implementation<typeof operations.signOn> => {
  const { providers, exchange, users, signOns, freeAddress, noteChange, now } = dependencies;

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
      ...(settings?.defaultProjects && { projects: [...settings.defaultProjects] }),
      email,
      emailVerifiedAt: createdAt,
      firstName: firstName || email.slice(0, email.lastIndexOf('@')),
      lastName,
      companyName: null,
      createdAt,
    };
    const fact = { action: 'member.joined', subject: user.userId, details: { email, role, provider } } as const;
    const actor = { userId: user.userId, name: email };
    await signOns.join(user, settings, auditEntry(accountId, { actor, clientAddress }, fact, at));
    return user;
  };

  /** The provider may give a former address to somebody else: mail follows whoever has no login but the provider's. */
  const follow = async (user: User, person: SignedOn, clientAddress: string | undefined): Promise<void> => {
    const { email, provider, username } = person;
    if (email === user.email || !isOfProvider(provider, username) || !isAddressVerified(dependencies, person)) return;
    // Whoever has proven the address keeps it.
    if ((await freeAddress(email, clientAddress))?.user) return;
    await users.verifyEmail(user, email, now().toISOString());
    const changes = { details: { email }, before: { email: user.email } };
    await noteChange({ ...user, email }, 'user.address_changed', clientAddress, changes);
  };

  return async ({ body: { code, codeVerifier }, clientAddress }) => {
    if (Object.keys(providers).length === 0)
      throw new ForbiddenError('This service has no single sign-on. Log in with a password.');
    const person = await exchange(code, codeVerifier);
    const { session, email, provider } = person;
    const account = await accountOf(dependencies, person);
    let user: User | undefined = await users.find(session.userId);
    if (user === undefined) {
      requireVerifiedAddress(dependencies, person);
      const login = await freeAddress(email, clientAddress);
      if (login?.user?.accountId === account.accountId) return { email, linkToken: session.token };
      if (login?.user)
        throw new ForbiddenError(
          'There is a login for your address that is not in the account of your organization. Delete its account or leave it, then sign in again.',
        );
      user = await join(account, person, clientAddress);
    }
    if (user.accountId !== account.accountId)
      throw new ForbiddenError(`You are a member of another account than the one that uses ${provider}.`);
    await follow(user, person, clientAddress);
    await users.noteSignIn(user.userId, now().toISOString());
    return { ...session, accountId: accountKeyFor(user.role, account.accountKey) };
  };
};

/**
 * Connects a member's login with the person of a sign-in, once, for its password and the code of the second factor: whoever can take
 * over an address at the provider must not get the login with it. The session is the password's; the next one begins at the provider.
 */
export const linkLogin = (dependencies: Identity): Implementation<typeof operations.linkLogin> => {
  const { users, readLinkToken, findLogin, directory, sessions, linkIdentity, noteChange, notify, now } = dependencies;
  return async ({ body: { linkToken, password, totp }, clientAddress }) => {
    const person = await readLinkToken(linkToken);
    const { email, provider, username } = person;
    const account = await accountOf(dependencies, person);
    requireVerifiedAddress(dependencies, person);
    const user = (await findLogin(email))?.user;
    const isConnected = (await users.find(person.userId)) !== undefined;
    if (user?.accountId !== account.accountId || !isVerified(user) || isConnected)
      throw new ConflictError('There is no login to connect any more. Sign in again.');
    const { userId, role } = user;
    const session = await sessions.logIn(userId, password, totp);
    await directory.deleteUser(username);
    await linkIdentity(userId, person);
    await noteChange(user, 'user.identity_linked', clientAddress, { details: { provider } });
    await users.noteSignIn(userId, now().toISOString());
    await notify(user, identityLinkedMail(now(), provider));
    return { ...session, accountId: accountKeyFor(role, account.accountKey) };
  };
};
