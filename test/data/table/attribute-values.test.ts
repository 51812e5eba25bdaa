import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fromAttributes, toAttributes } from '../../../lambda/data/table/attribute-values.ts';

/** As the SDK writes it to the wire: bytes in base64. */
const ofSdk = (item: Record<string, unknown>) =>
  JSON.parse(
    JSON.stringify(marshall(item, { removeUndefinedValues: true }), (_, value) =>
      value?.type === 'Buffer' ? Buffer.from(value.data).toString('base64') : value,
    ),
  );

const number = fc.oneof(fc.integer(), fc.maxSafeInteger(), fc.double({ noNaN: true, min: -1e9, max: 1e9 }));
const leaf = fc.oneof(
  fc.string({ unit: 'binary' }),
  number,
  fc.bigInt(),
  fc.boolean(),
  fc.constant(null),
  fc.constant(undefined),
  fc.uint8Array().map((bytes) => Buffer.from(bytes)),
  fc.uniqueArray(fc.string(), { minLength: 1 }).map((values) => new Set(values)),
  fc.uniqueArray(fc.integer(), { minLength: 1 }).map((values) => new Set(values)),
);
// The SDK loses a member of this name.
const name = fc.string().filter((text) => text !== '__proto__');
const item = fc.dictionary(
  name,
  fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, leaf, fc.array(tie('value')), fc.dictionary(name, tie('value'))),
  })).value,
);

describe('attributes', () => {
  it('are written as the SDK writes them, and read as it reads them', () => {
    fc.assert(
      fc.property(item, (values) => {
        const written = toAttributes(values);
        expect(written).toEqual(ofSdk(values));
        const bytesRead = JSON.parse(JSON.stringify(written), (key, value) =>
          key === 'B' && typeof value === 'string' ? Buffer.from(value, 'base64') : value,
        );
        if (!JSON.stringify(written).includes('"B":{')) expect(fromAttributes(written)).toEqual(unmarshall(bytesRead));
      }),
    );
  });

  it('keep bytes of a view, members named like a prototype, and sums past 2^53', () => {
    const view = new Uint8Array([9, 1, 2, 3, 9]).subarray(1, 4);
    const values = { bytes: view, sum: 2n ** 70n, ['__proto__']: { ['__proto__']: 1 } };
    const read = fromAttributes(JSON.parse(JSON.stringify(toAttributes(values))));
    expect(read['bytes']).toEqual(Buffer.from([1, 2, 3]));
    expect(read['sum']).toBe(2n ** 70n);
    expect(Object.entries(Object.getOwnPropertyDescriptor(read, '__proto__')?.value)).toEqual([['__proto__', 1]]);
  });

  it.each([
    ['NaN', Number.NaN],
    ['an infinite number', Number.POSITIVE_INFINITY],
    ['a number past 2^53, which may be rounded', 2 ** 53],
    ['an empty set', new Set()],
    ['a set of different kinds', new Set([1, 'a'])],
    ['a date', new Date()],
    ['a function', () => 0],
  ])('refuse %s instead of keeping something else', (_, value) => {
    expect(() => toAttributes({ value })).toThrow(/^The table /);
  });

  it('of a type that does not exist are an error', () => {
    expect(() => fromAttributes({ a: { X: '1' } })).toThrow('none of the known types: X');
    expect(() => fromAttributes({ a: { constructor: '1' } })).toThrow('none of the known types: constructor');
  });
});
