import { PASSWORD_RULES } from '../domain/accounts/password-rules.ts';
import { EmailTakenError, InvalidCredentialsError, RateLimitedError, ValidationError } from '../domain/errors.ts';

/** Emulators answer with the names of exceptions alone, so names are what is looked at. */
export const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '');

/** Cognito's exceptions by name, since emulators answer with names alone. `byName` is what they mean to this call. */
export const named = async <T>(work: Promise<T>, byName: Readonly<Record<string, () => Error>>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    const name = nameOf(error);
    if (['TooManyRequestsException', 'LimitExceededException', 'TooManyFailedAttemptsException'].includes(name)) {
      throw new RateLimitedError('Too many attempts. Wait some minutes before you try again.');
    }
    throw byName[name]?.() ?? error;
  }
};

export const emailTaken = () =>
  new EmailTakenError('There is already a user with this e-mail address. Log in, or reset the password.');
export const wrongCredentials = () => new InvalidCredentialsError();
export const refusedPassword = (path: string) => () => new ValidationError([{ path, message: PASSWORD_RULES }]);
export const wrongCode = () =>
  new ValidationError([
    { path: 'code', message: 'The code is wrong or has expired. POST /auth/forgot-password sends a new one.' },
  ]);
