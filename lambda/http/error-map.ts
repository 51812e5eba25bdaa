import {
  ConflictError,
  type DomainError,
  EmailTakenError,
  ForbiddenError,
  InvalidCredentialsError,
  LimitReachedError,
  NotFoundError,
  PayloadTooLargeError,
  RateLimitedError,
  UnauthenticatedError,
  UnavailableError,
  ValidationError,
  type Violation,
} from '../domain/errors.ts';
import type { ErrorCode } from './error-codes.ts';

/** The one place where a named error becomes a code (and by lambda/http/error-codes.ts a status). */
const codes: readonly (readonly [typeof DomainError, ErrorCode])[] = [
  [PayloadTooLargeError, 'PAYLOAD_TOO_LARGE'],
  [InvalidCredentialsError, 'INVALID_CREDENTIALS'],
  [UnauthenticatedError, 'UNAUTHORIZED'],
  [ForbiddenError, 'FORBIDDEN'],
  [NotFoundError, 'NOT_FOUND'],
  [EmailTakenError, 'EMAIL_TAKEN'],
  [ConflictError, 'CONFLICT'],
  [LimitReachedError, 'LIMIT_REACHED'],
  [RateLimitedError, 'RATE_LIMITED'],
  [UnavailableError, 'UNAVAILABLE'],
];

/** Seconds after which a client may sensibly try again. */
const retryAfterSeconds: Partial<Record<ErrorCode, number>> = { RATE_LIMITED: 10, UNAVAILABLE: 5 };

export interface MappedError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly violations?: readonly Violation[];
  readonly retryAfterSeconds?: number;
}

/** The SDK marks what is worth a retry; middy names its own early time-out; Node gives network errors a code. */
const isTransient = (error: unknown): boolean =>
  error instanceof Error &&
  ('$retryable' in error ||
    error.name === 'TimeoutError' ||
    ('code' in error && ['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EAI_AGAIN'].includes(String(error.code))));

/** What the caller is told of an error. Errors we did not name stay opaque: only their kind shows, never their words. */
export const mapError = (error: unknown): MappedError => {
  if (error instanceof ValidationError) {
    return { code: 'VALIDATION_ERROR', message: error.message, violations: error.violations };
  }
  const code = codes.find(([type]) => error instanceof type)?.[1];
  if (code !== undefined) {
    const seconds = retryAfterSeconds[code];
    return {
      code,
      message: (error as DomainError).message,
      ...(seconds !== undefined && { retryAfterSeconds: seconds }),
    };
  }
  return isTransient(error)
    ? { code: 'UNAVAILABLE', message: 'The service is busy. Try again in a few seconds.', retryAfterSeconds: 5 }
    : { code: 'INTERNAL', message: 'Something went wrong on our side. Report it with the request id.' };
};
