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

type Part = z.core.$ZodType | z.core.$ZodCheck;

const isPart = (value: unknown): value is Part => typeof value === 'object' && value !== null && '_zod' in value;

/** The schemas and checks that report violations of their own. The parts of a template literal do not. */
const partsOf = (part: Part): Part[] =>
  Object.values('parts' in part._zod.def ? {} : (part._zod.def as object))
    .flatMap((value) =>
      typeof value === 'object' && value !== null && !isPart(value) ? Object.values(value) : [value],
    )
    .filter(isPart);

/** Schemas and checks without a message, neither their own nor a default one. */
const withoutMessage = (part: Part): string[] => {
  const def: object & { type?: string; check?: string; error?: unknown; discriminator?: string } = part._zod.def;
  const { type = '', check = type, error, discriminator } = def;
  const hasMessage = error !== undefined || discriminator !== undefined || WITH_MESSAGE.has(check);
  // A union's message stands for those of its options, but not for those of their members.
  const parts = error === undefined ? partsOf(part) : type === 'union' ? partsOf(part).flatMap(partsOf) : [];
  return [...(hasMessage ? [] : [check]), ...parts.flatMap(withoutMessage)];
};

describe('the schemas of requests', () => {
  const DAYS = { from: '2026-05-01', to: '2026-05-31' };
  const budget = { name: 'x', amount: 5, period: 'daily' };
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
    expect(withoutMessage(z.union([z.strictObject({ page: z.url() }), z.iso.date()], 'must be a page'))).toEqual([
      'string_format',
    ]);
  });

  it.each([
    ['createKey', { name: 'x', validUntil: 'soon' }, 'validUntil', 'must be an instant (2026-11-20T16:00:00Z)'],
    [
      'createPrice',
      { name: 'x', from: '0000-01-01T00:00:00+01:00', terms: { kind: 'discount', percent: 5 } },
      'from',
      'must be in the years 0 to 9999 (UTC)',
    ],
    ['createPrice', { name: 'x', terms: { kind: 'discount', percent: 5 } }, 'from', 'is required'],
    ['declareDimensions', { names: ['a b'] }, 'names.0', expect.stringContaining('must have 1 to 64 of')],
    ['createBudget', { ...budget, period: undefined }, 'period', 'is required'],
    [
      'createBudget',
      { ...budget, period: 'yearly' },
      'period',
      expect.stringContaining('must be one of hourly, daily'),
    ],
    ['createBudget', { ...budget, period: { ...DAYS, from: '1 May' } }, 'period.from', 'must be a date (2026-11-20)'],
    ['createBudget', { ...budget, period: { ...DAYS, to: '2026-04-30' } }, 'period.to', '`to` is before `from`'],
    [
      'createBudget',
      { ...budget, unknownCost: {} },
      'unknownCost',
      expect.stringContaining('must be ignore, block or'),
    ],
    [
      'createBudget',
      { ...budget, filter: { tag: 'a', client: 'b' } },
      'filter',
      expect.stringContaining('cannot be combined'),
    ],
  ])('of %s have one violation for %j', (id, body, path, message) => {
    const schema = operations.find((operation) => operation.id === id)?.body ?? z.never();
    expect(() => parseWith(schema, body)).toThrow(expect.objectContaining({ violations: [{ path, message }] }));
  });
});
