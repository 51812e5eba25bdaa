import * as z from 'zod/mini';
import { inGroup } from '../../http/operation.ts';
import { emailSchema, name } from '../../http/parameters.ts';
import { credentials, nameSchema, newPasswordSchema, PER_CLIENT, passwordSchema, totpSchema } from './members.ts';
import { sessionSchema } from './session-schema.ts';

const operation = inGroup('Authentication');

/** Forms send an empty text where nobody names a company. */
const companyNameSchema = name(100, 0);
const refreshTokenBody = z.strictObject({ refreshToken: z.string().check(z.minLength(1), z.maxLength(8192)) });

export const register = operation('register', 'POST /auth/register', {
  audits: ['account.registered'],
  access: 'public',
  summary: 'Register an account and its first user',
  description:
    'Creates the account, its first service key and its user in one step. If anything fails, nothing is created.',
  rateLimits: { perClient: { requests: 100, minutes: 60 }, perEmail: { requests: 5, minutes: 60 } },
  body: z.strictObject({
    email: emailSchema,
    password: newPasswordSchema,
    firstName: nameSchema,
    lastName: nameSchema,
    companyName: z.optional(companyNameSchema),
  }),
  success: { status: 201, description: 'Registered and logged in.', schema: sessionSchema },
  errors: ['EMAIL_TAKEN', 'CONFLICT', 'REGISTRATION_CLOSED'],
});

export const logIn = operation('logIn', 'POST /auth/login', {
  audits: ['user.signed_in', 'user.sign_in_failed'],
  access: 'public',
  summary: 'Log in',
  rateLimits: { perClient: { requests: 100, minutes: 5 }, perEmail: { requests: 20, minutes: 15 } },
  description:
    'With a second factor, `totp` is the code that the authenticator app shows. Without it the response is 401 TOTP_REQUIRED: log in again with it. An account can require a second factor: the response is then 403 TOTP_SETUP_REQUIRED until POST /auth/totp has set one up.',
  body: z.strictObject(credentials),
  success: { status: 200, description: 'Logged in.', schema: sessionSchema },
  errors: ['INVALID_CREDENTIALS', 'TOTP_REQUIRED', 'TOTP_SETUP_REQUIRED'],
});

export const refresh = operation('refresh', 'POST /auth/refresh', {
  audits: 'Goes on with a session; its begin has an entry.',
  access: 'public',
  summary: 'Get a new token',
  body: refreshTokenBody,
  success: { status: 200, description: 'A new token. The refresh token may also be new.', schema: sessionSchema },
  errors: ['UNAUTHORIZED'],
});

export const logOut = operation('logOut', 'POST /auth/logout', {
  audits: 'Ends a session, which every client may at any time.',
  access: 'public',
  summary: 'Log out',
  description:
    'Ends the session: its refresh token is rejected from then on. Tokens issued with it stay valid until they expire, for up to one hour. The response is the same for an invalid refresh token.',
  body: refreshTokenBody,
  success: { status: 204, description: 'The session has ended.' },
});

export const acceptInvitation = operation('acceptInvitation', 'POST /auth/accept-invitation', {
  audits: ['invitation.accepted'],
  access: 'public',
  summary: 'Accept an invitation to an account',
  description:
    'With the token of the link in the mail. An address without a login gets one with this password, which follows the rules for new ones. An address with a login keeps it: send its password, and the code of the second factor where it is on. A login that never proved the address loses it. A user belongs to one account.',
  rateLimits: { perClient: PER_CLIENT },
  body: z.strictObject({
    token: z.string().check(z.minLength(1), z.maxLength(200)),
    password: passwordSchema,
    totp: z.optional(totpSchema),
    firstName: nameSchema,
    lastName: nameSchema,
  }),
  success: { status: 201, description: 'A member, and logged in.', schema: sessionSchema },
  errors: [
    'INVALID_CREDENTIALS',
    'TOTP_REQUIRED',
    'NOT_FOUND',
    'CONFLICT',
    'EMAIL_TAKEN',
    'REGISTRATION_CLOSED',
    'TOTP_SETUP_REQUIRED',
  ],
});
