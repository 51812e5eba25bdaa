import * as z from 'zod/mini';

/** API names of the dimensions that every account has. `key` is the id of the service key. */
const groupings = ['provider', 'model', 'tag', 'key', 'providerKey', 'project', 'member', 'client'] as const;

/** A declared dimension: `dim:team`. */
const declared = z.templateLiteral(['dim:', z.string().check(z.regex(/[A-Za-z0-9][A-Za-z0-9_.-]{0,63}/))]);

/** API names of dimensions. */
export const grouping = z.union([z.enum(groupings), declared], {
  error: `must be one of ${groupings.join(', ')}, or a declared dimension (dim:team)`,
});
export type Grouping = z.infer<typeof grouping>;
