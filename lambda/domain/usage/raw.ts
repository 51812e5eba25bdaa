/* Functions that read what providers send. Any JSON may be anywhere, so none of them throws. */

export type Raw = Readonly<Record<string, unknown>>;

/** No request has more of anything, so larger counts are ignored. Keeps sums of counts safe integers. */
const MAX_COUNT = 10_000_000_000;

export const isRaw = (value: unknown): value is Raw =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isPresent = (value: unknown): boolean => value !== undefined && value !== null;

/** The member at the end of a path of names, undefined where the path ends early. */
export const at = (value: unknown, ...path: readonly string[]): unknown => {
  let here = value;
  for (const name of path) here = isRaw(here) && Object.hasOwn(here, name) ? here[name] : undefined;
  return here;
};

/** A plausible number, at least 0. It may be a decimal string, as protobuf's JSON writes int64. Null for anything else. */
export const amountOf = (value: unknown): number | null => {
  const number = typeof value === 'string' && /^\d{1,15}(\.\d+)?(e[+-]?\d{1,3})?$/i.test(value) ? Number(value) : value;
  return typeof number === 'number' && number >= 0 && number <= MAX_COUNT ? number : null;
};

/** The first of the values that is a number, as a whole count; null where none is. */
export const countOf = (...values: readonly unknown[]): number | null => {
  const amount = values.map(amountOf).find((each) => each !== null) ?? null;
  return amount === null ? null : Math.floor(amount);
};

/** As countOf, 0 where none is a number. */
export const count = (...values: readonly unknown[]): number => countOf(...values) ?? 0;

/** The sum of the counts in an object of them, but for those of these names. */
export const sumOfCounts = (counts: unknown, except: ReadonlySet<string> = new Set()): number =>
  Object.entries(isRaw(counts) ? counts : {}).reduce(
    (sum, [name, each]) => sum + (except.has(name) ? 0 : count(each)),
    0,
  );

/** Tokens by lower-case modality from a list such as Gemini's `[{ modality: 'TEXT', tokenCount: 12 }]`. */
export const byModality = (list: unknown): ReadonlyMap<string, number> => {
  const sums = new Map<string, number>();
  if (!Array.isArray(list)) return sums;
  for (const item of list) {
    const modality = at(item, 'modality');
    if (typeof modality !== 'string') continue;
    const name = modality.toLowerCase();
    sums.set(name, (sums.get(name) ?? 0) + count(at(item, 'tokenCount'), at(item, 'tokens')));
  }
  return sums;
};
