import { providerLabels } from '../../lambda/domain/providers.ts';

/** Reads a parameter of a URL. Undefined for what it does not take. */
type Reader = (value: unknown) => unknown;

/** A function that reads the parameters of a page, each with its reader. The router would leave those as they came that it left out. */
export const searchOf =
  <Readers extends Readonly<Record<string, Reader>>>(readers: Readers) =>
  (search: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(readers).map(([name, reader]) => [name, reader(search[name])])) as {
      readonly [Name in keyof Readers]?: ReturnType<Readers[Name]> | undefined;
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

/** A new limit begins with these: the page that links here knows its type and what it is about. */
export const limitSearch = searchOf({
  type: text,
  provider: text,
  model: text,
  tag: text,
  key: text,
  project: text,
  member: text,
  client: text,
  dimension: text,
  dimensionValue: text,
});

export type LimitSearch = ReturnType<typeof limitSearch>;

export const day = (value: unknown): string | undefined =>
  /^\d{4}-\d\d-\d\d$/.test(String(value)) ? String(value) : undefined;

/** The first and last day (UTC) of a list. */
export const daysSearch = searchOf({ from: day, to: day });

/** The provider, and the first and last day (UTC) of its bill. */
export const reconciliationSearch = searchOf({ provider: oneOf(providerLabels), from: day, to: day });
