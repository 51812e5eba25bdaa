import * as z from 'zod/mini';
import {
  MAX_PASSWORD_CHARACTERS,
  MIN_PASSWORD_CHARACTERS,
  PASSWORD_PATTERN,
  PASSWORD_RULES,
} from '../../domain/accounts/password-rules.ts';
import { permissions, roles } from '../../domain/accounts/permissions.ts';
import { accountStatuses, billingStatuses, planNames } from '../../domain/billing/plans.ts';
import { emailSchema } from '../../http/email.ts';
import { name } from '../../http/name.ts';
import { operation } from '../../http/operation.ts';
import { sessionSchema } from './session-schema.ts';

/** For new passwords only: those of before the rules still log in. */
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

/** From a mail: people copy it with spaces. */
const codeSchema = z.string().check(
  z.trim(),
  z.overwrite((code) => code.replaceAll(/[ -]/g, '')),
  z.minLength(1),
  z.maxLength(64),
);

const nameSchema = name(100);
/** Forms send an empty text where nobody names a company. */
const companyNameSchema = name(100, 0);

const totpSchema = z.string().check(
  z.overwrite((code) => code.replaceAll(/[ -]/g, '')),
  z.regex(/^\d{6}$/, 'must be the six digits that the authenticator app shows'),
  z.meta({ examples: ['123456'] }),
);

const credentials = { email: emailSchema, password: passwordSchema, totp: z.optional(totpSchema) };

const group = 'Authentication';

