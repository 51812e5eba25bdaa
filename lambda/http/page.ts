import * as z from 'zod/mini';

const cursor = z
  .string()
  .check(
    z.minLength(1),
    z.maxLength(1024),
    z.describe('nextCursor of the previous page. Keep the other parameters unchanged.'),
  );

/** Query parameters of every paginated list. */
export const pageParameters = (limit: { readonly default: number; readonly max: number }) => ({
  limit: z._default(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(limit.max)), limit.default),
  cursor: z.optional(cursor),
});

export const PAGE_DESCRIPTION =
  'A page may be short or empty and still have a next page. Continue until nextCursor is null.';

export const pageOf = <S extends z.ZodMiniType>(item: S) =>
  z.object({ items: z.array(item), nextCursor: z.nullable(z.string()) });
