import type { HostLabel } from '../../../lambda/domain/hosts.ts';
import { providerName } from '../providers/names.ts';
import { type Dimension, dimensionWord } from '../spend/filters.ts';
import { type KeyNames, valueName } from '../spend/groups.ts';

/** Members of a scope that are one text each, in the order of forms and sentences. Keys, projects and members are ids. */
const textMembers = [
  'provider',
  'model',
  'tag',
  'key',
  'project',
  'member',
  'session',
  'client',
  'serviceTier',
] as const;

/** Filters that a form offers. */
export type ScopeMember = (typeof textMembers)[number] | 'dimension';

/** Which requests a rule, budget, pause or price is about, as its form holds it. Empty: any. */
export interface ScopeValues extends Readonly<Record<ScopeMember, string>> {
  readonly dimensionValue: string;
}

/** The scope as the API has it; `dim` is a name and a value of a declared dimension. */
type Scope = { readonly [M in Exclude<ScopeMember, 'dimension' | 'provider'>]?: string } & {
  readonly provider?: HostLabel;
  readonly dim?: Record<string, string>;
};

/** A stored scope as the form holds it. */
export const scopeValuesOf = (stored: unknown): ScopeValues => {
  const { dim = {}, ...scope } = (stored ?? {}) as Scope;
  const [dimension = '', dimensionValue = ''] = Object.entries(dim)[0] ?? [];
  const texts = textMembers.map((name) => [name, scope[name] ?? ''] as const);
  return { ...(Object.fromEntries(texts) as Record<keyof typeof scope, string>), dimension, dimensionValue };
};

const partsOf = (values: ScopeValues): Scope => {
  const { dimension, dimensionValue } = values;
  const texts = textMembers.map((name) => [name, values[name]] as const).filter(([, value]) => value !== '');
  return {
    ...Object.fromEntries(texts),
    ...(dimension !== '' && dimensionValue !== '' && { dim: { [dimension]: dimensionValue } }),
  };
};

/**
 * The scope as the API takes it: without members where all requests are meant, and without spaces around what was typed. A value may consist of
 * spaces.
 */
export const scopeOf = (values: ScopeValues): Scope => {
  const typed = [...textMembers, 'dimensionValue'] as const;
  const texts = typed.map((name) => [name, values[name].trim() || values[name]] as const);
  return partsOf({ ...values, ...Object.fromEntries(texts) });
};

/** Members of a scope that filter spend, by dimension. */
export const spendFiltersOf = (stored: unknown): { readonly [D in Dimension]?: readonly [string] } => {
  const { dim = {}, session: _, serviceTier: _tier, ...scope } = partsOf(scopeValuesOf(stored));
  const declared = Object.entries(dim).map(([name, value]) => [`dim:${name}`, value]);
  return Object.fromEntries([...Object.entries(scope), ...declared].map(([name, value]) => [name, [value]]));
};

/** Problem of a scope that no body shows: a dimension without a value is left out of it. */
export const scopeProblems = ({ dimension, dimensionValue }: ScopeValues) => ({
  dimensionValue: dimension !== '' && dimensionValue === '' ? 'A value of the dimension.' : null,
});

const words: Readonly<Record<string, string>> = { session: 'session', serviceTier: 'service tier' };

/** A stored scope in words: `OpenAI, tag batch, project Search`; empty where it is all requests. */
export const scopeText = (stored: unknown, names: KeyNames): string => {
  const { provider, model, dim = {}, ...others } = partsOf(scopeValuesOf(stored));
  const declared = Object.entries(dim).map(([name, value]) => [`dim:${name}`, value]);
  return [
    ...(provider === undefined ? [] : [providerName(provider)]),
    ...(model === undefined ? [] : [model]),
    ...[...Object.entries(others), ...declared].map(([name = '', value = '']) => {
      const dimension = name as Dimension;
      return `${words[name] ?? dimensionWord(dimension)} ${valueName(dimension, value, names)}`;
    }),
  ].join(', ');
};
