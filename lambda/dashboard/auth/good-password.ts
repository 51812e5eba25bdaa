import { passwordProblem } from '../../domain/accounts/password-strength.ts';
import { ValidationError } from '../../domain/errors.ts';

/**
 * @param path of the password in the request
 * @param words the user's name, address and company
 * @throws ValidationError that says what is wrong with a new password
 */
export const requireGoodPassword = async (path: string, password: string, words: readonly string[]): Promise<void> => {
  const message = await passwordProblem(password, words);
  if (message !== undefined) throw new ValidationError([{ path, message }]);
};
