import { hash } from 'node:crypto';
import { auditEntry } from '../../data/accounts/audit-log.ts';
import { checkMember } from '../../data/accounts/users.ts';
import { apiTokenEmail } from '../../domain/accounts/issued-secret.ts';
import { clientIdOf, clientWith, mayReturnTo } from '../../domain/accounts/oauth-client.ts';
import { DAY_MS, MINUTE_MS } from '../../domain/calendar/units.ts';
import { invalid } from '../../domain/errors.ts';
import { mcpUrl } from '../../http/mcp-http.ts';
import { OAuthError } from '../../http/oauth-error.ts';
import type { Implementations, Input } from '../../http/operation.ts';
import type { Identity } from '../auth/open-identity.ts';
import { planToken } from './manage-tokens.ts';
import type * as operations from './operations.ts';

const CODE_MS = 10 * MINUTE_MS;

const invalidGrant = () =>
  new OAuthError('invalid_grant', 'The code is wrong, used or expired, or was issued to another client. Ask again.');

/** Hands out the token that a code stands for, once, to whoever knows what the code was asked for with (PKCE). */
export const redeemCode =
  ({ tokens, newApiToken, now }: Identity) =>
  async ({ body, clientAddress }: Pick<Input<typeof operations.issueJwt>, 'body' | 'clientAddress'>) => {
    const { code = '', code_verifier: verifier = '', client_id: clientId, redirect_uri: redirectUri } = body;
    const at = now();
    const pending = await tokens.pending(code);
    const { grant } = pending ?? {};
    if (
      pending === undefined ||
      grant === undefined ||
      at.toISOString() >= pending.validUntil ||
      clientId !== grant.clientId ||
      (redirectUri ?? grant.redirectUri) !== grant.redirectUri ||
      hash('sha256', verifier, 'base64url') !== grant.codeChallenge
    )
      throw invalidGrant();
    const token = newApiToken();
    const fact = { action: 'token.exchanged', subject: pending.tokenId } as const;
    const audit = auditEntry(pending.accountId, { actor: pending, clientAddress }, fact, at);
    if (!(await tokens.redeem(pending, grant, { code, token }, audit))) throw invalidGrant();
    return {
      access_token: token,
      token_type: 'Bearer' as const,
      expires_in: Math.floor((Date.parse(grant.validUntil) - at.getTime()) / 1_000),
    };
  };

export const connectClients = (
  identity: Identity,
): Implementations<
  typeof operations,
  'readProtectedResource' | 'readAuthorizationServer' | 'registerClient' | 'authorizeClient'
> => ({
  readProtectedResource: async ({ origin = '' }) => ({
    resource: mcpUrl(origin),
    authorization_servers: [origin],
    bearer_methods_supported: ['header'],
  }),

  readAuthorizationServer: async ({ origin = '' }) => ({
    issuer: origin,
    authorization_endpoint: `${identity.dashboardUrl}/authorize`,
    token_endpoint: `${origin}/api/auth/token`,
    registration_endpoint: `${origin}/api/auth/clients`,
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'client_credentials'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    authorization_response_iss_parameter_supported: true,
  }),

  registerClient: async ({ body: { client_name: name, redirect_uris: redirectUris } }) => ({
    client_id: clientIdOf({ name, redirectUris }),
    client_name: name,
    redirect_uris: redirectUris,
    grant_types: ['authorization_code'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  }),

  /**
   * Promises a program an API token. Until the program fetches it, a code is in its place in the table. It has no user in the user pool, so
   * that it is never exchanged for a JWT: it reads.
   */
  authorizeClient: async (input) => {
    const { caller, origin = '', body } = input;
    const { clientId, redirectUri, codeChallenge, state, resource, role, projects, expiresInDays } = body;
    const client = clientWith(clientId);
    if (client === undefined || !mayReturnTo(client, redirectUri))
      throw invalid('redirectUri', 'is not an address that the client registered');
    // A server that asks for tokens of another one gets none.
    if (resource !== mcpUrl(origin)) throw invalid('resource', `must be ${mcpUrl(origin)}`);
    const code = identity.newCode();
    const returnTo = new URL(redirectUri);
    const asked = { name: client.name, role, projects, secret: code, lastsMs: CODE_MS, client: returnTo.host };
    const { token, audit } = await planToken(identity, input, asked);
    const validUntil = new Date(Date.parse(token.createdAt) + expiresInDays * DAY_MS).toISOString();
    const grant = { clientId, redirectUri, codeChallenge, validUntil };
    const { tokenId } = token;
    const pending = { ...token, userId: tokenId, grant };
    const isStill = checkMember(token.accountId, caller);
    await identity.tokens.create(pending, apiTokenEmail(tokenId), audit, isStill);
    for (const [name, value] of Object.entries({ code, state, iss: origin }))
      if (value !== undefined) returnTo.searchParams.set(name, value);
    return { redirectTo: returnTo.href };
  },
});
