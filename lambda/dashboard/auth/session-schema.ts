import * as z from 'zod/mini';

export const sessionSchema = z
  .object({
    accountId: z
      .string()
      .check(
        z.describe(
          'The account key. Send it as X-Service-Key with proxy requests. Keep it secret. Masked for roles that may not read every key.',
        ),
      ),
    userId: z.string(),
    token: z.string().check(z.describe('A JWT. Send it as Authorization: Bearer <token>.')),
    refreshToken: z.string().check(z.describe('POST /auth/refresh exchanges it for a new token. Keep it secret.')),
    expiresIn: z.int().check(z.positive(), z.describe('Lifetime of the token in seconds.')),
  })
  .register(z.globalRegistry, { id: 'Session' });
