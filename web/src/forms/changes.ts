import type { KeyNames } from '../spend/groups.ts';

/** The members of a value by their paths, `filter.tag`, as text; a list is one member. */
export const membersOf = (
  value: unknown,
  names: ReadonlyMap<string, string> = new Map(),
  path = '',
): [string, string][] => {
  if (value === undefined) return [];
  if (Array.isArray(value)) {
    const texts = value.map((each) =>
      membersOf(each, names)
        .map((member) => member.join(' ').trim())
        .join(' '),
    );
    return [[path, texts.join(', ') || 'none']];
  }
  if (typeof value !== 'object' || value === null)
    return [[path, value === null ? 'none' : (names.get(String(value)) ?? String(value))]];
  return Object.entries(value).flatMap(([name, each]) =>
    membersOf(each, names, path === '' ? name : `${path}.${name}`),
  );
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A body of the API as a form makes it: members may be missing, and a null is no value. */
export type BodyOf<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [M in keyof T]?: BodyOf<T[M]> | null | undefined }
    : T;

/**
 * Difference from one body to another, as a JSON merge patch (RFC 7396): members that stay are left out, a null removes one. What
 * neither body has, because no form shows it, is in no patch. From nothing, it is the body without its nulls.
 *
 * @param whole members that the API replaces, where a null is a value
 */
export const changesOf = (before: object, after: object, whole: readonly string[] = []): Record<string, unknown> => {
  const [was, is] = [before, after] as Readonly<Record<string, unknown>>[];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return Object.fromEntries(
    names.flatMap((name): [string, unknown][] => {
      const [old, value] = [was?.[name] ?? null, is?.[name] ?? null];
      if (JSON.stringify(old) === JSON.stringify(value)) return [];
      if (!isObject(value) || whole.includes(name)) return [[name, value]];
      const changes = changesOf(isObject(old) ? old : {}, value, whole);
      return Object.keys(changes).length === 0 ? [] : [[name, changes]];
    }),
  );
};

/** The members that a change replaces, as an item has them, by their dotted paths. @param whole see changesOf */
export const replacedBy = (
  change: object,
  item: object,
  whole: readonly string[] = [],
  path = '',
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(change).flatMap(([name, value]) => {
      const old = (item as Readonly<Record<string, unknown>>)[name] ?? null;
      // No path leads to a name with a dot.
      const hasPaths =
        isObject(value) && !whole.includes(name) && Object.keys(value).every((each) => !each.includes('.'));
      return hasPaths && isObject(old)
        ? Object.entries(replacedBy(value, old, whole, `${path}${name}.`))
        : [[`${path}${name}`, old]];
    }),
  );

/** Members of items that nobody sets in a form: what the service says of an item, and its switch, which lists have. */
const notSet = [
  'id',
  'type',
  'isActive',
  'createdAt',
  'updatedAt',
  'webhookSecret',
  'state',
  'nextAt',
  'runs',
  'months',
];

/** Members of an item that its form does not show: `limit: 5`. @param shown the item as its form would send it */
export const hiddenIn = (item: object, shown: object, names: KeyNames = new Map()): string[] => {
  const settings = Object.fromEntries(Object.entries(item).filter(([name]) => !notSet.includes(name)));
  const seen = new Map(membersOf(shown, names));
  return membersOf(settings, names)
    .filter(([path, text]) => text !== 'none' && seen.get(path) !== text)
    .map(([path, text]) => `${path.replace(/^config\./, '')}: ${text}`);
};
