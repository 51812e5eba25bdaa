import * as z from 'zod/mini';
import { type Day, dayOf } from '../calendar/utc.ts';
import { invalid } from '../errors.ts';
import type { DeclaredName } from './dimensions.ts';

/** Each declared name costs one more counter write for a request on its own. */
export const MAX_DECLARED = 5;
/** Names that an account ever declared. Their sums stay readable, and a rollup reads the counters of each. */
export const MAX_DECLARED_EVER = 20;
/** Periods of a name that are remembered. */
const MAX_PERIODS = 20;

/** A part of a storage key and of a query parameter. */
export const DIMENSION_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
export const DIMENSION_NAME_RULE = 'must have 1 to 64 of A-Z, a-z, 0-9, `_`, `.` and `-`, the first a letter or digit';

/** A time during which a name is declared. `until` is not included, and null while it lasts. */
const periodSchema = z.object({ from: z.iso.datetime(), until: z.nullable(z.iso.datetime()) });

/** A metadata name that is, or was, a dimension of an account. Its periods are ascending. */
export const declaredDimensionSchema = z.object({ name: z.string(), periods: z.array(periodSchema) });
export type DeclaredDimension = z.infer<typeof declaredDimensionSchema>;

export const declaredName = (name: string): DeclaredName => `dim:${name}`;

export const isDeclared = ({ periods }: DeclaredDimension): boolean => periods.at(-1)?.until === null;

/** The names under which a request that began at an instant is counted. */
export const declaredAt = (declared: readonly DeclaredDimension[], startedAt: string): DeclaredName[] =>
  declared
    .filter(({ periods }) =>
      periods.some(({ from, until }) => from <= startedAt && (until === null || startedAt < until)),
    )
    .map(({ name }) => declaredName(name));

/** Whether it was declared at some time of a day. */
export const declaredDuring = ({ periods }: DeclaredDimension, day: Day): boolean =>
  periods.some(({ from, until }) => dayOf(from) <= day && (until === null || day <= dayOf(until)));

/**
 * Makes some names the dimensions of an account. A name that is declared already keeps its time, a missing name ends, and a name that
 * is declared again begins a new period. Nothing that was counted changes.
 *
 * @param now ISO 8601 UTC
 * @throws ValidationError where the account would have had more than MAX_DECLARED_EVER names
 */
export const declare = (
  declared: readonly DeclaredDimension[],
  names: readonly string[],
  now: string,
): DeclaredDimension[] => {
  const kept = declared.map((dimension): DeclaredDimension => {
    const { name, periods } = dimension;
    if (names.includes(name))
      return isDeclared(dimension)
        ? dimension
        : { name, periods: [...periods, { from: now, until: null }].slice(-MAX_PERIODS) };
    return isDeclared(dimension)
      ? { name, periods: periods.map(({ from, until }) => ({ from, until: until ?? now })) }
      : dimension;
  });
  const before = new Set(declared.map(({ name }) => name));
  const added = names
    .filter((name) => !before.has(name))
    .map((name): DeclaredDimension => ({ name, periods: [{ from: now, until: null }] }));
  if (kept.length + added.length > MAX_DECLARED_EVER)
    throw invalid(
      'names',
      `an account may declare ${MAX_DECLARED_EVER} names over time: use one of ${[...before].join(', ')}`,
    );
  return [...kept, ...added];
};
