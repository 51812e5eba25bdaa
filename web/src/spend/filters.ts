import { combinationProblem, type DeclaredName, isAllocation } from '../../../lambda/domain/spend/dimensions.ts';

/** The dimensions that every account has, by their API names. */
export const dimensions = ['provider', 'model', 'tag', 'key', 'project', 'providerKey', 'client'] as const;

/** A dimension of spend; `dim:team` is the declared dimension `team`. */
export type Dimension = (typeof dimensions)[number] | DeclaredName;

/** The values to include, by dimension; the empty string is "none". A missing dimension includes all. */
export type Filters = { readonly [D in Dimension]?: readonly string[] | undefined };

const names: Readonly<Record<(typeof dimensions)[number], string>> = {
  provider: 'Provider',
  model: 'Model',
  tag: 'Tag',
  key: 'Service key',
  project: 'Project',
  providerKey: 'Provider key',
  client: 'Client',
};

export const isDeclared = (dimension: string): dimension is DeclaredName => dimension.startsWith('dim:');

/** The name of a declared dimension as the account sends it. */
export const sentName = (dimension: DeclaredName): string => dimension.slice('dim:'.length);

export const dimensionName = (dimension: Dimension): string =>
  isDeclared(dimension) ? sentName(dimension) : names[dimension];

/** The same in the middle of a sentence. A declared name keeps its case. */
export const dimensionWord = (dimension: Dimension): string =>
  isDeclared(dimension) ? sentName(dimension) : names[dimension].toLowerCase();

export const isDimension = (name: unknown): name is Dimension =>
  typeof name === 'string' && (isDeclared(name) || (dimensions as readonly string[]).includes(name));

const texts = (value: unknown): readonly string[] | undefined => {
  const list = (Array.isArray(value) ? value : [value]).filter((each): each is string => typeof each === 'string');
  return list.length === 0 ? undefined : list;
};

/** The filters in a URL. */
export const filtersOf = (search: Record<string, unknown>): Filters =>
  Object.fromEntries(
    Object.keys(search)
      .filter(isDimension)
      .flatMap((dimension) => {
        const values = texts(search[dimension]);
        return values ? [[dimension, values] as const] : [];
      }),
  );

/** The filtered dimensions and their values. */
export const filterEntries = (filters: Filters): [Dimension, readonly string[]][] =>
  (Object.entries(filters) as [Dimension, readonly string[] | undefined][]).flatMap(([dimension, values]) =>
    values ? [[dimension, values]] : [],
  );

export const hasFilters = (filters: Filters): boolean => filterEntries(filters).length > 0;

/** The filters as parameters of the API. */
export const parametersOf = (filters: Filters) => {
  const entries = filterEntries(filters);
  const declared = entries.flatMap(([dimension, values]) =>
    isDeclared(dimension) ? values.map((value) => `${sentName(dimension)}:${value}`) : [],
  );
  return {
    ...(Object.fromEntries(entries.filter(([dimension]) => !isDeclared(dimension))) as {
      [D in (typeof dimensions)[number]]?: never;
    }),
    ...(declared.length > 0 && { dim: declared }),
  };
};

/** Whether a report can group by a dimension with these filters. */
export const canGroupBy = (dimension: Dimension, filters: Filters): boolean => {
  const all = [dimension, ...filterEntries(filters).map(([name]) => name)];
  // A project is its keys.
  return combinationProblem(all.map((name) => (name === 'key' || name === 'project' ? 'keyId' : name))) === undefined;
};

/** The dimension to group by after a click on a value of another one. */
export const nextDimension = (dimension: Dimension): Dimension =>
  dimension === 'provider' || isAllocation(dimension)
    ? 'model'
    : dimension === 'model'
      ? 'tag'
      : dimension === 'project'
        ? 'key'
        : 'model';
