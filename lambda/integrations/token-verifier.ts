import { CognitoJwtVerifier } from 'aws-jwt-verify';
import { FetchError, JwtBaseError } from 'aws-jwt-verify/error';
import { SimpleJwksCache } from 'aws-jwt-verify/jwk';
import * as z from 'zod/mini';
import { UnauthenticatedError, UnavailableError } from '../domain/errors.ts';

const claimsSchema = z.object({
  sub: z.string().check(z.minLength(1)),
});

/** Gives the id of the user a token was made for. */
export type VerifyToken = (authorization: string | undefined) => Promise<string>;

const unauthenticated = (message: string) => new UnauthenticatedError(message);

const refused = () => unauthenticated('The token is invalid or has expired. Log in again, or use POST /auth/refresh.');

/**
 * Checks the `Authorization` header's bearer token as the API's authorizer does: signature, issuer, expiry, client, and that
 * it is an ID token.
 *
 * @param jwksUri where the pool's public keys are, when not at the issuer
 * @throws UnauthenticatedError
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
    if (token === undefined)
      throw unauthenticated('Send Authorization: Bearer <token> with a token from POST /auth/login.');
    const payload = await verifier.verify(token).catch((error: unknown) => {
      if (error instanceof FetchError)
        throw new UnavailableError('The token could not be checked at the moment. Try again.');
      throw error instanceof JwtBaseError ? refused() : error;
    });
    const { data: claims } = claimsSchema.safeParse(payload);
    if (claims === undefined) throw refused();
    return claims.sub;
  };
};
