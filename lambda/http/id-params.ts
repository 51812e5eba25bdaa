import * as z from 'zod/mini';

/** The path's `{id}`, of whatever the operation is about. */
export const idParams = z.strictObject({ id: z.string().check(z.minLength(1), z.maxLength(64)) });
