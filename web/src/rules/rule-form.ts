import type { RuleType } from '../../../lambda/domain/alert-rules/rule.ts';
import type { PeriodName } from '../../../lambda/domain/calendar/periods.ts';
import { required } from '../account/fields.ts';
import type { AlertRule, NewAlertRule } from '../api/responses.ts';
import { type RuleNumbers, ruleTypes } from './rule-types.ts';

/** What the form holds: the members of every type of rule. A rule has those of its own type. */
export interface RuleValues extends RuleNumbers {
  readonly type: RuleType;
  readonly name: string;
  readonly period: PeriodName;
  readonly provider: string;
  readonly model: string;
  readonly tag: string;
  readonly channels: readonly ('email' | 'webhook')[];
  readonly webhookUrl: string;
  readonly isActive: boolean;
}

export const hasPeriodChoice = (type: RuleType): boolean => ruleTypes[type].periods.length > 1;

export const emptyRule = (type: RuleType): RuleValues => {
  const { periods, fields } = ruleTypes[type];
  return {
    type,
    name: '',
    period: periods.includes('daily') ? 'daily' : (periods[0] as PeriodName),
    threshold: '',
    budget: '',
    factor: '',
    minimum: '',
    minimumRequests: '',
    ...Object.fromEntries(fields.map(({ member, initial }) => [member, initial])),
    provider: '',
    model: '',
    tag: '',
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
  const numbers = ruleTypes[type].fields.flatMap(({ member }) =>
    typeof config[member] === 'number' ? [[member, config[member]] as const] : [],
  );
  return {
    ...base,
    ...Object.fromEntries(numbers),
    name,
    period: (textOf(config['period']) || base.period) as PeriodName,
    provider: textOf(filter['provider']),
    model: textOf(filter['model']),
    tag: textOf(filter['tag']),
    channels,
    webhookUrl: webhookUrl ?? '',
    isActive,
  };
};

/** The filter of the rule's config; undefined where it has none. */
export const filterOf = ({ provider, model, tag }: Pick<RuleValues, 'provider' | 'model' | 'tag'>) => {
  const members = Object.entries({ provider, model: model.trim(), tag: tag.trim() }).filter(
    ([, value]) => value !== '',
  );
  return members.length === 0
    ? undefined
    : (Object.fromEntries(members) as { provider?: never; model?: string; tag?: string });
};

/** The rule's config, as the API takes it. */
export const configOf = (values: RuleValues) => {
  const filter = filterOf(values);
  return {
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

/** What is wrong with the values, by member of the form. */
export const ruleProblems = (values: RuleValues): Record<string, string | null> => {
  const needsUrl = values.channels.includes('webhook') && !/^https:\/\/\S+\.\S+/.test(values.webhookUrl.trim());
  return {
    ...numberProblems(values),
    name: required('A name')(values.name),
    channels: values.channels.length === 0 ? 'Choose at least one channel.' : null,
    webhookUrl: needsUrl ? 'An https:// address.' : null,
  };
};

/** True where the condition is complete; name and channels do not matter. */
export const canPreview = (values: RuleValues): boolean =>
  Object.values(numberProblems(values)).every((problem) => problem === null);
