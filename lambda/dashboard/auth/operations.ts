import * as z from 'zod/mini';
import {
  MAX_PASSWORD_CHARACTERS,
  MIN_PASSWORD_CHARACTERS,
  PASSWORD_PATTERN,
  PASSWORD_RULES,
} from '../../domain/accounts/password-rules.ts';
import { accountStatuses, billingStatuses, planNames } from '../../domain/billing/plans.ts';
import { name } from '../../http/name.ts';
import { operation } from '../../http/operation.ts';

const emailSchema = z
  .string()
  .check(
    z.trim(),
    z.toLowerCase(),
    z.maxLength(254),
    z.email('must be an e-mail address'),
    z.meta({ description: 'Case and surrounding space do not matter.', examples: ['ada@example.com'] }),
  );

/** Only on setting a password: a log-in with one that breaks the rules is simply wrong. */
const newPasswordSchema = z
  .string()
  .check(
    z.minLength(MIN_PASSWORD_CHARACTERS, PASSWORD_RULES),
    z.maxLength(MAX_PASSWORD_CHARACTERS, `At most ${MAX_PASSWORD_CHARACTERS} characters.`),
    z.regex(PASSWORD_PATTERN, PASSWORD_RULES),
    z.meta({ description: PASSWORD_RULES, format: 'password', examples: ['correct horse battery'] }),
  );

const passwordSchema = z
  .string()
  .check(z.minLength(1), z.maxLength(MAX_PASSWORD_CHARACTERS), z.meta({ format: 'password' }));

const nameSchema = name(100);

const sessionSchema = z
  .object({
    accountId: z
      .string()
      .check(z.describe('The account key: send it as X-Service-Key on proxy requests. Keep it secret.')),
    userId: z.string(),
    token: z.string().check(z.describe('JWT: send it as Authorization: Bearer <token>.')),
    refreshToken: z.string().check(z.describe('Gets a new token from POST /auth/refresh. Keep it secret.')),
    expiresIn: z.int().check(z.positive(), z.describe('Seconds the token is valid.')),
  })
  .register(z.globalRegistry, { id: 'Session' });

const group = 'Authentication';

export const register = operation({
  id: 'register',
  method: 'POST',
  path: '/auth/register',
  group,
  summary: 'Register an account and its first user',
  description: 'Makes account, service key and user, or none of them.',
  access: 'public',
  body: z.strictObject({
    email: emailSchema,
    password: newPasswordSchema,
    firstName: nameSchema,
    lastName: nameSchema,
    companyName: z.optional(nameSchema),
  }),
  success: { status: 201, description: 'Registered and logged in.', schema: sessionSchema },
  errors: ['EMAIL_TAKEN', 'CONFLICT'],
});

export const logIn = operation({
  id: 'logIn',
  method: 'POST',
  path: '/auth/login',
  group,
  summary: 'Log in',
  access: 'public',
  body: z.strictObject({ email: emailSchema, password: passwordSchema }),
  success: { status: 200, description: 'Logged in.', schema: sessionSchema },
  errors: ['INVALID_CREDENTIALS'],
});

export const refresh = operation({
  id: 'refresh',
  method: 'POST',
  path: '/auth/refresh',
  group,
  summary: 'Get a new token',
  access: 'public',
  body: z.strictObject({ refreshToken: z.string().check(z.minLength(1), z.maxLength(8192)) }),
  success: { status: 200, description: 'A new token; the refresh token may be a new one too.', schema: sessionSchema },
  errors: ['UNAUTHORIZED'],
});

export const logOut = operation({
  id: 'logOut',
  method: 'POST',
  path: '/auth/logout',
  group,
  summary: 'Log out',
  description:
    'Ends the session: its refresh token is refused from then on. A token got with it stays good until it expires, within the hour. A refresh token that is not, or no longer, valid gets the same response.',
  access: 'public',
  body: z.strictObject({ refreshToken: z.string().check(z.minLength(1), z.maxLength(8192)) }),
  success: { status: 204, description: 'The session is ended.' },
  errors: [],
});

export const forgotPassword = operation({
  id: 'forgotPassword',
  method: 'POST',
  path: '/auth/forgot-password',
  group,
  summary: 'Have a password reset code mailed',
  description: 'The response is the same whether or not there is such a user.',
  access: 'public',
  body: z.strictObject({ email: emailSchema }),
  success: { status: 202, description: 'Taken.', schema: z.object({ message: z.string() }) },
  errors: [],
});

export const resetPassword = operation({
  id: 'resetPassword',
  method: 'POST',
  path: '/auth/reset-password',
  group,
  summary: 'Set a new password with a mailed code',
  access: 'public',
  body: z.strictObject({
    email: emailSchema,
    code: z.string().check(z.trim(), z.minLength(1), z.maxLength(64)),
    newPassword: newPasswordSchema,
  }),
  success: { status: 204, description: 'The new password is in force. Log in with it.' },
  errors: [],
});

export const me = operation({
  id: 'me',
  method: 'GET',
  path: '/auth/me',
  group,
  summary: 'Read the current user and account',
  access: 'handler',
  success: {
    status: 200,
    description: 'Who the token belongs to.',
    schema: z.object({
      user: z.object({
        userId: z.string(),
        email: z.string(),
        firstName: z.string(),
        lastName: z.string(),
        companyName: z.nullable(z.string()),
        createdAt: z.iso.datetime(),
      }),
      account: z.object({
        accountId: z.string(),
        status: z.enum(accountStatuses),
        plan: z.enum(planNames),
        billingStatus: z.enum(billingStatuses),
        createdAt: z.iso.datetime(),
      }),
    }),
  },
  errors: [],
});
