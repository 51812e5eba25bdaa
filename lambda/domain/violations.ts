import type * as z from 'zod/mini';
import type { Violation } from './errors.ts';

const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** The message of a schema. zod would give it where the value is missing, too. */
export const orRequired =
  (message: string) =>
  ({ input }: { readonly input?: unknown }): string =>
    input === undefined ? 'is required' : message;

const oneOf = (values: readonly unknown[]): string =>
  values.length === 1 ? `must be ${String(values[0])}` : `must be one of ${values.join(', ')}`;

const limit = (
  { origin, inclusive }: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig,
  [than, bound]: readonly ['more' | 'less', number | bigint],
): string => {
  const least = than === 'more' ? 'at least' : 'at most';
  if (origin === 'string')
    return than === 'more' && bound === 1 ? 'must not be empty' : `must have ${least} ${bound} characters`;
  if (origin === 'array') return `must have ${least} ${bound} ${bound === 1 ? 'entry' : 'entries'}`;
  return inclusive === false ? `must be ${than} than ${bound}` : `must be ${least} ${bound}`;
};

/**
 * Messages for every violation that the request schemas can report, except formats, which define their own. zod/mini has no
 * messages itself.
 */
export const messageFor: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${kinds[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return issue.input === undefined ? 'is required' : oneOf(issue.values);
    case 'invalid_union': {
      const { discriminator, options, input } = issue as {
        discriminator?: string;
        options?: unknown[];
        input?: unknown;
      };
      if (discriminator === undefined) return undefined;
      const isMissing = (input as Record<string, unknown>)[discriminator] === undefined;
      return isMissing ? 'is required' : oneOf(options ?? []);
    }
    case 'too_small':
      return limit(issue as z.core.$ZodIssueTooSmall, ['more', issue.minimum]);
    case 'too_big':
      return limit(issue as z.core.$ZodIssueTooBig, ['less', issue.maximum]);
    case 'invalid_key':
      return `has a name that ${issue.issues[0]?.message}`;
    default:
      return undefined;
  }
};

const inOneIssue = (issue: z.core.$ZodIssue): Violation[] =>
  issue.code === 'unrecognized_keys'
    ? issue.keys.map((key) => ({ path: [...issue.path, key].join('.'), message: 'is unknown' }))
    : [{ path: issue.path.join('.'), message: issue.message }];

/**
 * The violations of a request without duplicates. The path of an unknown member includes its name. A value of the wrong type has no
 * other violation: zod measures the text where a list is missing, too.
 */
export const violationsOf = ({ issues }: z.core.$ZodError): Violation[] => {
  const ofWrongType = new Set(issues.filter(({ code }) => code === 'invalid_type').map(({ path }) => path.join('.')));
  const violations = issues
    .filter(({ code, path }) => code === 'invalid_type' || !ofWrongType.has(path.join('.')))
    .flatMap(inOneIssue);
  return [...new Map(violations.map((violation) => [`${violation.path}\n${violation.message}`, violation])).values()];
};
