import * as z from 'zod/mini';
import { permissions, roles } from '../../domain/accounts/permissions.ts';
import { accountStatuses, billingStatuses, planNames } from '../../domain/billing/plans.ts';
import { inGroup, ok } from '../../http/operation.ts';
import { PROOF_RULE, proof } from './confirm-identity.ts';
import { codeSchema, credentials, nameSchema, passwordLimits } from './members.ts';

const operation = inGroup('Authentication');

const instant = z.iso.datetime();
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
      emailVerified: z
        .boolean()
        .check(z.describe('False until the user enters the code from the mail: see POST /auth/verify-email.')),
      firstName: z.string(),
      lastName: z.string(),
      companyName: z.nullable(z.string()),
      role: z.enum(roles),
      projects: z
        .nullable(z.array(z.string()))
        .check(z.describe('Ids of the projects that alone are seen. Null: all.')),
      permissions: z.array(z.enum(permissions)).check(z.describe('What the user may do.')),
      grantableRoles: z
        .array(z.enum(roles))
        .check(z.describe('Roles that the user may give: none that may do what theirs may not.')),
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
      requiresTotp: z.boolean().check(z.describe('Members log in with a second factor only.')),
      timeZone: z.string().check(z.describe('Whose days reports and pages have: see PUT /reports/calendar.')),
      createdAt: z.iso.datetime(),
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
    requiresTotp: z
      .boolean()
      .check(z.describe('Members log in with a second factor only. Your own must be set up before.')),
  }),
  success: { status: 204, description: 'Changed.' },
  errors: ['INVALID_CREDENTIALS', 'TOTP_REQUIRED', 'CONFLICT'],
});
