import * as z from 'zod/mini';

/** All error codes of the dashboard API with their status and meaning. */
export const errorCodes = {
  VALIDATION_ERROR: { status: 400, description: 'The request is invalid; `details` lists each problem.' },
  INVALID_CREDENTIALS: { status: 401, description: 'E-mail or password is wrong.' },
  TOTP_REQUIRED: {
    status: 401,
    description: 'The password is right; the code of the second factor is missing or wrong.',
  },
  TOTP_SETUP_REQUIRED: {
    status: 403,
    description: 'The account requires a second factor: set one up with POST /auth/totp.',
  },
  UNAUTHORIZED: { status: 401, description: 'The token is missing, expired, or not issued by this service.' },
  FORBIDDEN: {
    status: 403,
    description: "The caller's role does not permit this request; the message names the missing permission.",
  },
  REGISTRATION_CLOSED: { status: 403, description: 'New users are not admitted in this way; the message says how.' },
  NOT_FOUND: { status: 404, description: 'Your account has no such resource.' },
  METHOD_NOT_ALLOWED: { status: 405, description: 'The path does not have this method.' },
  EMAIL_TAKEN: { status: 409, description: 'A user with this e-mail address already exists.' },
  CONFLICT: { status: 409, description: 'The request conflicts with the current state; the message explains why.' },
  LIMIT_REACHED: { status: 409, description: "The limit of the account's plan is reached." },
  PAYLOAD_TOO_LARGE: { status: 413, description: 'The request body is too large.' },
  RATE_LIMITED: { status: 429, description: 'Too many requests. Retry after the number of seconds in Retry-After.' },
  INTERNAL: { status: 500, description: 'An error of the service. Include the request id when you report it.' },
  UNAVAILABLE: {
    status: 503,
    description: 'Temporarily unavailable. Retry after the number of seconds in Retry-After.',
  },
} as const satisfies Record<string, { status: number; description: string }>;

export type ErrorCode = keyof typeof errorCodes;

const codes = Object.keys(errorCodes) as [ErrorCode, ...ErrorCode[]];

const details = z
  .array(z.object({ path: z.string(), message: z.string() }))
  .check(
    z.describe(
      'Only with VALIDATION_ERROR, each problem and its location, and with CONFLICT, each member that somebody else changed.',
    ),
  );

/** The error body of gateway and dashboard API. */
export const errorBodySchema = z
  .object({
    error: z.object({
      code: z.enum(codes),
      message: z.string().check(z.describe('What happened and what to do next, in plain text.')),
      type: z.literal('gateway_error'),
      requestId: z.string().check(z.describe('Include it when you report a problem.')),
      details: z.optional(details),
    }),
  })
  .register(z.globalRegistry, { id: 'Error' });

export type ErrorBody = z.infer<typeof errorBodySchema>;
