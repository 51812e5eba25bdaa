import { CognitoJwtVerifier } from 'aws-jwt-verify';
import { JwtBaseError } from 'aws-jwt-verify/error';
import type { Jwks } from 'aws-jwt-verify/jwk';
import type { ApiBody } from './definition.ts';
import type { Claims } from './proxy-event.ts';
import type { Route } from './routes.ts';

/** No token, or not one of the pool's. */
export class UnauthorizedError extends Error {
  override readonly name = 'UnauthorizedError';
}

/**
 * Admits a request to a route.
 *
 * @returns the token's claims; undefined where the route is open
 * @throws UnauthorizedError
 */
export type Authorize = (route: Route, header: (name: string) => string | undefined) => Promise<Claims | undefined>;

/** API Gateway passes every claim as text. */
const texts = (payload: object): Claims =>
  Object.fromEntries(
    Object.entries(payload).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  );

/** @param readJwks the public keys of a user pool */
export const cognitoAuthorizers = async (
  { components }: ApiBody,
  readJwks: (userPoolId: string) => Promise<Jwks>,
): Promise<Authorize> => {
  const authorizers = new Map<string, { readonly headerName: string; verify(token: string): Promise<object> }>();
  for (const [id, { name, 'x-amazon-apigateway-authorizer': authorizer }] of Object.entries(
    components.securitySchemes,
  )) {
    const [, userPoolId = ''] = authorizer.providerARNs[0].split('userpool/');
    // API Gateway takes the ID token of any client of the pool.
    const verifier = CognitoJwtVerifier.create({ userPoolId, clientId: null, tokenUse: 'id' });
    verifier.cacheJwks(await readJwks(userPoolId));
    authorizers.set(id, { headerName: name, verify: (token) => verifier.verify(token) });
  }

  return async (route, header) => {
    if (route.authorizer === undefined) return undefined;
    const authorizer = authorizers.get(route.authorizer);
    if (!authorizer) throw new Error(`${route.resourcePath} has an authorizer that cannot run locally.`);
    const token = header(authorizer.headerName)?.replace(/^Bearer /, '');
    if (!token) throw new UnauthorizedError('No token.');
    try {
      return texts(await authorizer.verify(token));
    } catch (error) {
      if (error instanceof JwtBaseError) throw new UnauthorizedError(error.message);
      throw error;
    }
  };
};
