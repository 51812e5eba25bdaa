import type { Account } from '../../data/accounts/accounts.ts';
import { auditOf } from '../../data/accounts/audit-log.ts';
import { isVerified, noUser, type User } from '../../data/accounts/users.ts';
import { requireMayGive } from '../../domain/accounts/permissions.ts';
import { providerFor, type SignOn, type SignOnProviders } from '../../domain/accounts/sign-on.ts';
import { invalid } from '../../domain/errors.ts';
import type { Implementations, Input } from '../../http/operation.ts';
import { confirmIdentity } from '../auth/confirm-identity.ts';
import type { Identity } from '../auth/open-identity.ts';
import { requireProjects } from '../keys/member-projects.ts';
import type * as operations from './operations.ts';

type Changes = Input<typeof operations.changeSignOnSettings>['body'];

const read = async (
  { accounts, users }: Identity,
  caller: { readonly accountId: string; readonly userId: string },
): Promise<{ account: Account; user: User }> => {
  const [account, user] = await Promise.all([accounts.find(caller.accountId), users.find(caller.userId)]);
  if (account === undefined || user === undefined) throw noUser();
  return { account, user };
};

const view = (signOn: SignOn | undefined, user: User, providers: SignOnProviders) => ({
  provider: signOn?.provider ?? null,
  domains: [...((signOn && providers[signOn.provider]?.domains) ?? [])],
  available: providerFor(providers, user.email) ?? null,
  defaultRole: signOn?.defaultRole ?? ('viewer' as const),
  defaultProjects: signOn?.defaultProjects ? [...signOn.defaultProjects] : null,
  isRequired: signOn?.requiredSince !== undefined,
});

/** @throws ValidationError if the owner may not choose the provider */
const requireOwnProvider = (provider: string, user: User, providers: SignOnProviders): void => {
  const own = providerFor(providers, user.email);
  if (own !== provider)
    throw invalid(
      'provider',
      own === undefined
        ? 'must be null: no identity provider is set up for the domain of your address'
        : `must be ${own}`,
    );
  if (!isVerified(user)) throw invalid('provider', 'can be chosen once your e-mail address is verified');
};

const detailsOf = (signOn: SignOn | undefined) => ({
  signOn: signOn?.provider ?? 'off',
  ...(signOn && {
    defaultRole: signOn.defaultRole,
    defaultProjects: signOn.defaultProjects?.join(', ') ?? 'all',
    isRequired: String(signOn.requiredSince !== undefined),
  }),
});

const inWords = (details: Readonly<Record<string, string>>): string =>
  Object.entries(details)
    .map((each) => each.join(': '))
    .join(', ');

/** @throws ValidationError */
const changed = (former: SignOn | undefined, changes: Changes, at: Date): SignOn | undefined => {
  const provider = changes.provider === undefined ? former?.provider : changes.provider;
  if (provider == null) {
    if (changes.isRequired) throw invalid('isRequired', 'needs a provider');
    if (changes.provider === undefined) throw invalid('provider', 'is required');
    return undefined;
  }
  // Tokens count whole seconds.
  const since = new Date(Math.floor(at.getTime() / 1000) * 1000).toISOString();
  const isRequired = changes.isRequired ?? former?.requiredSince !== undefined;
  const requiredSince = isRequired ? (former?.requiredSince ?? since) : undefined;
  const defaultProjects = changes.defaultProjects === undefined ? former?.defaultProjects : changes.defaultProjects;
  return {
    provider,
    defaultRole: changes.defaultRole ?? former?.defaultRole ?? 'viewer',
    ...(defaultProjects && { defaultProjects }),
    ...(requiredSince !== undefined && { requiredSince }),
  };
};

export const manageSignOn = (
  identity: Identity,
): Implementations<typeof operations, 'readSignOnSettings' | 'changeSignOnSettings'> => ({
  readSignOnSettings: async ({ caller }) => {
    const { account, user } = await read(identity, caller);
    return view(account.signOn, user, identity.providers);
  },

  changeSignOnSettings: async ({ caller, clientAddress, body }) => {
    const { providers, signOns, now } = identity;
    if (body.defaultRole) requireMayGive(caller.role, body.defaultRole);
    const { account, user } = await read(identity, caller);
    if (body.provider != null) requireOwnProvider(body.provider, user, providers);
    const signOn = changed(account.signOn, body, now());
    const requires = async () =>
      signOn &&
      requireProjects(
        identity.projects,
        caller.accountId,
        signOn.defaultRole,
        signOn.defaultProjects,
        'defaultProjects',
      );
    await confirmIdentity(identity, caller, account, body);
    const [details, before] = [detailsOf(signOn), detailsOf(account.signOn)];
    const audit = auditOf({ caller, clientAddress }, { action: 'settings.changed', details, before }, now());
    await signOns.set(caller.accountId, account.signOn, signOn, { ...audit, requires });
    await identity.mailOwner(account, caller, `It was: ${inWords(before)}. It is now: ${inWords(details)}.`);
    return view(signOn, user, providers);
  },
});
