import { PASSWORD_RULES } from '../domain/accounts/password-rules.ts';
import { EmailTakenError, InvalidCredentialsError, RateLimitedError, ValidationError } from '../domain/errors.ts';

/** The name of an exception. Emulators return names only, no classes. */
export const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '');

/** Turns Cognito's exceptions into domain errors, by name. `byName` has those of this call; too many attempts are always RateLimitedError. */
export const mapErrors = async <T>(work: Promise<T>, byName: Readonly<Record<string, () => Error>>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    const name = nameOf(error);
    if (['TooManyRequestsException', 'LimitExceededException', 'TooManyFailedAttemptsException'].includes(name)) {
      throw new RateLimitedError('Too many attempts. Try again in a few minutes.');
    }
    throw byName[name]?.() ?? error;
  }
};

export const emailTaken = () =>
  new EmailTakenError('A user with this e-mail address already exists. Log in, or reset the password.');
export const wrongCredentials = () => new InvalidCredentialsError();
export const invalidPassword = (path: string) => () => new ValidationError([{ path, message: PASSWORD_RULES }]);
export const wrongCode = () =>
  new ValidationError([
    { path: 'code', message: 'The code is wrong or has expired. POST /auth/forgot-password sends a new one.' },
  ]);
