import { describe, expect, it } from '@jest/globals';
import * as z from 'zod/mini';
import { operations } from '../../lambda/dashboard/operations.ts';
import { parseWith } from '../../lambda/http/parse-request.ts';

describe('violations', () => {
  const schema = z.strictObject({
    list: z.optional(z.array(z.enum(['a', 'b'])).check(z.minLength(1), z.maxLength(2))),
    amount: z.optional(z.number().check(z.gt(1))),
    kind: z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('x') }),
      z.strictObject({ type: z.literal('y') }),
    ]),
    code: z.optional(z.string().check(z.maxLength(3))),
    names: z.optional(z.record(z.string().check(z.maxLength(3)), z.unknown())),
  });
  const kind = { type: 'x' };

  it.each([
    [{ kind, list: [] }, 'list', 'must have at least 1 entry'],
    [{ kind, list: ['a', 'a', 'b'] }, 'list', 'must have at most 2 entries'],
    [{ kind, list: ['c'] }, 'list.0', 'must be one of a, b'],
    [{ kind, list: 'a' }, 'list', 'must be a list'],
    // Its length is that of no list.
    [{ kind, list: 'email' }, 'list', 'must be a list'],
    [{ kind, list: '' }, 'list', 'must be a list'],
    [{ kind, amount: 1 }, 'amount', 'must be more than 1'],
    [{ kind, amount: true }, 'amount', 'must be a number'],
    [{ kind: { type: 'z' } }, 'kind.type', 'must be one of x, y'],
    [{ kind: {} }, 'kind.type', 'is required'],
    [{ kind: { type: 'x', more: 1 } }, 'kind.more', 'is unknown'],
    [{ kind, code: 'abcd' }, 'code', 'must have at most 3 characters'],
    [{ kind, code: null }, 'code', 'must be text'],
    [{ kind, names: { abcd: 1 } }, 'names.abcd', 'has a name that must have at most 3 characters'],
  ])('of %j have a plain message', (value, path, message) => {
    expect(() => parseWith(schema, value)).toThrow(expect.objectContaining({ violations: [{ path, message }] }));
  });

  it('are reported once if two rules have the same message', () => {
    const rules = 'At least 3 characters, among them a digit.';
    const password = z.strictObject({ password: z.string().check(z.minLength(3, rules), z.regex(/\d/, rules)) });
    expect(() => parseWith(password, { password: 'x' })).toThrow(
      expect.objectContaining({ violations: [{ path: 'password', message: rules }] }),
    );
  });
});

/** Kinds of schemas and checks whose every violation has a message. */
const WITH_MESSAGE: ReadonlySet<string> = new Set([
  ...['string', 'number', 'boolean', 'enum', 'literal', 'array', 'object', 'record', 'never', 'unknown'],
  ...['optional', 'nullable', 'default'],
  ...['min_length', 'max_length', 'greater_than', 'less_than', 'number_format'],
  ...['overwrite', 'describe', 'meta'],
]);

const isPart = (value: unknown): value is z.core.$ZodType | z.core.$ZodCheck =>
  typeof value === 'object' && value !== null && '_zod' in value;

/** Schemas and checks without a message, neither their own nor a default one. */
const withoutMessage = (part: z.core.$ZodType | z.core.$ZodCheck): string[] => {
  const def: object & { type?: string; check?: string; error?: unknown; discriminator?: string } = part._zod.def;
  const { type = '', check = type, error, discriminator } = def;
  const hasMessage = error !== undefined || discriminator !== undefined || WITH_MESSAGE.has(check);
  const members = Object.values(def).flatMap((value: unknown) =>
    typeof value === 'object' && value !== null && !isPart(value) ? Object.values(value) : [value],
  );
  return [
    ...(hasMessage ? [] : [check]),
    ...(error === undefined ? members.filter(isPart).flatMap(withoutMessage) : []),
  ];
};

describe('the schemas of requests', () => {
  const schemas = operations.flatMap(({ id, params, query, body }) =>
    [params, query, body].flatMap((schema) => (schema ? [{ id, schema }] : [])),
  );

  it.each(schemas)('of $id have a message for every violation', ({ schema }) => {
    expect(withoutMessage(schema)).toEqual([]);
  });

  it('without a message are detected', () => {
    expect(withoutMessage(z.object({ page: z.optional(z.url()), odd: z.number().check(z.multipleOf(2)) }))).toEqual([
      'string_format',
      'multiple_of',
    ]);
    expect(withoutMessage(z.url('must be a URL'))).toEqual([]);
  });
});
