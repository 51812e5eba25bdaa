/**
 * What can go wrong that a caller can do something about. Names, not status codes: lambda/http/error-map.ts gives those.
 * `message` is shown to the caller and says what to do next; it never holds a credential or a body.
 */
export class DomainError extends Error {
  override get name() {
    return this.constructor.name;
  }
}

/** One thing wrong with a request: where, and what would be right. */
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

export class PayloadTooLargeError extends DomainError {}

/** E-mail or password is wrong: never which of the two, hence the one message. */
export class InvalidCredentialsError extends DomainError {
  constructor() {
    super('E-mail or password is wrong. POST /auth/forgot-password sends a code to set a new password.');
  }
}

/** No token, or one that is not valid here. */
export class UnauthenticatedError extends DomainError {}

export class ForbiddenError extends DomainError {}

/** Does not exist, or belongs to another account: never which of the two. */
export class NotFoundError extends DomainError {}

export class EmailTakenError extends DomainError {}

export class ConflictError extends DomainError {}

export class LimitReachedError extends DomainError {}

export class RateLimitedError extends DomainError {}

/** Something the service leans on does not answer; trying again later may work. */
export class UnavailableError extends DomainError {}
