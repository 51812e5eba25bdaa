import type { AuditEntry } from '../api/responses.ts';
import { membersOf } from '../forms/changes.ts';
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

/** Details by path, the name first: their order in the log is not always the same. The members of a config are the item's own. */
const flat = (details: Texts, names: KeyNames): Map<string, string> =>
  new Map(
    Object.entries(details)
      .sort(([a], [b]) => (a === 'name' || (b !== 'name' && a < b) ? -1 : 1))
      .flatMap(([name, value]) => membersOf(parsed(value || 'none'), names, name === 'config' ? '' : name)),
  );

/** Subject of an entry: `Team, amount: 100 → 200` of a change, else all of its details. */
export const detailsText = (
  { details, before }: Pick<AuditEntry, 'details' | 'before'>,
  names: KeyNames = new Map(),
): string => {
  const { name } = details;
  const replaced = Object.keys(before ?? {});
  if (!before || replaced.length === 0) return [...flat(details, names)].map((each) => each.join(': ')).join(', ');
  const then = flat(before, names);
  const now = flat(Object.fromEntries(Object.entries(details).filter(([name]) => replaced.includes(name))), names);
  const changes = [...new Set([...then.keys(), ...now.keys()])]
    .map((path) => ({ path, old: then.get(path) ?? 'none', value: now.get(path) ?? 'none' }))
    .filter(({ old, value }) => old !== value)
    .map(({ path, old, value }) => `${path}: ${old} → ${value}`);
  return [...(name === undefined || replaced.includes('name') ? [] : [name]), ...changes].join(', ');
};
