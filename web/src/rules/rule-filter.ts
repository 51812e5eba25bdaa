import { providerName } from '../providers/names.ts';
import { dimensionWord } from '../spend/filters.ts';
import { type KeyNames, valueName } from '../spend/groups.ts';

/** Which requests a rule or budget counts, as its form holds it. Empty: any. */
export interface FilterValues {
  readonly provider: string;
  readonly model: string;
  readonly tag: string;
  /** Id of a service key. */
  readonly key: string;
  readonly client: string;
  /** Name and value of a declared dimension. */
  readonly dimension: string;
  readonly dimensionValue: string;
}

const record = (value: unknown) =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

/** A stored filter as the form holds it. */
export const filterValuesOf = (stored: unknown): FilterValues => {
  const filter = record(stored);
  const [dimension = '', dimensionValue = ''] = Object.entries(record(filter['dim']))[0] ?? [];
  return {
    provider: textOf(filter['provider']),
    model: textOf(filter['model']),
    tag: textOf(filter['tag']),
    key: textOf(filter['key']),
    client: textOf(filter['client']),
    dimension,
    dimensionValue: textOf(dimensionValue),
  };
};

interface RuleFilter {
  provider?: never;
  model?: string;
  tag?: string;
  key?: string;
  client?: string;
  dim?: Record<string, string>;
}

/** The filter as the API takes it; undefined where it is empty. */
export const filterOf = (values: FilterValues): RuleFilter | undefined => {
  const { provider, model, tag, key, client, dimension, dimensionValue } = values;
  const texts = { provider, model: model.trim(), tag: tag.trim(), key, client: client.trim() };
  const members: [string, unknown][] = Object.entries(texts).filter(([, value]) => value !== '');
  const value = dimensionValue.trim();
  if (dimension !== '' && value !== '') members.push(['dim', { [dimension]: value }]);
  return members.length === 0 ? undefined : (Object.fromEntries(members) as RuleFilter);
};

/** The filter as a JSON merge patch of the stored one: null removes what is not in the form. */
export const filterPatchOf = (values: FilterValues, stored: Pick<FilterValues, 'dimension'>) => {
  const { dim, ...filter } = filterOf(values) ?? {};
  if (!dim && Object.keys(filter).length === 0) return null;
  const nothing = { provider: null, model: null, tag: null, key: null, client: null };
  const others = stored.dimension === '' ? {} : { [stored.dimension]: null };
  return { ...nothing, ...filter, dim: dim ? { ...others, ...dim } : null };
};

/** Parameters of GET /spend for the same requests. */
export const spendParametersOf = (values: FilterValues) => {
  const { dim, ...texts } = filterOf(values) ?? {};
  return {
    ...(Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, [value]])) as {
      [Name in keyof Omit<RuleFilter, 'dim'>]: never;
    }),
    ...(dim && { dim: Object.entries(dim).map(([name, value]) => `${name}:${value}`) }),
  };
};

/** Why these filters cannot be combined; null where they can. */
const combinationProblemOf = ({ tag, client, dimension, dimensionValue }: FilterValues): string | null => {
  const own = [client.trim() !== '', dimension !== '' && dimensionValue.trim() !== ''].filter(Boolean).length;
  if (own > 1) return 'A client and a dimension do not combine.';
  return own > 0 && tag.trim() !== '' ? 'A tag does not combine with a client or a dimension.' : null;
};

/** What is wrong with a filter, by member of the form. */
export const filterProblems = (values: FilterValues) => ({
  tag: combinationProblemOf(values),
  dimensionValue: values.dimension !== '' && values.dimensionValue.trim() === '' ? 'A value of the dimension.' : null,
});

/** The filter in words: `OpenAI, tag batch`; empty where it is. */
export const filterText = (values: FilterValues, keyNames: KeyNames): string => {
  const { provider, model, tag, key, client, dimension, dimensionValue } = values;
  const named = { tag, key: key && valueName('key', key, keyNames), client, [`dim:${dimension}`]: dimensionValue };
  return [
    provider && providerName(provider),
    model,
    ...Object.entries(named).map(([name, value]) => value && `${dimensionWord(name as 'tag')} ${value}`),
  ]
    .filter(Boolean)
    .join(', ');
};
