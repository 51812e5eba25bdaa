import * as z from 'zod/mini';
import { commonDimensions } from './dimensions.ts';

/** A declared dimension: `dim:team`. */
const declared = z.templateLiteral(['dim:', z.string().check(z.regex(/[A-Za-z0-9][A-Za-z0-9_.-]{0,63}/))]);

/** API names of dimensions. */
export const grouping = z.union([z.enum(commonDimensions), declared], {
  error: `must be one of ${commonDimensions.join(', ')}, or a declared dimension (dim:team)`,
});
export type Grouping = z.infer<typeof grouping>;
