import * as z from 'zod/mini';
import { inGroup, ok } from '../../http/operation.ts';
import { emailSchema } from '../../http/parameters.ts';
import { PER_CLIENT, PER_EMAIL, passwordSchema, totpSchema } from './members.ts';

const operation = inGroup('Authentication');

const rateLimits = { perClient: PER_CLIENT, perEmail: PER_EMAIL };
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
    secret: z.string().check(z.describe('Base32. Keep it secret.')),
    uri: z.string().check(z.describe('The same for an authenticator app, most often as a QR code.')),
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
