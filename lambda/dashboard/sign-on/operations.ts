import * as z from 'zod/mini';
import { joiningRoles } from '../../domain/accounts/sign-on.ts';
import { component, inGroup, ok } from '../../http/operation.ts';
import { described, emailSchema } from '../../http/parameters.ts';
import { PROOF_RULE, proof } from '../auth/confirm-identity.ts';
import { PER_CLIENT, passwordSchema, sessionSchema, totpSchema } from '../auth/members.ts';
import { memberProjects } from '../keys/member-projects.ts';

const operation = inGroup('Authentication');
const rateLimits = { perClient: { requests: 100, minutes: 5 } } as const;

export const findSignOn = operation('findSignOn', 'GET /auth/sign-on', {
  summary: 'Find the single sign-on of an e-mail address',
  description:
    'The response depends on the domain of the address alone. To sign in, open the URL with `state`, `code_challenge` and `code_challenge_method=S256` (RFC 7636) added, and the challenge again as `nonce`, which is checked. The identity provider leads back to the dashboard with a code for POST /auth/sign-on.',
  access: 'public',
  rateLimits,
  query: z.strictObject({ email: emailSchema }),
  success: ok('Where to sign in.', {
    authorizeUrl: described(
      z.nullable(z.url()),
      'Null if no identity provider is set up for the domain of this address.',
    ),
  }),
});

const linkSchema = component('SignOnLink', {
  email: described(z.string(), 'The login whose password is to be sent.'),
  linkToken: described(z.string(), 'Proves the sign-in to POST /auth/sign-on/link, for an hour. Keep it secret.'),
});

export const signOn = operation('signOn', 'POST /auth/sign-on', {
  audits: ['member.joined', 'user.address_changed', 'user.signed_in'],
  summary: 'Finish a single sign-on',
  description:
    'Whoever signs in for the first time becomes a member of the account that uses the identity provider, with its default role, if the provider calls the address verified. Where a member has a login of the same address, the response is a `linkToken` instead of a session: POST /auth/sign-on/link connects the two. An address that changed at the provider changes here, unless another login has proven it.',
  access: 'public',
  rateLimits,
  body: z.strictObject({
    code: z.string().check(z.minLength(1), z.maxLength(2048)),
    codeVerifier: z.string().check(z.minLength(43), z.maxLength(128)),
  }),
  success: ok('Signed in, or a login to connect.', z.union([sessionSchema, linkSchema])),
  errors: ['UNAUTHORIZED', 'CONFLICT'],
});

export const linkLogin = operation('linkLogin', 'POST /auth/sign-on/link', {
  audits: ['user.identity_linked', 'user.signed_in'],
  summary: "Connect a member's login with an identity provider",
  description:
    'Once for each login, with its password, and the code of the second factor where it is on. The member gets a mail.',
  access: 'public',
  rateLimits: { perClient: PER_CLIENT },
  body: z.strictObject({
    linkToken: z.string().check(z.minLength(1), z.maxLength(8192)),
    password: passwordSchema,
    totp: z.optional(totpSchema),
  }),
  success: ok('Connected, and signed in.', sessionSchema),
  errors: ['UNAUTHORIZED', 'INVALID_CREDENTIALS', 'TOTP_REQUIRED', 'CONFLICT'],
});

const settings = {
  defaultRole: described(z.enum(joiningRoles), 'Role of people who sign in for the first time.'),
  defaultProjects: memberProjects,
  isRequired: described(
    z.boolean(),
    'Members cannot use passwords, and sessions that began with one end. The owner still can, so that an outage of the identity provider locks nobody out for good.',
  ),
};

const settingsSchema = component('SignOnSettings', {
  provider: described(z.nullable(z.string()), 'Null if the account does not use single sign-on.'),
  domains: described(z.array(z.string()), 'Domains of the addresses that the identity provider vouches for.'),
  available: described(z.nullable(z.string()), 'The identity provider for your own address. Null if there is none.'),
  ...settings,
});

const settingsOperation = inGroup('Single sign-on');

export const readSignOnSettings = settingsOperation('readSignOnSettings', 'GET /sign-on', {
  summary: 'Read how members sign in by an identity provider',
  permission: 'account:read',
  success: ok('The settings.', settingsSchema),
});

export const changeSignOnSettings = settingsOperation('changeSignOnSettings', 'PATCH /sign-on', {
  audits: ['settings.changed'],
  summary: 'Change how members sign in by an identity provider',
  description: `The operator sets identity providers up, each with the domains of its addresses. An account can use the one for the domain of its owner, whose address must be verified. A provider belongs to one account. ${PROOF_RULE} The owner gets a mail.`,
  permission: 'sign-on:write',
  rateLimits: { perAccount: { requests: 10, minutes: 15 } },
  body: z
    .partial(
      z.strictObject({
        provider: z.nullable(z.string().check(z.minLength(1), z.maxLength(32))),
        ...settings,
        ...proof,
      }),
    )
    .check(
      z.refine(({ password: _, totp: _code, ...changes }) => Object.keys(changes).length > 0, 'must change something'),
    ),
  success: ok('The settings as they are now.', settingsSchema),
  errors: ['INVALID_CREDENTIALS', 'TOTP_REQUIRED', 'CONFLICT'],
});
