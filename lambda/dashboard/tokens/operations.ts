import * as z from 'zod/mini';
import { redirectPattern } from '../../domain/accounts/oauth-client.ts';
import { roles } from '../../domain/accounts/permissions.ts';
import { RESOURCE_METADATA } from '../../http/mcp-http.ts';
import { component, created, inGroup, ok } from '../../http/operation.ts';
import { described, name, unreadable } from '../../http/parameters.ts';
import { memberProjects } from '../keys/member-projects.ts';

const DEFAULT_DAYS = 365;
const MAX_DAYS = 3_650;

/** A developer's keys are a person's. */
const role = z.enum(roles.filter((each) => each !== 'owner' && each !== 'developer'));

const token = {
  id: described(z.string(), 'The client id for POST /auth/token.'),
  name: z.string(),
  maskedToken: z
    .string()
    .check(z.meta({ description: 'First and last characters of the token.', examples: ['sat_4kPz…9fQ2'] })),
  role: z.enum(roles),
  projects: memberProjects,
  createdBy: described(z.string(), 'Id of the user who created it.'),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  lastUsedAt: described(z.nullable(z.iso.datetime()), 'Updated every few minutes. Null if the token was never used.'),
};

const tokenSchema = component('ApiToken', token);

/** Chosen for a token. */
const given = {
  role: described(role, 'At most your own permissions.'),
  projects: z.optional(memberProjects),
  expiresInDays: z._default(z.int().check(z.minimum(1), z.maximum(MAX_DAYS)), DEFAULT_DAYS),
};

const operation = inGroup('API tokens');

export const listTokens = operation('listTokens', 'GET /tokens', {
  summary: 'List API tokens, including expired ones',
  permission: 'tokens:read',
  success: ok('Oldest first.', { items: z.array(tokenSchema), unreadable }),
});

export const createToken = operation('createToken', 'POST /tokens', {
  audits: ['token.created'],
  summary: 'Create an API token',
  description:
    'A credential for programs. POST /auth/token exchanges it for a JWT, which the whole API accepts; paths below /machine take the token itself. It has the permissions of its role, except those that change members, tokens or logins, or transfer or delete the account. It belongs to the account, not to the user who creates it.',
  permission: 'tokens:write',
  body: z.strictObject({
    name: name(64),
    ...given,
  }),
  success: created(
    'The new token.',
    component('ApiTokenWithSecret', {
      ...token,
      token: described(z.string(), 'The token itself. Shown only once. Keep it secret.'),
    }),
  ),
  errors: ['LIMIT_REACHED', 'CONFLICT'],
});

export const removeToken = operation('removeToken', 'DELETE /tokens/{id}', {
  audits: ['token.revoked'],
  summary: 'Remove an API token',
  description: 'Permanent. The token, and JWTs issued for it, are rejected within 60 seconds.',
  permission: 'tokens:write',
  success: { status: 204, description: 'Removed.' },
});

const MAX_CLIENT_ID = 4_096;

export const readProtectedResource = operation('readProtectedResource', `GET ${RESOURCE_METADATA}`, {
  summary: 'Say who issues tokens for MCP (RFC 9728)',
  description: 'It is also at the same path without `/api`, where clients look for it.',
  access: 'public',
  success: ok('The metadata.', {
    resource: z.url(),
    authorization_servers: z.array(z.url()),
    bearer_methods_supported: z.array(z.string()),
  }),
});

export const readAuthorizationServer = operation(
  'readAuthorizationServer',
  'GET /.well-known/oauth-authorization-server',
  {
    summary: 'Say how a program gets a token (RFC 8414)',
    description: 'It is also at the same path without `/api`, where clients look for it.',
    access: 'public',
    success: ok('The metadata.', {
      issuer: z.url(),
      authorization_endpoint: z.url(),
      token_endpoint: z.url(),
      registration_endpoint: z.url(),
      response_types_supported: z.array(z.string()),
      grant_types_supported: z.array(z.string()),
      code_challenge_methods_supported: z.array(z.string()),
      token_endpoint_auth_methods_supported: z.array(z.string()),
      authorization_response_iss_parameter_supported: z.literal(true),
    }),
  },
);

const REDIRECT = 'must be a URL with https, or http on this machine';

// A URL as browsers read it, which is more than the format "uri" of JSON Schema.
const redirectUri = z
  .string()
  .check(z.maxLength(512), z.regex(redirectPattern, REDIRECT), z.refine(URL.canParse, REDIRECT));
const redirectUris = z.array(redirectUri).check(z.minLength(1), z.maxLength(10));

export const registerClient = operation('registerClient', 'POST /auth/clients', {
  audits: 'Nothing is stored.',
  summary: 'Register a program that asks people for a token (RFC 7591)',
  description:
    'The client id is the registration itself. Clients are public: PKCE takes the place of a secret. Other members are ignored, by RFC 7591.',
  access: 'public',
  body: z.looseObject({ client_name: z._default(name(64), 'MCP client'), redirect_uris: redirectUris }),
  success: created('The client.', {
    client_id: z.string(),
    client_name: z.string(),
    redirect_uris: z.array(z.string()),
    grant_types: z.array(z.string()),
    response_types: z.array(z.string()),
    token_endpoint_auth_method: z.literal('none'),
  }),
});

export const authorizeClient = operation('authorizeClient', 'POST /tokens/authorizations', {
  audits: ['token.created'],
  summary: 'Promise a program an API token (OAuth 2 authorization code)',
  description:
    'What the page `/authorize` sends when a person agrees. The program exchanges the code within ten minutes for the token (POST /auth/token), which reads by MCP and below `/machine`, and is never exchanged for a JWT.',
  permission: 'tokens:write',
  body: z.strictObject({
    clientId: z.string().check(z.maxLength(MAX_CLIENT_ID)),
    redirectUri: z.string().check(z.maxLength(512)),
    codeChallenge: described(
      z.string().check(z.regex(/^[\w-]{43}$/, 'must be a challenge of S256 (RFC 7636)')),
      'SHA-256, the method S256.',
    ),
    state: z.optional(z.string().check(z.maxLength(2_048))),
    resource: described(z.string().check(z.maxLength(512)), 'The URL of MCP (RFC 8707).'),
    ...given,
  }),
  success: created('Where the browser goes next, with the code.', { redirectTo: z.string() }),
  errors: ['LIMIT_REACHED', 'CONFLICT'],
});

const parameter = z.optional(z.string().check(z.maxLength(MAX_CLIENT_ID)));

export const issueJwt = operation('issueJwt', 'POST /auth/token', {
  audits: ['token.exchanged'],
  summary: 'Exchange an API token for a JWT, or a code for an API token (OAuth 2)',
  description:
    'Send `grant_type=client_credentials` as a form. The client id is the id of the API token, and the client secret the token itself: in the header, by HTTP Basic, or as `client_id` and `client_secret` in the form. There are no scopes: the role of the token decides. A program that a person let in sends `grant_type=authorization_code` with `code`, `client_id` and `code_verifier`. Other parameters are ignored, by RFC 6749.',
  access: 'public',
  rateLimits: { perClient: { requests: 300, minutes: 5 } },
  isOAuth: true,
  body: z.object({
    grant_type: parameter,
    client_id: parameter,
    client_secret: parameter,
    scope: parameter,
    code: parameter,
    code_verifier: parameter,
    redirect_uri: parameter,
  }),
  success: ok('Send it as Authorization: Bearer <access_token>. There is no refresh token: ask again.', {
    access_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: described(z.int().check(z.positive()), 'Lifetime in seconds.'),
  }),
});
