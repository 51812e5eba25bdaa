/** Reads a parameter of a URL. Undefined for what it does not take. */
type Reader = (value: unknown) => unknown;

/** A function that reads the parameters of a page, each with its reader, and leaves out all others. */
export const searchOf =
  <Readers extends Readonly<Record<string, Reader>>>(readers: Readers) =>
  (search: Record<string, unknown>) => {
    const read = Object.entries(readers).map(([name, reader]) => [name, reader(search[name])]);
    return Object.fromEntries(read.filter(([, value]) => value !== undefined)) as {
      readonly [Name in keyof Readers]?: ReturnType<Readers[Name]> | undefined;
    };
  };

/** The router parses values: a text of digits alone comes as a number. */
export const text = (value: unknown): string | undefined => {
  if (value === undefined || value === '') return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
};

export const oneOf =
  <const Value extends string>(known: readonly Value[]) =>
  (value: unknown): Value | undefined =>
    known.find((each) => each === value);

/** The page to open after signing in. Only a path of this site: `next` may come from a malicious link. */
export const nextOf = (search: object): string => {
  const next = 'next' in search ? search.next : undefined;
  return typeof next === 'string' && /^\/(?![/\\])/.test(next) ? next : '/';
};
