import type { AuditEntry } from '../api/responses.ts';
import type { KeyNames } from '../spend/groups.ts';

/** `key.created` as text. */
export const actionText = (action: string): string => action.replace('.', ' ').replaceAll('_', ' ');

type Texts = Readonly<Record<string, string>>;

const parsed = (value: string): unknown => {
  if (!/^[{[]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
};

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The members of a value by their paths, `filter.tag`; a list is one member. */
const membersOf = (value: unknown, path: string, names: KeyNames): [string, string][] => {
  if (Array.isArray(value)) {
    const texts = value.map((each) =>
      membersOf(each, '', names)
        .map(([name, text]) => `${name} ${text}`.trim())
        .join(' '),
    );
    return [[path, texts.join(', ')]];
  }
  if (!isObject(value)) return [[path, names.get(String(value)) ?? String(value)]];
  return Object.entries(value).flatMap(([name, each]) =>
    membersOf(each, path === '' ? name : `${path}.${name}`, names),
  );
};

/** Details by path. The members of a config are the item's own. */
const flat = (details: Texts, names: KeyNames): Map<string, string> =>
  new Map(
    Object.entries(details).flatMap(([name, value]) => membersOf(parsed(value), name === 'config' ? '' : name, names)),
  );

/** What an entry is about: `Team, amount: 100 → 200` of a change, else all of its details. */
export const detailsText = (
  { details, before }: Pick<AuditEntry, 'details' | 'before'>,
  names: KeyNames = new Map(),
): string => {
  const replaced = Object.keys(before ?? {});
  if (!before || replaced.length === 0)
    return [...flat(details, names)].map(([name, text]) => `${name}: ${text}`).join(', ');
  const then = flat(before, names);
  const now = flat(Object.fromEntries(Object.entries(details).filter(([name]) => replaced.includes(name))), names);
  const changes = [...new Set([...then.keys(), ...now.keys()])]
    .filter((name) => then.get(name) !== now.get(name))
    .map((name) => `${name}: ${then.get(name) ?? 'none'} → ${now.get(name) ?? 'none'}`);
  const { name } = details;
  return [...(name === undefined || replaced.includes('name') ? [] : [name]), ...changes].join(', ');
};
