import * as z from 'zod/mini';
import { inGroup, ok } from '../../http/operation.ts';
import { emailSchema } from '../../http/parameters.ts';
import {
  codeSchema,
  newPasswordSchema,
  PER_CLIENT,
  PER_EMAIL,
  passwordLimits,
  passwordSchema,
  totpSchema,
} from './members.ts';

const operation = inGroup('Authentication');

const instant = z.iso.datetime();

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
  rateLimits: { perClient: PER_CLIENT, perEmail: PER_EMAIL },
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

export const readReview = operation('readReview', 'GET /auth/review', {
  summary: 'Keys and API tokens to review after a password reset',
  description:
    'A reset, and a changed e-mail address, end every session but revoke no key or API token, which would interrupt traffic. Until DELETE /auth/review, this lists active keys and tokens made since the last sign-in before it, and at least those of 30 days.',
  permission: 'keys:read',
  success: ok('Newest first. `since` is null, and there is nothing else, if there is nothing to review.', {
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
    tokens: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        maskedToken: z.string(),
        createdAt: instant,
        lastUsedAt: z.nullable(instant),
      }),
    ),
  }),
});

export const finishReview = operation('finishReview', 'DELETE /auth/review', {
  audits: 'Ends a list that only the user sees.',
  permission: 'self:write',
  summary: 'Finish the review',
  success: { status: 204, description: 'There is nothing to review any more.' },
});