export const register = operation({
  id: 'register',
  method: 'POST',
  path: '/auth/register',
  group,
  summary: 'Register an account and its first user',
  description:
    'Creates the account, its first service key and its user in one step. If anything fails, nothing is created.',
  access: 'public',
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

export const logIn = operation({
  id: 'logIn',
  method: 'POST',
  path: '/auth/login',
  group,
  summary: 'Log in',
  access: 'public',
  rateLimits: { perClient: { requests: 100, minutes: 5 }, perEmail: { requests: 20, minutes: 15 } },
  description:
    'With a second factor, `totp` is the code that the authenticator app shows. Without it the response is 401 TOTP_REQUIRED: log in again with it. An account can require a second factor: the response is then 403 TOTP_SETUP_REQUIRED until POST /auth/totp has set one up.',
  body: z.strictObject(credentials),
  success: { status: 200, description: 'Logged in.', schema: sessionSchema },
  errors: ['INVALID_CREDENTIALS', 'TOTP_REQUIRED', 'TOTP_SETUP_REQUIRED'],
});

export const refresh = operation({
  id: 'refresh',
  method: 'POST',
  path: '/auth/refresh',
  group,
  summary: 'Get a new token',
  access: 'public',
  body: z.strictObject({ refreshToken: z.string().check(z.minLength(1), z.maxLength(8192)) }),
  success: { status: 200, description: 'A new token. The refresh token may also be new.', schema: sessionSchema },
  errors: ['UNAUTHORIZED'],
});

export const logOut = operation({
  id: 'logOut',
  method: 'POST',
  path: '/auth/logout',
  group,
  summary: 'Log out',
  description:
    'Ends the session: its refresh token is rejected from then on. Tokens issued with it stay valid until they expire, for up to one hour. The response is the same for an invalid refresh token.',
  access: 'public',
  body: z.strictObject({ refreshToken: z.string().check(z.minLength(1), z.maxLength(8192)) }),
  success: { status: 204, description: 'The session has ended.' },
  errors: [],
});

export const forgotPassword = operation({
  id: 'forgotPassword',
  method: 'POST',
  path: '/auth/forgot-password',
  group,
  summary: 'Request a password reset code by e-mail',
  description: 'The response is the same whether or not the user exists.',
  access: 'public',
  rateLimits: { perClient: { requests: 30, minutes: 15 }, perEmail: { requests: 5, minutes: 60 } },
  body: z.strictObject({ email: emailSchema }),
  success: { status: 202, description: 'Accepted.', schema: z.object({ message: z.string() }) },
  errors: [],
});

export const resetPassword = operation({
  id: 'resetPassword',
  method: 'POST',
  path: '/auth/reset-password',
  group,
  summary: 'Set a new password with the code from the e-mail',
  access: 'public',
  rateLimits: { perClient: { requests: 30, minutes: 15 }, perEmail: { requests: 10, minutes: 15 } },
  body: z.strictObject({
    email: emailSchema,
    code: codeSchema,
    newPassword: newPasswordSchema,
  }),
  success: {
    status: 204,
    description: 'The new password is set. All earlier sessions have ended. Log in again, and see GET /auth/review.',
  },
  errors: [],
});

export const acceptInvitation = operation({
  id: 'acceptInvitation',
  method: 'POST',
  path: '/auth/accept-invitation',
  group,
  summary: 'Accept an invitation to an account',
  description:
    'With the token of the link in the mail. An address without a login gets one with this password, which follows the rules for new ones. An address with a login keeps it: send its password. A user belongs to one account.',
  access: 'public',
  rateLimits: { perClient: { requests: 30, minutes: 15 } },
  body: z.strictObject({
    token: z.string().check(z.minLength(1), z.maxLength(200)),
    password: passwordSchema,
    firstName: nameSchema,
    lastName: nameSchema,
  }),
  success: { status: 201, description: 'A member, and logged in.', schema: sessionSchema },
  errors: ['INVALID_CREDENTIALS', 'NOT_FOUND', 'CONFLICT', 'EMAIL_TAKEN', 'REGISTRATION_CLOSED', 'TOTP_SETUP_REQUIRED'],
});

export const sendVerificationCode = operation({
  id: 'sendVerificationCode',
  method: 'POST',
  path: '/auth/verification-codes',
  group,
  summary: 'Mail a code that verifies the e-mail address',
  description:
    'Registration sends the first one. Until the address is verified, it gets no other mail: alerts wait. At most one code a minute, and ten a day. Only the latest works.',
  access: 'authorizer',
  permission: 'self:write',
  success: { status: 202, description: 'The code is on its way.', schema: z.object({ message: z.string() }) },
  errors: ['CONFLICT'],
});

export const verifyEmail = operation({
  id: 'verifyEmail',
  method: 'POST',
  path: '/auth/verify-email',
  group,
  summary: 'Verify the e-mail address with the code from the mail',
  description:
    'A code works once, for 24 hours. After five wrong codes a new one is needed. After POST /auth/change-email the new address takes the place of the old one, and every session ends.',
  access: 'authorizer',
  permission: 'self:write',
  body: z.strictObject({ code: codeSchema }),
  success: { status: 204, description: 'The address is verified.' },
  errors: ['EMAIL_TAKEN'],
});

export const beginTotp = operation({
  id: 'beginTotp',
  method: 'POST',
  path: '/auth/totp',
  group,
  summary: 'Begin to set up a second factor',
  description:
    'Takes e-mail and password instead of a token, as a log-in does. Enter the secret in an authenticator app (TOTP, RFC 6238), and confirm with the code that it shows.',
  access: 'public',
  rateLimits: { perClient: { requests: 30, minutes: 15 }, perEmail: { requests: 10, minutes: 15 } },
  body: z.strictObject({ email: emailSchema, password: passwordSchema }),
  success: {
    status: 200,
    description: 'Log-ins need no code yet. Another request replaces the secret.',
    schema: z.object({
      secret: z.string().check(z.describe('Base32. Keep it secret.')),
      uri: z.string().check(z.describe('The same for an authenticator app, most often as a QR code.')),
    }),
  },
  errors: ['INVALID_CREDENTIALS', 'CONFLICT'],
});

export const confirmTotp = operation({
  id: 'confirmTotp',
  method: 'POST',
  path: '/auth/totp/confirm',
  group,
  summary: 'Turn the second factor on',
  access: 'public',
  rateLimits: { perClient: { requests: 30, minutes: 15 }, perEmail: { requests: 10, minutes: 15 } },
  body: z.strictObject({ email: emailSchema, password: passwordSchema, totp: totpSchema }),
  success: { status: 204, description: 'From now on log-ins need a code.' },
  errors: ['INVALID_CREDENTIALS', 'CONFLICT'],
});

export const removeTotp = operation({
  id: 'removeTotp',
  method: 'POST',
  path: '/auth/totp/remove',
  group,
  summary: 'Turn the second factor off',
  access: 'public',
  rateLimits: { perClient: { requests: 30, minutes: 15 }, perEmail: { requests: 10, minutes: 15 } },
  body: z.strictObject({ email: emailSchema, password: passwordSchema, totp: totpSchema }),
  success: { status: 204, description: 'Log-ins need no code any more.' },
  errors: ['INVALID_CREDENTIALS', 'TOTP_REQUIRED', 'CONFLICT'],
});

const instant = z.iso.datetime();

export const changeName = operation({
  id: 'changeName',
  method: 'PATCH',
  path: '/auth/me',
  group,
  summary: "Change the user's name",
  access: 'authorizer',
  permission: 'self:write',
  body: z.strictObject({ firstName: nameSchema, lastName: nameSchema }),
  success: { status: 204, description: 'Changed.' },
  errors: [],
});

export const changeEmail = operation({
  id: 'changeEmail',
  method: 'POST',
  path: '/auth/change-email',
  group,
  summary: 'Change the e-mail address',
  description:
    'Mails a code to the new address. The old one stays until POST /auth/verify-email takes the code; then every session ends, and both addresses get a notice.',
  access: 'authorizer',
  permission: 'self:write',
  rateLimits: { perClient: { requests: 30, minutes: 15 }, perAccount: { requests: 20, minutes: 15 } },
  body: z.strictObject(credentials),
  success: { status: 202, description: 'The code is on its way.', schema: z.object({ message: z.string() }) },
  errors: ['INVALID_CREDENTIALS', 'TOTP_REQUIRED', 'CONFLICT'],
});

export const changePassword = operation({
  id: 'changePassword',
  method: 'POST',
  path: '/auth/change-password',
  group,
  summary: 'Change the password',
  access: 'authorizer',
  permission: 'self:write',
  rateLimits: { perClient: { requests: 30, minutes: 15 }, perAccount: { requests: 20, minutes: 15 } },
  body: z.strictObject({ password: passwordSchema, newPassword: newPasswordSchema, totp: z.optional(totpSchema) }),
  success: { status: 204, description: 'Changed. Every session has ended, this one, too: log in again.' },
  errors: ['INVALID_CREDENTIALS', 'TOTP_REQUIRED'],
});

export const changeAccount = operation({
  id: 'changeAccount',
  method: 'PATCH',
  path: '/auth/account',
  group,
  summary: 'Change the settings of the account',
  access: 'authorizer',
  permission: 'account:write',
  body: z.strictObject({
    requiresTotp: z
      .boolean()
      .check(z.describe('Members log in with a second factor only. Your own must be set up before.')),
  }),
  success: { status: 204, description: 'Changed.' },
  errors: ['CONFLICT'],
});

export const readReview = operation({
  id: 'readReview',
  method: 'GET',
  path: '/auth/review',
  group,
  summary: 'Keys to review after a password reset',
  description:
    'A reset, and a changed e-mail address, end every session but revoke no key, which would interrupt traffic. Until DELETE /auth/review, this lists active keys made since the last sign-in before it, and at least those of 30 days.',
  access: 'authorizer',
  permission: 'keys:read',
  success: {
    status: 200,
    description: 'Newest first. `since` is null, and there are no keys, if there is nothing to review.',
    schema: z.object({
      since: z.nullable(instant),
      keys: z.array(
        z.object({
          id: z.string(),
          name: z.string(),
          maskedKey: z.string(),
          createdAt: instant,
          lastUsedAt: z.nullable(instant),
        }),
      ),
    }),
  },
  errors: [],
});

export const finishReview = operation({
  id: 'finishReview',
  method: 'DELETE',
  path: '/auth/review',
  group,
  summary: 'Finish the review',
  access: 'authorizer',
  permission: 'self:write',
  success: { status: 204, description: 'There is nothing to review any more.' },
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
    description: 'The user and the account of the token.',
    schema: z.object({
      user: z.object({
        userId: z.string(),
        email: z.string(),
        emailVerified: z
          .boolean()
          .check(z.describe('False until the user enters the code from the mail: see POST /auth/verify-email.')),
        firstName: z.string(),
        lastName: z.string(),
        companyName: z.nullable(z.string()),
        role: z.enum(roles),
        permissions: z.array(z.enum(permissions)).check(z.describe('What the role may do.')),
        createdAt: z.iso.datetime(),
        totpEnabled: z.boolean().check(z.describe('Log-ins need a code of an authenticator app.')),
        reviewSince: z
          .nullable(instant)
          .check(z.describe('After a password reset, until the review is finished: see GET /auth/review.')),
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
