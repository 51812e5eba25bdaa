import {
  type CommonDimension,
  combinationProblem,
  commonDimensions,
  type DeclaredName,
  dimensionOf,
  isAllocation,
  isKeyDimension,
} from '../../../lambda/domain/spend/dimensions.ts';
import { searchOf } from '../search.ts';

/** A dimension of spend; `dim:team` is the declared dimension `team`. */
export type Dimension = CommonDimension | DeclaredName;

/** The values to include, by dimension; the empty string is "none". A missing dimension includes all. */
export type Filters = { readonly [D in Dimension]?: readonly string[] | undefined };

export const dimensionNames: Readonly<Record<CommonDimension, string>> = {
  provider: 'Provider',
  model: 'Model',
  tag: 'Tag',
  key: 'Service key',
  project: 'Project',
  member: 'Member',
  providerKey: 'Provider key',
  client: 'Client',
};

export const isDeclared = (dimension: string): dimension is DeclaredName => dimension.startsWith('dim:');

/** The name of a declared dimension as the account sends it. */
export const sentName = (dimension: DeclaredName): string => dimension.slice('dim:'.length);

export const dimensionName = (dimension: Dimension): string =>
  isDeclared(dimension) ? sentName(dimension) : dimensionNames[dimension];

/** The same in the middle of a sentence. A declared name keeps its case. */
export const dimensionWord = (dimension: Dimension): string =>
  isDeclared(dimension) ? sentName(dimension) : dimensionNames[dimension].toLowerCase();

const isDimension = (name: unknown): name is Dimension =>
  typeof name === 'string' && (isDeclared(name) || (commonDimensions as readonly string[]).includes(name));

/** The router parses values: the tag `2026` of a link that somebody typed comes as a number. */
export const textIn = (value: unknown): readonly string[] =>
  typeof value === 'string' || typeof value === 'number' ? [String(value)] : [];

const texts = (value: unknown): readonly string[] | undefined => {
  const list = [value].flat().flatMap(textIn);
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

const dimensionIn = (value: unknown) => (isDimension(value) ? value : undefined);
const groupsIn = searchOf({ by: dimensionIn, and: dimensionIn });

/** What to group by, as a URL has it. */
export type GroupSearch = ReturnType<typeof groupsIn>;

/** The filters and groups in a URL. */
export const groupsSearch = (search: Record<string, unknown>) => ({ ...filtersOf(search), ...groupsIn(search) });

export const filterEntries = (filters: Filters): [Dimension, readonly string[]][] =>
  (Object.entries(filters) as [Dimension, readonly string[] | undefined][]).flatMap(([dimension, values]) =>
    values ? [[dimension, values]] : [],
  );

/** One value of each dimension, for pages that filter by one. */
export const firstOfEach = (filters: Filters) =>
  Object.fromEntries(filterEntries(filters).map(([dimension, values]) => [dimension, values[0]]));

/** The filters with which a new limit begins: one value of each, and one declared dimension. */
export const limitFiltersOf = (filters: Filters) => {
  const [name, values = []] = filterEntries(filters).find(([dimension]) => isDeclared(dimension)) ?? [];
  const declared = name && isDeclared(name) && { dimension: sentName(name), dimensionValue: values[0] };
  return { ...firstOfEach(filters), ...declared };
};

export const hasFilters = (filters: Filters): boolean => filterEntries(filters).length > 0;

/** The filters as parameters of the API. */
export const parametersOf = (filters: Filters) => {
  const entries = filterEntries(filters);
  const declared = entries.flatMap(([dimension, values]) =>
    isDeclared(dimension) ? values.map((value) => `${sentName(dimension)}:${value}`) : [],
  );
  return {
    ...(Object.fromEntries(entries.filter(([dimension]) => !isDeclared(dimension))) as {
      [D in CommonDimension]?: never;
    }),
    ...(declared.length > 0 && { dim: declared }),
  };
};

/** Groups of a report: one dimension, or pairs of two. */
export type GroupBy = readonly [Dimension, ...Dimension[]];

/** Whether a report can group by some dimensions with these filters. */
export const canGroupBy = (by: GroupBy, filters: Filters): boolean => {
  if (by.includes('key') && by.some(isKeyDimension)) return false;
  const all = [...by, ...filterEntries(filters).map(([name]) => name)];
  return combinationProblem(all.map(dimensionOf)) === undefined;
};

/** Name of the groups, in the middle of a sentence: `model and tag`. */
export const groupWord = (by: GroupBy): string => by.map(dimensionWord).join(' and ');

/** The dimensions that a report is grouped by, in its own words; of another report while that loads. */
export const groupByOf = (names: readonly string[] | undefined, otherwise: GroupBy): GroupBy => {
  const [first, ...more] = (names ?? []).filter(isDimension);
  return first === undefined ? otherwise : [first, ...more];
};

/** Groups and filters in a URL: a second dimension only where it differs from the first. */
export const groupByIn = ({ by = 'model', and }: GroupSearch): GroupBy =>
  and === undefined || and === by ? [by] : [by, and];

/** Search after a click on a group: its values as filters, and the next dimension to group by. */
export const picked = (values: Filters, by: GroupBy, filters: Filters) => {
  const next = nextDimension(by.at(-1) ?? 'model');
  return { ...values, by: canGroupBy([next], { ...filters, ...values }) ? next : ('model' as const), and: undefined };
};

/** The dimension to group by after a click on a value of another one. */
const nextDimension = (dimension: Dimension): Dimension =>
  dimension === 'provider' || isAllocation(dimension)
    ? 'model'
    : dimension === 'model'
      ? 'tag'
      : isKeyDimension(dimension)
        ? 'key'
        : 'model';
