import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { parseWith } from '../../lambda/http/parse-request.ts';

describe('what is wrong', () => {
  const schema = z.strictObject({
    list: z
      .array(z.enum(['a', 'b']))
      .min(1)
      .max(2)
      .optional(),
    amount: z.number().gt(1).optional(),
    kind: z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('x') }),
      z.strictObject({ type: z.literal('y') }),
    ]),
    code: z.string().max(3).optional(),
  });
  const kind = { type: 'x' };

  it.each([
    [{ kind, list: [] }, 'list', 'must have at least 1 entry'],
    [{ kind, list: ['a', 'a', 'b'] }, 'list', 'must have at most 2 entries'],
    [{ kind, list: ['c'] }, 'list.0', 'must be one of a, b'],
    [{ kind, list: 'a' }, 'list', 'must be a list'],
    [{ kind, amount: 1 }, 'amount', 'must be more than 1'],
    [{ kind, amount: true }, 'amount', 'must be a number'],
    [{ kind: { type: 'z' } }, 'kind.type', 'must be one of x, y'],
    [{ kind: {} }, 'kind.type', 'is required'],
    [{ kind: { type: 'x', more: 1 } }, 'kind.more', 'is not known here'],
    [{ kind, code: 'abcd' }, 'code', 'must have at most 3 characters'],
    [{ kind, code: null }, 'code', 'must be text'],
  ])('in %j is said in plain words', (value, path, message) => {
    expect(() => parseWith(schema, value)).toThrow(expect.objectContaining({ violations: [{ path, message }] }));
  });

  it('is said once, where two rules share their words', () => {
    const rules = 'At least 3 characters, among them a digit.';
    const password = z.strictObject({ password: z.string().min(3, rules).regex(/\d/, rules) });
    expect(() => parseWith(password, { password: 'x' })).toThrow(
      expect.objectContaining({ violations: [{ path: 'password', message: rules }] }),
    );
  });
});
