import * as z from 'zod/mini';
import { orRequired } from '../domain/violations.ts';
import { ok } from './operation.ts';

/** A schema with the text that the API's document says about it. */
export const described = <S extends z.ZodMiniType>(schema: S, text: string): S => schema.check(z.describe(text));

/** How many of something there are. */
export const count = z.int().check(z.nonnegative());

/** A mail address as users type it; lower case and trimmed once parsed. Cognito takes no longer names of users. */
export const emailSchema = z
  .string()
  .check(
    z.trim(),
    z.toLowerCase(),
    z.maxLength(128),
    z.email('must be an e-mail address'),
    z.meta({ description: 'Case-insensitive. Surrounding whitespace is ignored.', examples: ['ada@example.com'] }),
  );

/**
 * A user-defined name. Names appear in mails, lists and pages, so they must not contain control characters (such as line breaks)
 * or characters that change the direction of the text around them.
 */
export const name = (maxCharacters: number, minCharacters = 1) =>
  z.string().check(
    z.trim(),
    z.minLength(minCharacters),
    z.maxLength(maxCharacters),
    z.regex(
      // biome-ignore lint/suspicious/noControlCharactersInRegex: \p{Cc} has another meaning without the flag, and none in Python.
      /^[^\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]*$/,
      'must not contain control characters or characters that change the text direction',
    ),
  );

/** Instants are compared as text, which `Date` writes in another form outside of these years. An offset may lead there. */
const sortsAsText = z.refine<string>((text) => {
  const year = new Date(text).getUTCFullYear();
  return !(year < 0 || year > 9999);
}, 'must be in the years 0 to 9999 (UTC)');

/** An instant (ISO 8601 with an offset or Z). */
export const instant = z.iso
  .datetime({ offset: true, error: orRequired('must be an instant (2026-11-20T16:00:00Z)') })
  .check(sortsAsText);

/** A day (`2026-11-20`, UTC) or an instant. */
export const dayOrInstant = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })], {
    error: orRequired('must be a date (2026-11-20) or an instant (2026-11-20T16:00:00Z)'),
  })
  .check(sortsAsText, z.meta({ examples: ['2026-11-01'] }));

/** A day (`2026-11-20`, UTC). */
export const day = z.iso
  .date({ error: orRequired('must be a date (2026-11-20)') })
  .check(z.meta({ examples: ['2026-11-01'] }));

export const wholes = new WeakMap<z.core.$ZodType, z.core.$ZodType>();

/** A part of a merge patch (RFC 7396). @param whole parses what the patch makes: the API's document shows its members */
export const partFor = <S extends z.core.$ZodType>(whole: z.core.$ZodType, part: S): S => {
  wholes.set(part, whole);
  return part;
};

const cursor = described(
  z.string().check(z.minLength(1), z.maxLength(1024)),
  'nextCursor of the previous page. Keep the other parameters unchanged.',
);

/** Query parameters of lists by time. */
export const timeRange = {
  from: described(z.optional(dayOrInstant), 'First day or instant. Default: 30 days before `to`.'),
  to: described(z.optional(dayOrInstant), 'Last day (inclusive) or instant (exclusive). Default: now.'),
};

/** Query parameters of every paginated list. */
export const pageParameters = (limit: { readonly default: number; readonly max: number }) => ({
  limit: z._default(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(limit.max)), limit.default),
  cursor: z.optional(cursor),
});

export const PAGE_DESCRIPTION =
  'A page may be short or empty and still have a next page. Continue until nextCursor is null.';

/** In lists that an earlier version may read after a later one. */
export const unreadable = described(
  z.optional(z.int().check(z.positive())),
  'How many more there are that a later version wrote, and this one cannot read.',
);

/** A response with one page of a list. @param others further members */
export const pageOf = <S extends z.ZodMiniType, Others extends z.core.$ZodShape>(item: S, others: Others) =>
  ok('One page.', { items: z.array(item), nextCursor: z.nullable(z.string()), ...others });

/** A response that is a file. */
export const csvFile = (filename: string) => ({
  status: 200 as const,
  description: 'CSV by RFC 4180 in UTF-8 with a header line.',
  schema: z.string(),
  streamed: { contentType: 'text/csv; charset=utf-8', filename },
});
