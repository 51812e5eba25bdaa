import * as z from 'zod/mini';
import { MINUTE_MS } from '../calendar/units.ts';
import type { Role } from './permissions.ts';

/** Identity providers of the stage, by name. */
export type SignOnProviders = Readonly<
  Record<
    string,
    {
      /** Domains of the mail addresses that it vouches for. */
      readonly domains: readonly string[];
      /** The operator says that it verifies every address. Otherwise the claim `email_verified` has to say so. */
      readonly verifiesAddresses: boolean;
    }
  >
>;

/** Page of the dashboard that an identity provider leads back to. */
export const SIGN_ON_CALLBACK = '/sign-in/callback';

/** Roles of people who join by signing in. */
export const joiningRoles = ['admin', 'member', 'viewer', 'billing', 'developer'] as const satisfies readonly Role[];

/** How the members of an account sign in by an identity provider. */
export const signOnSchema = z.object({
  provider: z.string(),
  /** People who sign in for the first time get it. */
  defaultRole: z.enum(joiningRoles),
  /** Ids of the projects that they are limited to. Undefined for all. */
  defaultProjects: z.optional(z.readonly(z.array(z.string()))),
  /** ISO 8601 UTC: passwords are refused since then. Undefined: they are not. */
  requiredSince: z.optional(z.string()),
});

export type SignOn = z.infer<typeof signOnSchema>;

/** The provider that vouches for a mail address. @param email in lower case */
export const providerFor = (providers: SignOnProviders, email: string): string | undefined => {
  const domain = email.slice(email.lastIndexOf('@') + 1);
  return Object.keys(providers).find((name) => providers[name]?.domains.includes(domain));
};

/**
 * True if an account refuses passwords. Its owner always may use one: an account must not be locked out together with its identity
 * provider.
 */
export const refusesPassword = (signOn: SignOn | undefined, role: Role): boolean =>
  signOn?.requiredSince !== undefined && role !== 'owner';

/**
 * True if a session has to end because it began with a password and passwords are refused now. Since they are refused, every session
 * begins at the provider.
 *
 * @param signedInAtSeconds since 1970
 */
export const endsSession = (signOn: SignOn | undefined, role: Role, signedInAtSeconds: number): boolean =>
  refusesPassword(signOn, role) && signedInAtSeconds * 1000 < Date.parse(signOn?.requiredSince ?? '');

/** For this long a sign-in at an identity provider proves who somebody is. */
const RECENT_SIGN_IN_MS = 10 * MINUTE_MS;

/** Facts about a caller who wants to change what protects the account. */
interface Proof {
  /** Undefined for a person. */
  readonly tokenId?: string | undefined;
  /** The caller has just sent the right password, and the code of the second factor where it is on. */
  readonly hasSentPassword: boolean;
  /** The caller's name in the user pool. */
  readonly username?: string | undefined;
  /** When the caller signed in, in seconds since 1970. */
  readonly authTime?: number | undefined;
}

/** True if somebody has no login but the provider's, and so no password: the user pool names them after it. */
export const isOfProvider = (provider: string, username = ''): boolean =>
  username.toLowerCase().startsWith(`${provider}_`.toLowerCase());

/**
 * True if a caller may change what protects an account, or delete it. A session alone is not enough, because it may be stolen, and an
 * API token never is. People who sign in at an identity provider have no password: for them a recent sign-in counts.
 *
 * @param signOn of the account
 */
export const mayLower = (
  { tokenId, username, hasSentPassword, authTime = 0 }: Proof,
  signOn: SignOn | undefined,
  now: Date,
): boolean =>
  tokenId === undefined &&
  (hasSentPassword ||
    (signOn !== undefined &&
      isOfProvider(signOn.provider, username) &&
      now.getTime() - authTime * 1_000 <= RECENT_SIGN_IN_MS));
