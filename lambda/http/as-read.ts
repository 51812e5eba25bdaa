import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { ConflictError } from '../domain/errors.ts';
import { described } from './parameters.ts';

/** In the body of a change: what the client read of the members that it changes. */
export const was = described(
  z.optional(z.record(z.string().check(z.maxLength(256)), z.unknown())),
  'Members as you read them, by their dotted paths (`config.threshold`); null for a member that was missing. Where a member has another value now, nothing is changed, and the response is 409 CONFLICT with that value in `details`.',
);

export type AsRead = Readonly<Record<string, unknown>>;

const textOf = (value: unknown): string => {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return value.join(', ') || 'empty';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

const memberOf = (of: unknown, path: string): unknown => path.split('.').reduce((part, name) => Object(part)[name], of);

/**
 * @param item as responses show it
 * @param changes what the client wants: a member that has it already is no conflict, such as where the first response was lost
 * @throws ConflictError where a member is not as the client read it
 */
export const requireAsRead = (item: object, read: AsRead = {}, changes: object = {}): void => {
  const shown: unknown = JSON.parse(JSON.stringify(item));
  const violations = Object.entries(read).flatMap(([path, value]) => {
    const now = memberOf(shown, path) ?? null;
    return [value, memberOf(changes, path)].some((each) => isDeepStrictEqual(now, each))
      ? []
      : [{ path, message: `is ${textOf(now)} now: somebody else changed it after you read it` }];
  });
  if (violations.length > 0)
    throw new ConflictError(
      'Somebody else changed this after you read it. Look at what it is now; to replace that, send your change again.',
      violations,
    );
};
