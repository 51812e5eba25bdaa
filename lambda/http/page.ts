import * as z from 'zod';

/** Parameters of every list that comes in pages. */
export const pageParameters = (limit: { readonly default: number; readonly max: number }) => ({
  limit: z.coerce.number().int().min(1).max(limit.max).default(limit.default),
  cursor: z.string().min(1).max(1024).describe('nextCursor of the page before; keep the other parameters.').optional(),
});

export const PAGE_DESCRIPTION =
  'A page may be short, even empty, and yet have a next one: go on until nextCursor is null.';

export const pageOf = <S extends z.ZodType>(item: S) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable() });
