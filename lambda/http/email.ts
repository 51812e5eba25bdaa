import * as z from 'zod/mini';

/** A mail address as users type it; lower case and trimmed once parsed. */
export const emailSchema = z
  .string()
  .check(
    z.trim(),
    z.toLowerCase(),
    z.maxLength(254),
    z.email('must be an e-mail address'),
    z.meta({ description: 'Case-insensitive. Surrounding whitespace is ignored.', examples: ['ada@example.com'] }),
  );
