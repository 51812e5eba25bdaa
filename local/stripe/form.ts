type Nested = { [key: string]: string | Nested };

const isIndex = (key: string): boolean => /^\d+$/.test(key);

/** Objects whose keys are all numbers are lists. */
const withLists = (value: string | Nested): unknown => {
  if (typeof value === 'string') return value;
  const keys = Object.keys(value);
  if (keys.length > 0 && keys.every(isIndex)) return keys.map((key) => withLists(value[key] as string | Nested));
  return Object.fromEntries(keys.map((key) => [key, withLists(value[key] as string | Nested)]));
};

/** Reads Stripe's parameters: `line_items[0][price]=x` is `{line_items: [{price: 'x'}]}`. */
export const parseForm = (parameters: URLSearchParams): unknown => {
  const root: Nested = {};
  for (const [name, value] of parameters) {
    const path = name.split(/[[\]]+/).filter((part) => part !== '');
    const last = path.pop() as string;
    let at = root;
    for (const part of path) {
      const next = at[part];
      const inner = typeof next === 'object' ? next : {};
      at[part] = inner;
      at = inner;
    }
    at[last] = value;
  }
  return withLists(root);
};
