import type { RuleType } from '../../../lambda/domain/alert-rules/rule.ts';
import type { PeriodName } from '../../../lambda/domain/calendar/periods.ts';
import { required } from '../account/fields.ts';
import type { AlertRule, NewAlertRule } from '../api/responses.ts';
import { type RuleNumbers, ruleTypes } from './rule-types.ts';

/** What the form holds: the members of every type of rule. A rule has those of its own type. */
export interface RuleValues extends RuleNumbers {
  readonly type: RuleType;
  /** Members of the config that the form does not show. */
  readonly others: Readonly<Record<string, unknown>>;
  readonly name: string;
  readonly period: PeriodName;
  readonly provider: string;
  readonly model: string;
  readonly tag: string;
  /** Id of a service key. */
  readonly key: string;
  readonly client: string;
  /** Name and value of a declared dimension. */
  readonly dimension: string;
  readonly dimensionValue: string;
  readonly channels: readonly ('email' | 'webhook')[];
  readonly webhookUrl: string;
  readonly isActive: boolean;
}

export const hasPeriodChoice = (type: RuleType): boolean => ruleTypes[type].periods.length > 1;

export const emptyRule = (type: RuleType): RuleValues => {
  const { periods, fields, preset = {} } = ruleTypes[type];
  return {
    type,
    others: preset,
    name: '',
    period: periods.includes('daily') ? 'daily' : (periods[0] as PeriodName),
    threshold: '',
    limit: '',
    budget: '',
    factor: '',
    minimum: '',
    minimumRequests: '',
    ...Object.fromEntries(fields.map(({ member, initial }) => [member, initial])),
    provider: '',
    model: '',
    tag: '',
    key: '',
    client: '',
    dimension: '',
    dimensionValue: '',
    channels: ['email'],
    webhookUrl: '',
    isActive: true,
  };
};

const record = (value: unknown) =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

/** A stored rule as the form holds it. */
export const valuesOf = ({ type, name, config, channels, webhookUrl, isActive }: AlertRule): RuleValues => {
  const filter = record(config['filter']);
  const base = emptyRule(type);
  const [dimension = '', dimensionValue = ''] = Object.entries(record(filter['dim']))[0] ?? [];
  const numbers = ruleTypes[type].fields.map(
    ({ member }) => [member, typeof config[member] === 'number' ? config[member] : ''] as const,
  );
  return {
    ...base,
    ...Object.fromEntries(numbers),
    others: Object.fromEntries(
      Object.keys(base.others).flatMap((member) => (member in config ? [[member, config[member]]] : [])),
    ),
    name,
    period: (textOf(config['period']) || base.period) as PeriodName,
    provider: textOf(filter['provider']),
    model: textOf(filter['model']),
    tag: textOf(filter['tag']),
    key: textOf(filter['key']),
    client: textOf(filter['client']),
    dimension,
    dimensionValue: textOf(dimensionValue),
    channels,
    webhookUrl: webhookUrl ?? '',
    isActive,
  };
};

/** The filter of the rule's config; undefined where it has none. */
export const filterOf = ({
  provider,
  model,
  tag,
  key,
  client,
  dimension,
  dimensionValue,
}: Pick<RuleValues, 'provider' | 'model' | 'tag' | 'key' | 'client' | 'dimension' | 'dimensionValue'>) => {
  const texts = { provider, model: model.trim(), tag: tag.trim(), key, client: client.trim() };
  const members: [string, unknown][] = Object.entries(texts).filter(([, value]) => value !== '');
  const value = dimensionValue.trim();
  if (dimension !== '' && value !== '') members.push(['dim', { [dimension]: value }]);
  return members.length === 0 ? undefined : (Object.fromEntries(members) as RuleFilter);
};

interface RuleFilter {
  provider?: never;
  model?: string;
  tag?: string;
  key?: string;
  client?: string;
  dim?: Record<string, string>;
}

/** The filter as a JSON merge patch of the stored one: null removes what is not in the form. */
export const filterPatchOf = (values: RuleValues, stored: Pick<RuleValues, 'dimension'>) => {
  const { dim, ...filter } = filterOf(values) ?? {};
  if (!dim && Object.keys(filter).length === 0) return null;
  const nothing = { provider: null, model: null, tag: null, key: null, client: null };
  const others = stored.dimension === '' ? {} : { [stored.dimension]: null };
  return { ...nothing, ...filter, dim: dim ? { ...others, ...dim } : null };
};

/** The rule's config, as the API takes it. */
export const configOf = (values: RuleValues) => {
  const filter = filterOf(values);
  return {
    ...values.others,
    ...Object.fromEntries(ruleTypes[values.type].fields.map(({ member }) => [member, values[member]])),
    ...(hasPeriodChoice(values.type) && { period: values.period }),
    ...(filter && { filter }),
  };
};

/** Type and config, as the API takes them. */
export const conditionOf = (values: RuleValues) =>
  ({ type: values.type, config: configOf(values) }) as unknown as Pick<NewAlertRule, 'type' | 'config'>;

const numberProblems = (values: RuleValues): Record<string, string | null> =>
  Object.fromEntries(
    ruleTypes[values.type].fields.map(({ member, problem }) => [member, problem(values[member])] as const),
  );

/** Why these filters cannot be combined; null where they can. */
const combinationProblemOf = ({ tag, client, dimension, dimensionValue }: RuleValues): string | null => {
  const own = [client.trim() !== '', dimension !== '' && dimensionValue.trim() !== ''].filter(Boolean).length;
  if (own > 1) return 'A client and a dimension do not combine.';
  return own > 0 && tag.trim() !== '' ? 'A tag does not combine with a client or a dimension.' : null;
};

/** What is wrong with the values, by member of the form. */
export const ruleProblems = (values: RuleValues): Record<string, string | null> => {
  const needsUrl = values.channels.includes('webhook') && !/^https:\/\/\S+\.\S+/.test(values.webhookUrl.trim());
  return {
    ...numberProblems(values),
    name: required('A name')(values.name),
    tag: combinationProblemOf(values),
    dimensionValue: values.dimension !== '' && values.dimensionValue.trim() === '' ? 'A value of the dimension.' : null,
    channels: values.channels.length === 0 ? 'Choose at least one channel.' : null,
    webhookUrl: needsUrl ? 'An https:// address.' : null,
  };
};

/** True where the condition is complete; name and channels do not matter. */
export const canPreview = (values: RuleValues): boolean =>
  combinationProblemOf(values) === null && Object.values(numberProblems(values)).every((problem) => problem === null);
