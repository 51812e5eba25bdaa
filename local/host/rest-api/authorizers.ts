import { CognitoJwtVerifier } from 'aws-jwt-verify';
import { JwtBaseError } from 'aws-jwt-verify/error';
import type { Jwks } from 'aws-jwt-verify/jwk';
import { z } from 'zod';
import { type App, definitions } from '../template/definitions.ts';
import type { Claims } from './proxy-event.ts';
import type { Route } from './routes.ts';

const authorizerSchema = z.object({
  Type: z.string(),
  ProviderARNs: z.array(z.string()).default([]),
  IdentitySource: z.string().default('method.request.header.Authorization'),
});

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
  app: App,
  readJwks: (userPoolId: string) => Promise<Jwks>,
): Promise<Authorize> => {
  const authorizers = new Map<string, { readonly headerName: string; verify(token: string): Promise<object> }>();
  for (const { ref, properties } of definitions(app, authorizerSchema, 'AWS::ApiGateway::Authorizer')) {
    const userPoolId = properties.ProviderARNs[0]?.split('userpool/')[1];
    if (properties.Type !== 'COGNITO_USER_POOLS' || !userPoolId) continue;
    // API Gateway takes the ID token of any client of the pool.
    const verifier = CognitoJwtVerifier.create({ userPoolId, clientId: null, tokenUse: 'id' });
    verifier.cacheJwks(await readJwks(userPoolId));
    authorizers.set(ref, {
      headerName: properties.IdentitySource.split('.').at(-1) ?? 'Authorization',
      verify: (token) => verifier.verify(token),
    });
  }

  return async (route, header) => {
    if (route.authorizationType === 'NONE') return undefined;
    const authorizer = authorizers.get(route.authorizerId ?? '');
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
