import { createHash } from 'node:crypto';
import {
  AdminLinkProviderForUserCommand,
  type CognitoIdentityProviderClient,
} from '@aws-sdk/client-cognito-identity-provider';
import { decomposeUnverifiedJwt } from 'aws-jwt-verify/jwt';
import * as z from 'zod/mini';
import { UnauthenticatedError, UnavailableError } from '../domain/errors.ts';
import type { VerifyToken } from './token-verifier.ts';
import type { Session } from './user-sessions.ts';

/** A person at an identity provider, as the user pool says. */
export interface Person {
  /** Name of the provider in the user pool. */
  readonly provider: string;
  /** Id of the person at the provider. */
  readonly subject: string;
  /** Username in the user pool: for a user that the sign-in made, `{provider}_{subject}`. */
  readonly username: string;
  /** Lower case. */
  readonly email: string;
  /** The provider says so. False where it says nothing: Cognito then has `false`, too. */
  readonly isEmailVerified: boolean;
  readonly firstName: string;
  readonly lastName: string;
}

/** Who has just signed in. */
export interface SignedOn extends Person {
  readonly session: Session;
}

const tokensSchema = z.object({
  id_token: z.string(),
  refresh_token: z.string(),
  expires_in: z._default(z.int(), 3600),
});

const name = z._default(z.string(), '');

const claimsSchema = z.object({
  sub: z.string(),
  auth_time: z.int(),
  nonce: z.optional(z.string()),
  email: z.string().check(z.toLowerCase(), z.email()),
  /** A boolean, and a text where the provider sends one. */
  email_verified: z.optional(z.union([z.boolean(), z.string()])),
  given_name: name,
  family_name: name,
  'cognito:username': z.string(),
  identities: z.array(z.object({ providerName: z.string(), userId: z.string() })).check(z.minLength(1)),
});

export interface SignOnEndpoint {
  /** Origin of the user pool's domain, such as `https://acme.auth.eu-central-1.amazoncognito.com`. */
  readonly origin: string;
  /** The dashboard's page that gets the code. */
  readonly redirectUri: string;
  readonly clientId: string;
  readonly clientSecret: () => Promise<string>;
}

const TIMEOUT_MS = 10_000;

/** The page that begins a sign-in at a provider. The caller adds `state`, `code_challenge`, `code_challenge_method`, and the challenge as `nonce`. */
export const authorizeUrl = (
  { origin, redirectUri, clientId }: Pick<SignOnEndpoint, 'origin' | 'redirectUri' | 'clientId'>,
  provider: string,
): string =>
  `${origin}/oauth2/authorize?${new URLSearchParams({
    identity_provider: provider,
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: 'openid email profile',
  })}`;

/** @throws UnauthenticatedError for a token of a user who did not come from an identity provider */
const personOf = (
  idToken: string,
): Person & Pick<Session, 'userId' | 'authTime'> & { readonly nonce?: string | undefined } => {
  const { data: claims } = claimsSchema.safeParse(decomposeUnverifiedJwt(idToken).payload);
  const identity = claims?.identities[0];
  if (claims === undefined || identity === undefined)
    throw new UnauthenticatedError('This is no sign-in at an identity provider. Begin again.');
  return {
    userId: claims.sub,
    authTime: claims.auth_time,
    nonce: claims.nonce,
    provider: identity.providerName,
    subject: identity.userId,
    username: claims['cognito:username'],
    email: claims.email,
    isEmailVerified: String(claims.email_verified) === 'true',
    firstName: claims.given_name,
    lastName: claims.family_name,
  };
};

/** Reads the ID token of a sign-in that was exchanged before, and comes back from a browser. @throws UnauthenticatedError, UnavailableError */
export const linkTokenReader =
  (verify: VerifyToken) =>
  async (token: string): Promise<Person & Pick<Session, 'userId'>> => {
    await verify(`Bearer ${token}`);
    return personOf(token);
  };

/**
 * Exchanges the code of a sign-in for tokens. They come from the user pool over TLS, so their signature needs no check (OpenID Connect
 * Core 3.1.3.7); the API's authorizer checks it with each request.
 *
 * @throws UnauthenticatedError if the code is wrong, used or expired, or is not for the verifier; UnavailableError
 * @see https://docs.aws.amazon.com/cognito/latest/developerguide/token-endpoint.html
 */
export const codeExchange =
  ({ origin, redirectUri, clientId, clientSecret }: SignOnEndpoint) =>
  async (code: string, codeVerifier: string): Promise<SignedOn> => {
    const secret = await clientSecret();
    const response = await fetch(`${origin}/oauth2/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}` },
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: clientId,
        redirect_uri: redirectUri,
        code,
        code_verifier: codeVerifier,
      }),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((cause: unknown) => {
      throw new UnavailableError('The sign-in could not be finished at the moment. Try again.', { cause });
    });
    if (response.status === 400)
      throw new UnauthenticatedError('The sign-in was not finished in time, or was finished already. Begin again.');
    if (!response.ok) throw new Error(`The user pool's token endpoint responded with ${response.status}.`);
    const tokens = tokensSchema.parse(await response.json());
    const { userId, authTime, nonce, ...person } = personOf(tokens.id_token);
    // Whoever sent a nonce sent the challenge, which belongs to this verifier alone.
    if (nonce !== undefined && nonce !== createHash('sha256').update(codeVerifier).digest('base64url'))
      throw new UnauthenticatedError('This sign-in was begun on another page. Begin again.');
    return {
      ...person,
      session: {
        userId,
        authTime,
        token: tokens.id_token,
        refreshToken: tokens.refresh_token,
        expiresIn: tokens.expires_in,
      },
    };
  };

/**
 * Connects a person of an identity provider with a user: from the next sign-in on, tokens are that user's. The user that a sign-in of the
 * person made must be deleted before, because Cognito connects only people whom it does not know.
 *
 * @see https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference/API_AdminLinkProviderForUser.html
 */
export const identityLinker =
  (cognito: CognitoIdentityProviderClient, userPoolId: string) =>
  async (userId: string, { provider, subject }: Pick<Person, 'provider' | 'subject'>): Promise<void> => {
    await cognito.send(
      new AdminLinkProviderForUserCommand({
        UserPoolId: userPoolId,
        DestinationUser: { ProviderName: 'Cognito', ProviderAttributeValue: userId },
        SourceUser: {
          ProviderName: provider,
          ProviderAttributeName: 'Cognito_Subject',
          ProviderAttributeValue: subject,
        },
      }),
    );
  };

export type LinkIdentity = ReturnType<typeof identityLinker>;
