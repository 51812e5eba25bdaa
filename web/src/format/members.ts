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
    return [[path, texts.join(', ')]];
  }
  if (typeof value !== 'object' || value === null) return [[path, names.get(String(value)) ?? String(value)]];
  return Object.entries(value).flatMap(([name, each]) =>
    membersOf(each, names, path === '' ? name : `${path}.${name}`),
  );
};
