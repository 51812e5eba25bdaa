import type { ZodMiniType } from 'zod/mini';
import { messageFor, violationsOf } from '../../../lambda/domain/violations.ts';
import { detailsOf, problemOf } from '../api/problem.ts';

/** The password rules that the pages can check; the API checks all of them. */
export const PASSWORD_RULE = '12 characters or more, and not easy to guess: several words that do not belong together.';

export const passwordProblem = (password: string): string | null => {
  if (password.length < 12) return 'At least 12 characters.';
  return password.trim() === password ? null : 'No spaces at the start or end.';
};

export const emailProblem = (email: string): string | null =>
  /^\S+@\S+\.\S{2,}$/.test(email.trim()) ? null : 'An e-mail address, such as ada@example.com.';

export const required = (what: string) => (value: string) => (value.trim() === '' ? `${what} is required.` : null);

/** The choices of a select, by their values. */
export const choicesOf = <Value extends string | number>(labels: Readonly<Record<Value, string>>) =>
  (Object.entries(labels) as [`${Value}`, string][]).map(([value, label]) => ({ value, label }));

/** Fields of forms that have another name in the API. */
const ALIASES: Readonly<Record<string, string>> = {
  dim: 'dimensionValue',
  validUntil: 'lastDay',
  until: 'lastDay',
  filter: 'scope',
  countAsUsd: 'countAs',
};

/** The names of a form's fields; those of rows and records are paths: `tiers.1.percent`. */
export const fieldNames = (values: object): string[] =>
  Object.entries(values).flatMap(([name, value]) => {
    const isGroup = typeof (Array.isArray(value) ? value[0] : value) === 'object' && value !== null;
    return isGroup ? fieldNames(value).map((field) => `${name}.${field}`) : [name];
  });

/** The field of a form that a path such as `config.filter.model` is about. */
const fieldOf = (path: string, names: readonly string[]): string | undefined =>
  names.find((name) => name === path || (name.includes('.') && path.endsWith(`.${name}`))) ??
  path
    .split('.')
    .map((part) => ALIASES[part] ?? part)
    .findLast((part) => names.includes(part));

/** Messages about members of a body, by the names in the form. @param otherwise the field for messages about other members */
const messagesByField = (
  details: readonly { readonly path: string; readonly message: string }[],
  names: readonly string[],
  otherwise?: string,
): Record<string, string> =>
  Object.fromEntries(
    details.flatMap(({ path, message }) => {
      const name = fieldOf(path, names) ?? otherwise;
      return name === undefined ? [] : [[name, message]];
    }),
  );

/** The API's error messages on single fields, by the names in the form. */
export const fieldErrors = (error: unknown, values: object): Record<string, string> =>
  messagesByField(problemOf(error).details, fieldNames(values));

/** Those that are about no field of the form. Without a response nobody knows whether the request arrived. */
export const otherErrors = (error: unknown, values: object): string[] =>
  ['NETWORK', 'LATE'].includes(problemOf(error).code)
    ? ['What was sent may have been saved all the same. Look before you send it again.']
    : detailsOf(error, (path) => fieldOf(path, fieldNames(values)) !== undefined);

/** What the API's schema says of a part of a body, by its paths. */
export const violationsIn = (schema: ZodMiniType, part: unknown) => {
  const { error } = schema.safeParse(part, { error: messageFor });
  return error ? violationsOf(error) : [];
};

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
): Record<string, string> => messagesByField(violationsIn(schema, part), names, names[0]);
