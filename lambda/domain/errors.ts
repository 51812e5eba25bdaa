/**
 * Errors that a caller can act on. lambda/http/error-map.ts maps them to status codes. `message` is shown to the caller and says what
 * to do next; it never contains a credential or a body.
 */
export class DomainError extends Error {
  override get name() {
    return this.constructor.name;
  }
}

/** The name of an exception: emulators return names only, no classes. */
export const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '');

/** For `catch`: undefined for exceptions of AWS with these names, for calls to which they mean no failure. Others are thrown. */
export const ignoring =
  (...names: readonly string[]) =>
  (error: unknown): undefined => {
    if (!names.includes(nameOf(error))) throw error;
  };

/** One fault of a request: where it is, and what would be right. */
export interface Violation {
  /** Dotted path of the member or parameter, `config.threshold`; empty for the whole. */
  readonly path: string;
  readonly message: string;
}

export class ValidationError extends DomainError {
  readonly violations: readonly Violation[];

  constructor(violations: readonly Violation[], message = 'The request is not valid: see details.') {
    super(message);
    this.violations = violations;
  }
}

/** The error about one member or parameter. */
export const invalid = (path: string, message: string) => new ValidationError([{ path, message }]);

export class PayloadTooLargeError extends DomainError {}

/** E-mail or password is wrong. One message for both, so that it does not reveal which. */
export class InvalidCredentialsError extends DomainError {
  constructor() {
    super('E-mail or password is wrong. POST /auth/forgot-password sends a code to set a new password.');
  }
}

/** The password is right, and the code of the authenticator app is missing or wrong. */
export class TotpRequiredError extends DomainError {}

/** The account requires a second factor that the user has not set up. */
export class TotpSetupRequiredError extends DomainError {
  constructor() {
    super('This account requires a second factor. POST /auth/totp sets one up; then log in with its code.');
  }
}

/** No token, or an invalid one. API Gateway has the same words for none, in lib/constructs/error-responses.json. */
export class UnauthenticatedError extends DomainError {
  constructor(
    message = 'Send Authorization: Bearer <token> with a token from POST /auth/login, or for an API token from POST /auth/token. Paths below /machine take the API token itself.',
  ) {
    super(message);
  }
}

export class ForbiddenError extends DomainError {}

/** A stored item that this version cannot read: a later version wrote it, or it is damaged. Reading it again does not help. */
export class UnreadableItemError extends DomainError {}

/** Does not exist or belongs to another account; the caller does not learn which. */
export class NotFoundError extends DomainError {}

/** Undefined in place of a NotFoundError: for what may have been deleted. */
export const orUndefined = async <T>(finding: Promise<T>): Promise<T | undefined> => {
  try {
    return await finding;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
};

/** The path exists, and not with this method. */
export class MethodNotAllowedError extends DomainError {}

/** The stage admits no new users in this way. */
export class RegistrationClosedError extends DomainError {}

export class EmailTakenError extends DomainError {}

export class ConflictError extends DomainError {
  /** The members that another request changed, where they are known. */
  readonly violations: readonly Violation[] | undefined;

  constructor(message: string, violations?: readonly Violation[]) {
    super(message);
    this.violations = violations;
  }
}

export class LimitReachedError extends DomainError {}

export class RateLimitedError extends DomainError {
  /** Undefined if it is not known when the next attempt may succeed. */
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, retryAfterSeconds?: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A service that this one depends on does not respond; a later attempt may succeed. */
export class UnavailableError extends DomainError {}
