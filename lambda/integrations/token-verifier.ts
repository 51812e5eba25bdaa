import { CognitoJwtVerifier } from 'aws-jwt-verify';
import { FetchError, JwtBaseError } from 'aws-jwt-verify/error';
import { SimpleJwksCache } from 'aws-jwt-verify/jwk';
import * as z from 'zod/mini';
import { UnauthenticatedError, UnavailableError } from '../domain/errors.ts';

const claimsSchema = z.object({
  sub: z.string().check(z.minLength(1)),
  auth_time: z.int(),
});

/** The user of a token, and when they signed in (seconds since 1970). */
interface TokenUser {
  readonly userId: string;
  readonly authTime: number;
}

/** Verifies a token and returns its user. */
export type VerifyToken = (authorization: string | undefined) => Promise<TokenUser>;

const invalidToken = () =>
  new UnauthenticatedError('The token is invalid or has expired. Log in again, or use POST /auth/refresh.');

/**
 * Verifies the bearer token of the `Authorization` header as the API's authorizer does: signature, issuer, expiry, client and
 * token use (ID token).
 *
 * @param jwksUri URL of the pool's public keys, if they are not at the issuer
 * @throws UnauthenticatedError; UnavailableError if the public keys cannot be read
 */
export const tokenVerifier = (userPoolId: string, clientId: string, jwksUri?: string): VerifyToken => {
  const verifier = CognitoJwtVerifier.create(
    { userPoolId, clientId, tokenUse: 'id' },
    jwksUri === undefined
      ? undefined
      : { jwksCache: new SimpleJwksCache({ fetcher: { fetch: async () => (await fetch(jwksUri)).arrayBuffer() } }) },
  );
  return async (authorization) => {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) throw new UnauthenticatedError();
    const payload = await verifier.verify(token).catch((error: unknown) => {
      if (error instanceof FetchError)
        throw new UnavailableError('The token could not be verified at the moment. Try again.');
      throw error instanceof JwtBaseError ? invalidToken() : error;
    });
    const { data: claims } = claimsSchema.safeParse(payload);
    if (claims === undefined) throw invalidToken();
    return { userId: claims.sub, authTime: claims.auth_time };
  };
};
