/** A value as DynamoDB's JSON has it, such as `{ S: 'text' }`. Bytes are base64. */
export type AttributeValue = Readonly<Record<string, unknown>>;

const isRecord = (value: object): value is Record<string, unknown> => {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

/** @throws Error for numbers that a table would keep otherwise than they are */
const numberText = (value: number): string => {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER)
    throw new Error(`The table cannot keep the number ${value} exactly.`);
  return String(value);
};

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

/**
 * A JavaScript value as DynamoDB's JSON. Members and elements that are undefined are left out.
 * @throws Error for what no attribute can hold: NaN, numbers past 2^53, functions, class instances, empty sets
 */
const toAttributeValue = (value: unknown): AttributeValue => {
  switch (typeof value) {
    case 'string':
      return { S: value };
    case 'number':
      return { N: numberText(value) };
    case 'bigint':
      return { N: String(value) };
    case 'boolean':
      return { BOOL: value };
    case 'object':
      if (value === null) return { NULL: true };
      if (Array.isArray(value)) return { L: value.filter((each) => each !== undefined).map(toAttributeValue) };
      if (value instanceof Uint8Array) return { B: base64(value) };
      if (value instanceof Set) return setOf([...value]);
      if (isRecord(value)) return { M: toAttributes(value) };
  }
  throw new Error(`The table cannot keep a value of type ${typeof value}.`);
};

const setOf = (values: readonly unknown[]): AttributeValue => {
  if (values.every((value) => typeof value === 'string') && values.length > 0) return { SS: values };
  if (values.every((value) => typeof value === 'number') && values.length > 0) return { NS: values.map(numberText) };
  throw new Error('The table keeps only sets of texts or of numbers, and no empty one.');
};

/** The members of an item, a key, or the values of an expression. @throws Error as toAttributeValue */
export const toAttributes = (values: Readonly<Record<string, unknown>>): Record<string, AttributeValue> =>
  // Not by assignment: a member may be named `__proto__`.
  Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, toAttributeValue(value)]),
  );

/** A bigint past 2^53, which a number would round. */
const numberOf = (text: string): number | bigint => {
  const value = Number(text);
  return Math.abs(value) > Number.MAX_SAFE_INTEGER && /^-?\d+$/.test(text) ? BigInt(text) : value;
};

type Reader = (value: never) => unknown;

const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['S', (text: string) => text],
  ['N', numberOf],
  ['BOOL', (value: boolean) => value],
  ['NULL', () => null],
  ['B', (text: string) => Buffer.from(text, 'base64')],
  ['L', (values: AttributeValue[]) => values.map(fromAttributeValue)],
  ['M', (values: Record<string, AttributeValue>) => fromAttributes(values)],
  ['SS', (values: string[]) => new Set(values)],
  ['NS', (values: string[]) => new Set(values.map(numberOf))],
  ['BS', (values: string[]) => new Set(values.map((text) => Buffer.from(text, 'base64')))],
]);

/** The JavaScript value of DynamoDB's JSON; a number past 2^53 is a bigint. @throws Error for a type that does not exist */
const fromAttributeValue = (value: AttributeValue): unknown => {
  for (const type in value) {
    const read = readers.get(type);
    if (read) return read(value[type] as never);
  }
  throw new Error(`A value of the table has none of the known types: ${Object.keys(value)}.`);
};

/** The members of an item or key as JavaScript values. */
export const fromAttributes = (attributes: Readonly<Record<string, AttributeValue>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, fromAttributeValue(value)]));
