import { problemOf } from '../api/problem.ts';

/** The password rules that the pages can check; the API checks all of them. */
export const PASSWORD_RULE = '12 characters or more, and not easy to guess: several words that do not belong together.';

export const passwordProblem = (password: string): string | null => {
  if (password.length < 12) return 'At least 12 characters.';
  return password.trim() === password ? null : 'No spaces at the start or end.';
};

export const emailProblem = (email: string): string | null =>
  /^\S+@\S+\.\S{2,}$/.test(email.trim()) ? null : 'An e-mail address, such as ada@example.com.';

export const required = (what: string) => (value: string) => (value.trim() === '' ? `${what} is required.` : null);

/** The API's error messages on single fields, by the names in the form. */
export const fieldErrors = (error: unknown, ...names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    problemOf(error)
      .details.filter(({ path }) => names.includes(path))
      .map(({ path, message }) => [path, message]),
  );
