import * as z from 'zod/mini';

/**
 * A name that somebody gives something. Names stand in mails, in lists and on pages: no control characters, line breaks among
 * them, and none of the marks that turn the direction of the text around them.
 */
export const name = (maxCharacters: number) =>
  z
    .string()
    .check(
      z.trim(),
      z.minLength(1),
      z.maxLength(maxCharacters),
      z.regex(
        /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]*$/u,
        'must not hold control characters or marks that change the direction of text',
      ),
    );
