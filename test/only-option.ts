import { z } from 'zod';

/** The option --only of the runners: a regular expression, in upper or lower case; without a value it matches everything. */
export const onlyOption = z
  .string()
  .default('')
  .transform((text, { addIssue }) => {
    try {
      return new RegExp(text, 'i');
    } catch (error) {
      addIssue((error as Error).message);
      return z.NEVER;
    }
  });
