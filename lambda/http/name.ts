import * as z from 'zod/mini';

/**
 * A user-defined name. Names appear in mails, lists and pages, so they must not contain control characters (such as line breaks)
 * or characters that change the direction of the text around them.
 */
export const name = (maxCharacters: number, minCharacters = 1) =>
  z
    .string()
    .check(
      z.trim(),
      z.minLength(minCharacters),
      z.maxLength(maxCharacters),
      z.regex(
        /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]*$/u,
        'must not contain control characters or characters that change the text direction',
      ),
    );
