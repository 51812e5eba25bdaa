import type { ZodMiniType } from 'zod/mini';
import { messageFor, violationsOf } from '../../../lambda/domain/violations.ts';
import { messagesByField } from './fields.ts';

/**
 * Problems that the API would find in a part of a body, by the members of the form that sends it: bounds, names and requiredness are those of the
 * API's schema, and so are the messages.
 *
 * @param names of the form's members; what is about none of them is about the first
 */
export const problemsIn = (
  schema: ZodMiniType,
  part: unknown,
  names: readonly [string, ...string[]],
): Record<string, string> => {
  const { error } = schema.safeParse(part, { error: messageFor });
  return error ? messagesByField(violationsOf(error), names, names[0]) : {};
};
