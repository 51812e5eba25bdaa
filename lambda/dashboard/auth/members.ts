import * as z from 'zod/mini';
import {
  MAX_PASSWORD_CHARACTERS,
  MIN_PASSWORD_CHARACTERS,
  PASSWORD_PATTERN,
  PASSWORD_RULES,
} from '../../domain/accounts/passwords.ts';
import { component } from '../../http/operation.ts';
import { described, emailSchema, name } from '../../http/parameters.ts';

/* Members that requests to /auth share. */

/** For new passwords only: those of before the rules still log in. */
export const newPasswordSchema = z
  .string()
  .check(
    z.minLength(MIN_PASSWORD_CHARACTERS, PASSWORD_RULES),
    z.maxLength(MAX_PASSWORD_CHARACTERS, `At most ${MAX_PASSWORD_CHARACTERS} characters.`),
    z.regex(PASSWORD_PATTERN, PASSWORD_RULES),
    z.meta({ description: PASSWORD_RULES, format: 'password', examples: ['correct horse battery'] }),
  );

export const passwordSchema = z
  .string()
  .check(z.minLength(1), z.maxLength(MAX_PASSWORD_CHARACTERS), z.meta({ format: 'password' }));

/** From a mail: people copy it with spaces. */
export const codeSchema = z.string().check(
  z.overwrite((code) => code.replaceAll(/[\s-]/g, '')),
  z.minLength(1),
  z.maxLength(64),
);

export const nameSchema = name(100);
export const totpSchema = z.string().check(
  z.overwrite((code) => code.replaceAll(/[ -]/g, '')),
  z.regex(/^\d{6}$/, 'must be the six digits that the authenticator app shows'),
  z.meta({ examples: ['123456'] }),
);

export const credentials = { email: emailSchema, password: passwordSchema, totp: z.optional(totpSchema) };

/** For operations that take a password or a code: nobody tries many. */
export const PER_CLIENT = { requests: 30, minutes: 15 } as const;
export const PER_EMAIL = { requests: 10, minutes: 15 } as const;

/** For operations that take the password of who is signed in. */
export const passwordLimits = { perClient: PER_CLIENT, perAccount: { requests: 20, minutes: 15 } } as const;

export const sessionSchema = component('Session', {
  accountId: described(
    z.string(),
    'The account key. Send it as X-Service-Key with proxy requests. Keep it secret. Masked for roles that may not read every key.',
  ),
  userId: z.string(),
  token: described(z.string(), 'A JWT. Send it as Authorization: Bearer <token>.'),
  refreshToken: described(z.string(), 'POST /auth/refresh exchanges it for a new token. Keep it secret.'),
  expiresIn: described(z.int().check(z.positive()), 'Lifetime of the token in seconds.'),
});
