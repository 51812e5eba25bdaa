import * as z from 'zod/mini';
import { roles } from '../../domain/accounts/permissions.ts';
import { inGroup } from '../../http/operation.ts';
import { idParams, name } from '../../http/parameters.ts';
import { memberProjects } from '../keys/member-projects.ts';

const DEFAULT_DAYS = 365;
const MAX_DAYS = 3_650;

/** A developer's keys are a person's. */
const role = z.enum(roles.filter((each) => each !== 'owner' && each !== 'developer'));

const token = {
  id: z.string().check(z.describe('The client id for POST /auth/token.')),
  name: z.string(),
  maskedToken: z
    .string()
    .check(z.meta({ description: 'First and last characters of the token.', examples: ['sat_4kPz…9fQ2'] })),
  role: z.enum(roles),
  projects: memberProjects,
  createdBy: z.string().check(z.describe('Id of the user who created it.')),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  lastUsedAt: z
    .nullable(z.iso.datetime())
    .check(z.describe('Updated every few minutes. Null if the token was never used.')),
};

const tokenSchema = z.object(token).register(z.globalRegistry, { id: 'ApiToken' });

const operation = inGroup('API tokens');

export const listTokens = operation('listTokens', 'GET /tokens', {
  summary: 'List API tokens, including expired ones',
  permission: 'tokens:read',
  success: { status: 200, description: 'Oldest first.', schema: z.object({ items: z.array(tokenSchema) }) },
});

export const createToken = operation('createToken', 'POST /tokens', {
  audits: ['token.created'],
  summary: 'Create an API token',
  description:
    'A credential for programs. POST /auth/token exchanges it for a JWT, which the whole API accepts; paths below /machine take the token itself. It has the permissions of its role, except those that change members, tokens or logins, or transfer or delete the account. It belongs to the account, not to the user who creates it.',
  permission: 'tokens:write',
  body: z.strictObject({
    name: name(64),
    role: role.check(z.describe('At most your own permissions.')),
    projects: z.optional(memberProjects),
    expiresInDays: z._default(z.int().check(z.minimum(1), z.maximum(MAX_DAYS)), DEFAULT_DAYS),
  }),
  success: {
    status: 201,
    description: 'The new token.',
    schema: z.object({
      ...token,
      token: z.string().check(z.describe('The token itself. Shown only once. Keep it secret.')),
    }),
  },
  errors: ['LIMIT_REACHED'],
});

export const removeToken = operation('removeToken', 'DELETE /tokens/{id}', {
  audits: ['token.revoked'],
  summary: 'Remove an API token',
  description: 'Permanent. The token, and JWTs issued for it, are rejected within 60 seconds.',
  permission: 'tokens:write',
  params: idParams,
  success: { status: 204, description: 'Removed.' },
  errors: ['NOT_FOUND'],
});

const parameter = z.optional(z.string().check(z.maxLength(1024)));

export const issueJwt = operation('issueJwt', 'POST /auth/token', {
  audits: ['token.exchanged'],
  summary: 'Exchange an API token for a JWT (OAuth 2 client credentials)',
  description:
    'Send `grant_type=client_credentials` as a form. The client id is the id of the API token, and the client secret the token itself: in the header, by HTTP Basic, or as `client_id` and `client_secret` in the form. There are no scopes: the role of the token decides. Other parameters are ignored, by RFC 6749.',
  access: 'public',
  rateLimits: { perClient: { requests: 300, minutes: 5 } },
  isOAuth: true,
  body: z.object({ grant_type: parameter, client_id: parameter, client_secret: parameter, scope: parameter }),
  success: {
    status: 200,
    description: 'Send the JWT as Authorization: Bearer <access_token>. There is no refresh token: ask again.',
    schema: z.object({
      access_token: z.string(),
      token_type: z.literal('Bearer'),
      expires_in: z.int().check(z.positive(), z.describe('Lifetime of the JWT in seconds.')),
    }),
  },
});
