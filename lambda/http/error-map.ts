import { isThrottlingError, isTransientError } from '@smithy/core/retry';
import * as errors from '../domain/errors.ts';
import type { ErrorCode } from './error-codes.ts';

/** Maps named errors to error codes; lambda/http/error-codes.ts maps codes to statuses. */
const codes: readonly (readonly [new (...args: never[]) => errors.DomainError, ErrorCode])[] = [
  [errors.PayloadTooLargeError, 'PAYLOAD_TOO_LARGE'],
  [errors.InvalidCredentialsError, 'INVALID_CREDENTIALS'],
  [errors.TotpRequiredError, 'TOTP_REQUIRED'],
  [errors.TotpSetupRequiredError, 'TOTP_SETUP_REQUIRED'],
  [errors.UnauthenticatedError, 'UNAUTHORIZED'],
  [errors.RegistrationClosedError, 'REGISTRATION_CLOSED'],
  [errors.ForbiddenError, 'FORBIDDEN'],
  [errors.NotFoundError, 'NOT_FOUND'],
  [errors.MethodNotAllowedError, 'METHOD_NOT_ALLOWED'],
  [errors.EmailTakenError, 'EMAIL_TAKEN'],
  [errors.ConflictError, 'CONFLICT'],
  [errors.UnreadableItemError, 'INTERNAL'],
  [errors.LimitReachedError, 'LIMIT_REACHED'],
  [errors.RateLimitedError, 'RATE_LIMITED'],
  [errors.UnavailableError, 'UNAVAILABLE'],
];

/** Values of Retry-After in seconds. */
const retryAfterSeconds: Partial<Record<ErrorCode, number>> = { RATE_LIMITED: 10, UNAVAILABLE: 5 };

export interface MappedError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly violations?: readonly errors.Violation[];
  readonly retryAfterSeconds?: number;
}

/** The AWS SDK tries these errors again, as it does a network error of any other client and middy's early timeout. */
const isTemporary = (error: unknown): boolean =>
  [isThrottlingError, isTransientError].some((test) => error instanceof Error && test(error as never));

/** The part of an error that the caller sees. The messages of unnamed errors are never shown. */
export const mapError = (error: unknown): MappedError => {
  if (error instanceof errors.ValidationError) {
    return { code: 'VALIDATION_ERROR', message: error.message, violations: error.violations };
  }
  const code = codes.find(([type]) => error instanceof type)?.[1];
  if (code !== undefined) {
    const seconds =
      (error instanceof errors.RateLimitedError ? error.retryAfterSeconds : undefined) ?? retryAfterSeconds[code];
    return {
      code,
      message: (error as errors.DomainError).message,
      ...(error instanceof errors.ConflictError && error.violations && { violations: error.violations }),
      ...(seconds !== undefined && { retryAfterSeconds: seconds }),
    };
  }
  return isTemporary(error)
    ? { code: 'UNAVAILABLE', message: 'The service is busy. Try again in a few seconds.', retryAfterSeconds: 5 }
    : { code: 'INTERNAL', message: 'The service failed. Report this with the request id.' };
};
