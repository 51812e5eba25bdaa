import type { Dimension } from '../api/responses.ts';

export const dimensions = ['provider', 'model', 'tag', 'key', 'providerKey'] as const satisfies readonly Dimension[];

/** The values to include, by dimension; the empty string is "none". A missing dimension includes all. */
export type Filters = { readonly [D in Dimension]?: readonly string[] | undefined };

export const dimensionNames: Readonly<Record<Dimension, string>> = {
  provider: 'Provider',
  model: 'Model',
  tag: 'Tag',
  key: 'Service key',
  providerKey: 'Provider key',
};

const texts = (value: unknown): readonly string[] | undefined => {
  const list = (Array.isArray(value) ? value : [value]).filter((each): each is string => typeof each === 'string');
  return list.length === 0 ? undefined : list;
};

/** The filters in a URL. */
export const filtersOf = (search: Record<string, unknown>): Filters =>
  Object.fromEntries(
    dimensions.flatMap((dimension) => {
      const values = texts(search[dimension]);
      return values ? [[dimension, values] as const] : [];
    }),
  );

export const hasFilters = (filters: Filters): boolean =>
  dimensions.some((dimension) => filters[dimension] !== undefined);
