import fc from 'fast-check';

/** The parts of JSON Schema that the OpenAPI document uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly format?: string;
  readonly pattern?: string;
}

const letters = fc.constantFrom(...'abcXYZ019 _-.äß€😀'.split(/(?:)/u));

const formats: Readonly<Record<string, fc.Arbitrary<string>>> = {
  email: fc.stringMatching(/^[a-z0-9]{1,12}@[a-z]{2,8}\.[a-z]{2,3}$/),
  password: fc.constantFrom('correct horse 1', 'pass word ü9 lamp', 'wombat-lamp-stir'),
  date: fc
    .date({ min: new Date('2025-12-01'), max: new Date('2027-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10)),
  'date-time': fc
    .date({ min: new Date('2026-10-01'), max: new Date('2027-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString()),
};

const text = ({
  format,
  pattern,
  minLength = 0,
  maxLength = Number.POSITIVE_INFINITY,
}: Schema): fc.Arbitrary<string> => {
  const known = format === undefined ? undefined : formats[format];
  if (known) return known;
  const any = fc.string({ unit: letters, minLength, maxLength: Math.min(maxLength, Math.max(minLength, 40)) });
  if (pattern === undefined) return any;
  const regex = new RegExp(pattern, 'u');
  // Most texts match the pattern of a name. It has a lookahead, which stringMatching cannot draw; others hardly ever match by chance.
  if (pattern.includes('(?!')) return any.filter((value) => regex.test(value));
  return fc.stringMatching(regex, { size: 'small' }).filter(({ length }) => length >= minLength && length <= maxLength);
};

const number = ({ type, minimum, exclusiveMinimum, maximum = 1_000_000 }: Schema): fc.Arbitrary<number> => {
  const min = minimum ?? exclusiveMinimum ?? 0;
  const max = Math.min(maximum, Math.max(min, 1_000_000));
  return type === 'integer'
    ? fc.integer({ min: Math.ceil(min), max: Math.floor(max) })
    : fc.double({ min, max, noNaN: true, minExcluded: exclusiveMinimum !== undefined });
};

/** Values that a schema of the document describes. */
export const schemaArbitrary = (schema: Schema, resolve: (ref: string) => Schema): fc.Arbitrary<unknown> => {
  const of = (each: Schema) => schemaArbitrary(each, resolve);
  if (schema.$ref !== undefined) return of(resolve(schema.$ref));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) return fc.oneof(...options.map(of));
  switch (schema.type) {
    case 'object': {
      const named = fc.record(
        Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, each]) => [name, of(each)])),
        { requiredKeys: [...(schema.required ?? [])] },
      );
      return schema.properties === undefined
        ? fc.dictionary(
            schema.propertyNames ? (of(schema.propertyNames) as fc.Arbitrary<string>) : fc.string({ maxLength: 8 }),
            typeof schema.additionalProperties === 'object'
              ? of(schema.additionalProperties)
              : fc.jsonValue({ maxDepth: 1 }),
            { maxKeys: 3 },
          )
        : named;
    }
    case 'array':
      return fc.array(of(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 5, 5),
      });
    case 'string':
      return text(schema);
    case 'integer':
    case 'number':
      return number(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
};

/** A mutation of a value, in most cases invalid. */
export const mutated = (value: unknown): fc.Arbitrary<unknown> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return fc.jsonValue({ maxDepth: 2 });
  const entries = Object.entries(value);
  const names = entries.map(([name]) => name);
  const changes: fc.Arbitrary<unknown>[] = [
    fc.jsonValue({ maxDepth: 2 }),
    fc
      .tuple(fc.string({ minLength: 1, maxLength: 8 }), fc.jsonValue({ maxDepth: 1 }))
      .map(([name, more]) => ({ ...value, [name]: more })),
  ];
  if (names.length > 0) {
    const name = fc.constantFrom(...names);
    changes.push(
      name.map((gone) => Object.fromEntries(entries.filter(([each]) => each !== gone))),
      name.chain((which) =>
        mutated((value as Record<string, unknown>)[which]).map((wrong) => ({ ...value, [which]: wrong })),
      ),
    );
  }
  return fc.oneof(...changes);
};
