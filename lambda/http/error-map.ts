import { isThrottlingError, isTransientError } from '@smithy/core/retry';
import {
  ConflictError,
  type DomainError,
  EmailTakenError,
  ForbiddenError,
  InvalidCredentialsError,
  LimitReachedError,
  MethodNotAllowedError,
  NotFoundError,
  PayloadTooLargeError,
  RateLimitedError,
  RegistrationClosedError,
  TotpRequiredError,
  TotpSetupRequiredError,
  UnauthenticatedError,
  UnavailableError,
  UnreadableItemError,
  ValidationError,
  type Violation,
} from '../domain/errors.ts';
import type { ErrorCode } from './error-codes.ts';

/** Maps named errors to error codes; lambda/http/error-codes.ts maps codes to statuses. */
const codes: readonly (readonly [new (...args: never[]) => DomainError, ErrorCode])[] = [
  [PayloadTooLargeError, 'PAYLOAD_TOO_LARGE'],
  [InvalidCredentialsError, 'INVALID_CREDENTIALS'],
  [TotpRequiredError, 'TOTP_REQUIRED'],
  [TotpSetupRequiredError, 'TOTP_SETUP_REQUIRED'],
  [UnauthenticatedError, 'UNAUTHORIZED'],
  [RegistrationClosedError, 'REGISTRATION_CLOSED'],
  [ForbiddenError, 'FORBIDDEN'],
  [NotFoundError, 'NOT_FOUND'],
  [MethodNotAllowedError, 'METHOD_NOT_ALLOWED'],
  [EmailTakenError, 'EMAIL_TAKEN'],
  [ConflictError, 'CONFLICT'],
  [UnreadableItemError, 'INTERNAL'],
  [LimitReachedError, 'LIMIT_REACHED'],
  [RateLimitedError, 'RATE_LIMITED'],
  [UnavailableError, 'UNAVAILABLE'],
];

/** Values of Retry-After in seconds. */
const retryAfterSeconds: Partial<Record<ErrorCode, number>> = { RATE_LIMITED: 10, UNAVAILABLE: 5 };

export interface MappedError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly violations?: readonly Violation[];
  readonly retryAfterSeconds?: number;
}

/** The AWS SDK tries these errors again, as it does a network error of any other client and middy's early timeout. */
const isTemporary = (error: unknown): boolean =>
  [isThrottlingError, isTransientError].some((test) => error instanceof Error && test(error as never));

/** The part of an error that the caller sees. The messages of unnamed errors are never shown. */
export const mapError = (error: unknown): MappedError => {
  if (error instanceof ValidationError) {
    return { code: 'VALIDATION_ERROR', message: error.message, violations: error.violations };
  }
  const code = codes.find(([type]) => error instanceof type)?.[1];
  if (code !== undefined) {
    const seconds =
      (error instanceof RateLimitedError ? error.retryAfterSeconds : undefined) ?? retryAfterSeconds[code];
    return {
      code,
      message: (error as DomainError).message,
      ...(seconds !== undefined && { retryAfterSeconds: seconds }),
    };
  }
  return isTemporary(error)
    ? { code: 'UNAVAILABLE', message: 'The service is busy. Try again in a few seconds.', retryAfterSeconds: 5 }
    : { code: 'INTERNAL', message: 'The service failed. Report this with the request id.' };
};
