import * as z from 'zod/mini';
import { permissions, roles } from '../../domain/accounts/permissions.ts';
import { accountStatuses, billingStatuses, planNames } from '../../domain/billing/plans.ts';
import { created, inGroup, ok } from '../../http/operation.ts';
import { described, emailSchema, name } from '../../http/parameters.ts';
import { PROOF_RULE, proof } from './confirm-identity.ts';
import {
  codeSchema,
  credentials,
  nameSchema,
  newPasswordSchema,
  PER_CLIENT,
  PER_EMAIL,
  passwordLimits,
  passwordSchema,
  sessionSchema,
  totpSchema,
} from './members.ts';

const operation = inGroup('Authentication');
const instant = z.iso.datetime();
const rateLimits = { perClient: PER_CLIENT, perEmail: PER_EMAIL };

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
  success: created('Registered and logged in.', sessionSchema),
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
  success: ok('Logged in.', sessionSchema),
  errors: ['INVALID_CREDENTIALS', 'TOTP_REQUIRED', 'TOTP_SETUP_REQUIRED'],
});

export const refresh = operation('refresh', 'POST /auth/refresh', {
  audits: 'Goes on with a session; its begin has an entry.',
  access: 'public',
  summary: 'Get a new token',
  body: refreshTokenBody,
  success: ok('A new token. The refresh token may also be new.', sessionSchema),
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
  success: created('A member, and logged in.', sessionSchema),
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

export const forgotPassword = operation('forgotPassword', 'POST /auth/forgot-password', {
  audits: 'Anybody may ask for a code; a password that is set has an entry.',
  access: 'public',
  summary: 'Request a password reset code by e-mail',
  description: 'The response is the same whether or not the user exists.',
  rateLimits: { perClient: PER_CLIENT, perEmail: { requests: 5, minutes: 60 } },
  body: z.strictObject({ email: emailSchema }),
  success: { status: 202, description: 'Accepted.', schema: z.object({ message: z.string() }) },
});

export const resetPassword = operation('resetPassword', 'POST /auth/reset-password', {
  audits: ['user.password_reset'],
  access: 'public',
  summary: 'Set a new password with the code from the e-mail',
  rateLimits,
  body: z.strictObject({
    email: emailSchema,
    code: codeSchema,
    newPassword: newPasswordSchema,
  }),
  success: {
    status: 204,
    description: 'The new password is set. All earlier sessions have ended. Log in again, and see GET /auth/review.',
  },
});

export const changePassword = operation('changePassword', 'POST /auth/change-password', {
  audits: ['user.password_changed'],
  permission: 'self:write',
  summary: 'Change the password',
  rateLimits: passwordLimits,
  body: z.strictObject({ password: passwordSchema, newPassword: newPasswordSchema, totp: z.optional(totpSchema) }),
  success: { status: 204, description: 'Changed. Every session has ended, this one, too: log in again.' },
  errors: ['INVALID_CREDENTIALS', 'TOTP_REQUIRED'],
});

const made = { id: z.string(), name: z.string(), createdAt: instant, lastUsedAt: z.nullable(instant) };

export const readReview = operation('readReview', 'GET /auth/review', {
  summary: 'Keys and API tokens to review after a password reset',
  description:
    'A reset, and a changed e-mail address, end every session but revoke no key or API token, which would interrupt traffic. Until DELETE /auth/review, this lists active keys and tokens made since the last sign-in before it, and at least those of 30 days.',
  permission: 'keys:read',
  success: ok('Newest first. `since` is null, and there is nothing else, if there is nothing to review.', {
    since: z.nullable(instant),
    keys: z.array(z.object({ ...made, maskedKey: z.string() })),
    tokens: z.array(z.object({ ...made, maskedToken: z.string() })),
  }),
});

export const finishReview = operation('finishReview', 'DELETE /auth/review', {
  audits: 'Ends a list that only the user sees.',
  permission: 'self:write',
  summary: 'Finish the review',
  success: { status: 204, description: 'There is nothing to review any more.' },
});

const onItsWay = {
  status: 202,
  description: 'The code is on its way.',
  schema: z.object({ message: z.string() }),
} as const;

export const me = operation('me', 'GET /auth/me', {
  summary: 'Read the current user and account',
  access: 'handler',
  success: ok('The user and the account of the token.', {
    user: z.object({
      userId: z.string(),
      email: z.string(),
      emailVerified: described(
        z.boolean(),
        'False until the user enters the code from the mail: see POST /auth/verify-email.',
      ),
      firstName: z.string(),
      lastName: z.string(),
      companyName: z.nullable(z.string()),
      role: z.enum(roles),
      projects: described(z.nullable(z.array(z.string())), 'Ids of the projects that alone are seen. Null: all.'),
      permissions: described(z.array(z.enum(permissions)), 'What the user may do.'),
      grantableRoles: described(
        z.array(z.enum(roles)),
        'Roles that the user may give: none that may do what theirs may not.',
      ),
      createdAt: instant,
      totpEnabled: described(z.boolean(), 'Log-ins need a code of an authenticator app.'),
      reviewSince: described(
        z.nullable(instant),
        'After a password reset, until the review is finished: see GET /auth/review.',
      ),
    }),
    account: z.object({
      accountId: z.string(),
      status: z.enum(accountStatuses),
      plan: z.enum(planNames),
      billingStatus: z.enum(billingStatuses),
      requiresTotp: described(z.boolean(), 'Members log in with a second factor only.'),
      timeZone: described(z.string(), 'Whose days reports and pages have: see PUT /reports/calendar.'),
      createdAt: instant,
    }),
  }),
});

export const changeName = operation('changeName', 'PATCH /auth/me', {
  audits: ['user.name_changed'],
  permission: 'self:write',
  summary: "Change the user's name",
  body: z.strictObject({ firstName: nameSchema, lastName: nameSchema }),
  success: { status: 204, description: 'Changed.' },
});

export const changeEmail = operation('changeEmail', 'POST /auth/change-email', {
  audits: 'The address changes when its code is confirmed.',
  permission: 'self:write',
  summary: 'Change the e-mail address',
  description:
    'Mails a code to the new address. The old one stays until POST /auth/verify-email takes the code; then every session ends, and both addresses get a notice.',
  rateLimits: passwordLimits,
  body: z.strictObject(credentials),
  success: onItsWay,
  errors: ['INVALID_CREDENTIALS', 'TOTP_REQUIRED', 'CONFLICT'],
});

export const sendVerificationCode = operation('sendVerificationCode', 'POST /auth/verification-codes', {
  audits: 'Mails a code to the user.',
  permission: 'self:write',
  summary: 'Mail a code that verifies the e-mail address',
  description:
    'Registration sends the first one. Until the address is verified, it gets no other mail: alerts wait. At most one code a minute, and ten a day. Only the latest works.',
  success: onItsWay,
  errors: ['CONFLICT'],
});

export const verifyEmail = operation('verifyEmail', 'POST /auth/verify-email', {
  audits: ['user.address_changed', 'user.address_taken'],
  permission: 'self:write',
  summary: 'Verify the e-mail address with the code from the mail',
  description:
    'A code works once, for 24 hours. After five wrong codes a new one is needed. After POST /auth/change-email the new address takes the place of the old one, and every session ends.',
  body: z.strictObject({ code: codeSchema }),
  success: { status: 204, description: 'The address is verified.' },
  errors: ['EMAIL_TAKEN'],
});

export const changeAccount = operation('changeAccount', 'PATCH /auth/account', {
  audits: ['settings.changed'],
  summary: 'Change what protects the account',
  description: `${PROOF_RULE} The owner gets a mail.`,
  permission: 'protections:write',
  rateLimits: passwordLimits,
  body: z.strictObject({
    ...proof,
    requiresTotp: described(z.boolean(), 'Members log in with a second factor only. Your own must be set up before.'),
  }),
  success: { status: 204, description: 'Changed.' },
  errors: ['INVALID_CREDENTIALS', 'TOTP_REQUIRED', 'CONFLICT'],
});

const confirmation = z.strictObject({ email: emailSchema, password: passwordSchema, totp: totpSchema });

export const beginTotp = operation('beginTotp', 'POST /auth/totp', {
  audits: 'Nothing changes before the second factor is confirmed.',
  access: 'public',
  summary: 'Begin to set up a second factor',
  description:
    'Takes e-mail and password instead of a token, as a log-in does. Enter the secret in an authenticator app (TOTP, RFC 6238), and confirm with the code that it shows.',
  rateLimits,
  body: z.strictObject({ email: emailSchema, password: passwordSchema }),
  success: ok('Log-ins need no code yet. Another request replaces the secret.', {
    secret: described(z.string(), 'Base32. Keep it secret.'),
    uri: described(z.string(), 'The same for an authenticator app, most often as a QR code.'),
  }),
  errors: ['INVALID_CREDENTIALS', 'CONFLICT'],
});

export const confirmTotp = operation('confirmTotp', 'POST /auth/totp/confirm', {
  audits: ['user.totp_enabled'],
  access: 'public',
  summary: 'Turn the second factor on',
  rateLimits,
  body: confirmation,
  success: { status: 204, description: 'From now on log-ins need a code.' },
  errors: ['INVALID_CREDENTIALS', 'CONFLICT'],
});

export const removeTotp = operation('removeTotp', 'POST /auth/totp/remove', {
  audits: ['user.totp_disabled'],
  access: 'public',
  summary: 'Turn the second factor off',
  rateLimits,
  body: confirmation,
  success: { status: 204, description: 'Log-ins need no code any more.' },
  errors: ['INVALID_CREDENTIALS', 'TOTP_REQUIRED', 'CONFLICT'],
});
