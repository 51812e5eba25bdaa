import * as z from 'zod/mini';

/** Every error code of the dashboard API, its status, and when it is given. */
export const errorCodes = {
  VALIDATION_ERROR: { status: 400, description: 'The request is malformed; `details` says where and what.' },
  INVALID_CREDENTIALS: { status: 401, description: 'E-mail or password is wrong.' },
  UNAUTHORIZED: { status: 401, description: 'The token is missing, expired, or not one of this service.' },
  FORBIDDEN: { status: 403, description: 'The token is valid, but does not allow this.' },
  NOT_FOUND: { status: 404, description: 'There is no such thing under your account.' },
  EMAIL_TAKEN: { status: 409, description: 'There is already a user with this e-mail address.' },
  CONFLICT: { status: 409, description: 'The request does not fit the present state; the message says why.' },
  LIMIT_REACHED: { status: 409, description: "The account's plan allows no more of these." },
  PAYLOAD_TOO_LARGE: { status: 413, description: 'The request body is too large.' },
  RATE_LIMITED: { status: 429, description: 'Too many requests; try again after the seconds in Retry-After.' },
  INTERNAL: { status: 500, description: 'Our fault. Quote the request id when you report it.' },
  UNAVAILABLE: { status: 503, description: 'Temporarily not possible; try again after the seconds in Retry-After.' },
} as const satisfies Record<string, { status: number; description: string }>;

export type ErrorCode = keyof typeof errorCodes;

const codes = Object.keys(errorCodes) as [ErrorCode, ...ErrorCode[]];

const details = z
  .array(z.object({ path: z.string(), message: z.string() }))
  .check(z.describe('With VALIDATION_ERROR: what is wrong where.'));

/** The one error shape of gateway and dashboard API. */
export const errorBodySchema = z
  .object({
    error: z.object({
      code: z.enum(codes),
      message: z.string().check(z.describe('What happened and what to do next, for people.')),
      type: z.literal('gateway_error'),
      requestId: z.string().check(z.describe('Quote it when you report a problem.')),
      details: z.optional(details),
    }),
  })
  .register(z.globalRegistry, { id: 'Error' });

export type ErrorBody = z.infer<typeof errorBodySchema>;
